/* SPDX-License-Identifier: BSD-2-Clause */
/* The checkpoint: which position holds, which is the newest, and what the next run finds. */
#include <check.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/clocksteps.h"
#include "fanout_rig.h"
#include "output/checkpoint.h"
#include "run.h"
#include "session/sessionid.h"

static char folder[] = "/tmp/blkin-XXXXXX";
static struct fanout *to;
static struct checkpoint *checkpoint;
static uint64_t number;
static int64_t cost;

static void setup(void)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	open_sides();
	to = fanout_create(outlets_of(outlet_of(&one, 1, 1000), outlet_of(&other, 1, 1000)));
	checkpoint = checkpoint_open(folder, to);
	ck_assert_ptr_nonnull(checkpoint);
}

static void teardown(void)
{
	g_autofree char *command = g_strconcat("rm -r ", folder, NULL);

	checkpoint_close(checkpoint);
	fanout_destroy(to);
	close_sides();
	ck_assert_int_eq(system(command), 0);
}

static void offer(uint64_t which, const char *position)
{
	checkpoint_offer(checkpoint, which, position, strlen(position));
}

static void assert_newest(uint64_t which, const char *position, bool holds)
{
	uint64_t is;
	bool does;
	const struct buffer *bytes = checkpoint_newest(checkpoint, &is, &does);

	ck_assert_uint_eq(is, which);
	ck_assert_int_eq(does, holds);
	ck_assert_uint_eq(bytes->size, strlen(position));
	ck_assert_int_eq(memcmp(bytes->data ? bytes->data : (const uint8_t *)"", position, bytes->size), 0);
}

static void reopen(void)
{
	checkpoint_close(checkpoint);
	checkpoint = checkpoint_open(folder, to);
	ck_assert_ptr_nonnull(checkpoint);
}

/* A reader may go on from a position that does not hold yet; the next run may not. */
START_TEST(newest_and_holding)
{
	struct buffer reached = {0};
	const struct clock_steps none = {.count = 0};

	pack_u32(&reached, 0);
	pack_u32(&reached, 0);
	clock_steps_save(&none, &reached);
	assert_newest(0, "", true);
	ck_assert(!checkpoint_waiting(checkpoint));
	checkpoint_hand(checkpoint, unpacker_of(reached.data, reached.size), &(struct ledger){0},
		&(struct items){.batch = NULL}, 0, false);
	offer(2, "first");
	assert_newest(2, "first", false);
	ck_assert(checkpoint_settle(checkpoint, &number, &cost));
	ck_assert_uint_eq(number, 2);
	assert_newest(2, "first", true);
	add_to(to, 1, 30);
	offer(3, "second");
	add_to(to, 2, 30);
	offer(4, "third");
	offer(5, "fourth");
	assert_newest(5, "fourth", false);
	ck_assert(!checkpoint_settle(checkpoint, &number, &cost));
	ck_assert(checkpoint_waiting(checkpoint));
	send_next(one.queue);
	send_next(other.queue);
	ck_assert(checkpoint_settle(checkpoint, &number, &cost));
	ck_assert_uint_eq(number, 3);
	assert_newest(5, "fourth", false);
	ck_assert(!checkpoint_settle(checkpoint, &number, &cost)); /* for the second span */
	reopen();
	assert_newest(1, "second", true);
	ck_assert_uint_eq(checkpoint_reached(checkpoint)->size, reached.size);
	send_next(one.queue);
	send_next(other.queue);
	checkpoint_forget(checkpoint);
	reopen();
	assert_newest(0, "", true);
	buffer_free(&reached);
}
END_TEST

static void take_identity(const struct buffer *from, struct session_identity *session)
{
	struct unpacker saved = unpacker_of(from->data, from->size);

	ck_assert(session_identity_load(&saved, session));
	ck_assert_ptr_eq(saved.at, saved.end);
}

/* Agents up to 0.2 knew nothing of the host's name: it is taken for what it is now. */
START_TEST(names_of_hosts)
{
	const struct session_identity made = {
		.name = "blkin", .created = 7, .settings = "as they are", .host = "other"};
	struct session_identity loaded;
	struct buffer saved = {0};
	char now[256] = "";

	session_identity_save(&made, &saved);
	take_identity(&saved, &loaded);
	ck_assert_str_eq(loaded.settings, made.settings);
	ck_assert_str_eq(loaded.host, made.host);
	saved.size = 0;
	pack_text(&saved, made.name);
	pack_u64(&saved, made.created);
	pack_text(&saved, made.settings);
	take_identity(&saved, &loaded);
	ck_assert_str_eq(loaded.settings, made.settings);
	gethostname(now, sizeof(now) - 1);
	ck_assert_str_eq(loaded.host, now);
	buffer_free(&saved);
}
END_TEST

/* An event is read, and so many sessions are over. */
static void reach_with(uint32_t count, const struct items *items)
{
	struct ledger change = {.row = {[EVENTS_READ] = 1}};
	const struct session_identity session = {.name = "over"};
	const struct clock_steps none = {.count = 0};
	struct buffer reached = {0};

	pack_u32(&reached, 0);
	pack_u32(&reached, count);
	for (uint32_t i = 0; i < count; i++)
		session_identity_save(&session, &reached);
	clock_steps_save(&none, &reached);
	checkpoint_hand(checkpoint, unpacker_of(reached.data, reached.size), &change, items, 0, false);
	buffer_free(&reached);
}

static void reach(uint32_t count)
{
	reach_with(count, &(struct items){.batch = NULL});
}

static uint32_t reached(void)
{
	struct unpacker from =
		unpacker_of(checkpoint_reached(checkpoint)->data, checkpoint_reached(checkpoint)->size);

	unpack_u32(&from);
	return unpack_u32(&from);
}

/* What the next run finds read: the ledger as it was saved counts on top of that of now. */
static int64_t found_read(void)
{
	struct ledger before, after;

	ledger_read(&before);
	reopen();
	ledger_read(&after);
	return after.row[EVENTS_READ] - before.row[EVENTS_READ];
}

/* Whatever goes to an output, the next run knows that it was read; where to read from is another matter. */
START_TEST(written_ahead)
{
	struct ledger rows;

	reach(1);
	offer(2, "first");
	ck_assert(checkpoint_settle(checkpoint, &number, &cost));
	reach(2);
	add_to(to, 1, 30);
	offer(3, "second");
	reach(3); /* nothing goes out after that */
	ledger_read(&rows);
	ck_assert_int_eq(found_read(), rows.row[EVENTS_READ] - 1);
	ck_assert_uint_eq(reached(), 2);
	assert_newest(1, "first", true);
	/* a checkpoint that is newer counts */
	reach(4);
	checkpoint_write(checkpoint, false);
	reopen();
	ck_assert_uint_eq(reached(), 4);
	/* what is ahead of one that was forgotten counts for nothing */
	add_to(to, 1, 30);
	checkpoint_forget(checkpoint);
	add_to(to, 1, 30);
	reopen();
	ck_assert_uint_eq(reached(), 0);
	checkpoint_write(checkpoint, false);
	reopen();
	ck_assert_uint_eq(reached(), 0);
}
END_TEST

/* With `keep = no` a stop ends the session, and nothing is left to be read; the counts go on. */
START_TEST(forgotten_but_counted)
{
	struct ledger rows;

	reach(2);
	offer(1, "first");
	ck_assert(checkpoint_settle(checkpoint, &number, &cost));
	checkpoint_forget(checkpoint);
	ledger_read(&rows);
	ck_assert_int_ge(rows.row[EVENTS_READ], 1);
	ck_assert_int_eq(found_read(), rows.row[EVENTS_READ]);
	assert_newest(0, "", true);
	ck_assert_uint_eq(reached(), 0);
	/* of a run that is killed before it has read anything */
	reopen();
	assert_newest(0, "", true);
}
END_TEST

/* A hand that has a batch of before pushed, for a reload came: what it reached goes with its own rows. */
START_TEST(written_ahead_of_other_outlets)
{
	struct ledger rows;

	fanout_configure(to, outlets_of(outlet_of(&one, 2, 1000), outlet_of(&other, 2, 1000)));
	reach(1);
	checkpoint_write(checkpoint, false);
	reach(2);
	add_to(to, 1, 30);
	fanout_configure(to, outlets_of(outlet_of(&one, 3, 1000), outlet_of(&other, 3, 1000)));
	reach(3);
	send_next(one.queue);
	send_next(other.queue);
	ledger_read(&rows);
	ck_assert_int_eq(found_read(), rows.row[EVENTS_READ] - 1);
	ck_assert_uint_eq(reached(), 2);
}
END_TEST

/* One trace in a million, and errors with all of theirs. */
static struct outlet whole_traces(struct side *side)
{
	struct outlet outlet = outlet_of(side, 2, 1000);

	outlet.limits.keep =
		(struct keep){.one_in = 1000000, .errors = true, .traces_ns = 1000, .traces_bytes = 1 << 20};
	return outlet;
}

static void reach_with_span(uint32_t count, bool error)
{
	static const struct tag tag = {.key = {"error", 5}, .value = {"", 0}};
	const struct span span = {.trace_id = 1, .id = count, .tags = &tag, .tag_count = error};
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 1, 0);
	struct buffer record = {0};

	ck_assert_int_eq(record_put(&record, &span), 0);
	batch_add(items, record.data, record.size, count);
	reach_with(count, &(struct items){.batch = items});
	batch_unref(items);
	buffer_free(&record);
}

/* The same of one whose trace has a whole batch of others sent that waited for it. */
START_TEST(written_ahead_of_what_waited)
{
	struct ledger rows;

	fanout_configure(to, outlets_create((struct outlet[]){whole_traces(&one)}, 1));
	reach(1);
	checkpoint_write(checkpoint, false);
	reach_with_span(2, false);
	reach_with_span(3, false);
	ck_assert_ptr_null(queue_take(one.queue));
	reach_with_span(4, true);
	send_next(one.queue); /* the two of before */
	ledger_read(&rows);
	ck_assert_int_eq(found_read(), rows.row[EVENTS_READ] - 1);
	ck_assert_uint_eq(reached(), 3);
}
END_TEST

/* What nobody could send again counts as lost by a kill, but not once it is delivered; also if nothing is
 * read then. */
START_TEST(what_is_safe)
{
	struct account *trusted = account_open("entrusted");
	struct account_rows rows;
	struct ledger all;

	account_add(trusted, SPANS_TAKEN, 3);
	account_add(trusted, SPANS_ENTRUSTED, 3);
	checkpoint_write(checkpoint, false);
	account_move(trusted, SPANS_ENTRUSTED, SPANS_SENT, 3);
	ck_assert(!checkpoint_settle(checkpoint, &number, &cost));
	reopen();
	ledger_read_with(&all, &trusted, &rows, 1);
	ck_assert_int_eq(rows.row[SPANS_DROPPED_SHUTDOWN], 0);
	ck_assert_int_eq(rows.row[SPANS_SENT], 6); /* of both runs */
}
END_TEST

/* Before anything was read there is nothing to read from, and that can be written, and read back. */
START_TEST(nothing_yet)
{
	checkpoint_write(checkpoint, true);
	reopen();
	ck_assert_uint_gt(checkpoint_newest(checkpoint, &number, &(bool){false})->size, 0);
	ck_assert_uint_eq(number, 1);
}
END_TEST

START_TEST(two_agents)
{
	ck_assert_ptr_null(checkpoint_open(folder, to));
	ck_assert(checkpoint_lasting(checkpoint));
}
END_TEST

/* Without a folder they are kept in memory. */
START_TEST(no_folder)
{
	struct checkpoint *kept = checkpoint_open("/proc/nowhere", to);

	ck_assert_ptr_nonnull(kept);
	ck_assert(!checkpoint_lasting(kept));
	checkpoint_offer(kept, 2, "place", 5);
	ck_assert(checkpoint_settle(kept, &number, &cost));
	checkpoint_close(kept);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, newest_and_holding);
	tcase_add_test(cases, names_of_hosts);
	tcase_add_test(cases, written_ahead);
	tcase_add_test(cases, forgotten_but_counted);
	tcase_add_test(cases, written_ahead_of_other_outlets);
	tcase_add_test(cases, written_ahead_of_what_waited);
	tcase_add_test(cases, what_is_safe);
	tcase_add_test(cases, nothing_yet);
	tcase_add_test(cases, two_agents);
	tcase_add_test(cases, no_folder);
	return run_cases("checkpoint", cases);
}
