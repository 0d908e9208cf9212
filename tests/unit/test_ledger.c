/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger and its accounts: snapshots of one moment, and what a checkpoint has of them. */
#include <check.h>
#include <pthread.h>
#include <string.h>

#include <glib.h>

#include "core/ledger.h"

#include "run.h"

static struct account *first, *second;

/* The node's rows and those of both accounts. */
struct checkpoint {
	struct ledger node;
	struct account_rows account[2];
};

static void setup(void)
{
	first = account_open("default");
	second = account_open("second");
}

static void read_books(struct checkpoint *checkpoint)
{
	ledger_read_with(&checkpoint->node, (struct account *const[]){first, second}, checkpoint->account, 2);
}

/* Posts the checkpoint, or takes them back. */
static void post_books(const struct checkpoint *checkpoint, int sign)
{
	struct account_entry entries[2] = {{.account = first}, {.account = second}};
	struct ledger change;

	for (int i = 0; i < LEDGER_ROWS; i++)
		change.row[i] = sign * checkpoint->node.row[i];
	for (int i = 0; i < ACCOUNT_ROWS; i++)
		for (int n = 0; n < 2; n++)
			entries[n].change.row[i] = sign * checkpoint->account[n].row[i];
	ledger_post_with(&change, entries, 2);
}

static void assert_empty(void)
{
	static const struct checkpoint empty;
	struct checkpoint now;

	read_books(&now);
	ck_assert_mem_eq(&now.node, &empty.node, sizeof(now.node));
	for (int n = 0; n < 2; n++)
		ck_assert_mem_eq(now.account[n].row, empty.account[n].row, sizeof(now.account[n].row));
}

static void load(const struct buffer *saved)
{
	ck_assert(ledger_load(unpacker_of(saved->data, saved->size)));
}

START_TEST(accounts_have_names)
{
	ck_assert_ptr_ne(first, second);
	ck_assert_ptr_eq(account_open("default"), first);
	ck_assert_ptr_eq(account_open("second"), second);
}
END_TEST

static void make_books(struct checkpoint *checkpoint)
{
	memset(checkpoint, 0, sizeof(*checkpoint));
	for (int i = 0; i < LEDGER_ROWS; i++)
		checkpoint->node.row[i] = 1000 + i;
	checkpoint->node.row[SPANS_MADE] = 1000000;
	for (int i = 0; i < ACCOUNT_ROWS; i++) {
		checkpoint->account[0].row[i] = 2000 + i;
		checkpoint->account[1].row[i] = 3000 + 7 * i;
	}
	for (int n = 0; n < 2; n++)
		checkpoint->account[n].row[SPANS_TAKEN] = 900000 + n;
}

static void assert_account_goes_on(const struct account_rows *before, const struct account_rows *after)
{
	for (int i = 0; i < ACCOUNT_ROWS; i++) {
		if (i == SPANS_QUEUED || i == SPANS_HELD || i == SPANS_ENTRUSTED || i == SPANS_UNDECIDED)
			ck_assert_int_eq(after->row[i], 0);
		else if (i == SPANS_TAKEN)
			ck_assert_int_eq(after->row[i], before->row[i] - before->row[SPANS_QUEUED]);
		else if (i == SPANS_GIVEN_BACK)
			ck_assert_int_eq(after->row[i], before->row[i] + before->row[SPANS_HELD]);
		else if (i == SPANS_DROPPED_SHUTDOWN)
			ck_assert_int_eq(after->row[i], before->row[i] + before->row[SPANS_ENTRUSTED]);
		else if (i == SPANS_SAMPLED_OUT)
			ck_assert_int_eq(after->row[i], before->row[i] + before->row[SPANS_UNDECIDED]);
		else
			ck_assert_msg(after->row[i] == before->row[i], "row %d of an account is lost", i);
	}
}

/* What is saved comes back, in whatever order the accounts are opened; what is under way is unmade. */
START_TEST(goes_on)
{
	struct checkpoint checkpoint, after;
	struct buffer saved = {0};

	make_books(&checkpoint);
	post_books(&checkpoint, 1);
	ledger_save(&saved);
	post_books(&checkpoint, -1);
	for (size_t size = 0; size < saved.size; size++)
		ck_assert(!ledger_load(unpacker_of(saved.data, size)));
	assert_empty();
	load(&saved);
	read_books(&after);
	for (int i = 0; i < LEDGER_ROWS; i++) {
		/* each row has a name, or it would not come back */
		if (i == SPANS_PENDING)
			ck_assert_int_eq(after.node.row[i], 0);
		else if (i == SPANS_MADE)
			ck_assert_int_eq(after.node.row[i], checkpoint.node.row[i] -
								    checkpoint.node.row[SPANS_PENDING] -
								    checkpoint.account[1].row[SPANS_QUEUED]);
		else
			ck_assert_msg(after.node.row[i] == checkpoint.node.row[i], "row %d is lost", i);
	}
	for (int n = 0; n < 2; n++)
		assert_account_goes_on(&checkpoint.account[n], &after.account[n]);
	buffer_free(&saved);
}
END_TEST

/* What a lane of events has queued is no span that would be made again. */
START_TEST(queued_events_are_no_spans)
{
	struct checkpoint checkpoint = {.node.row = {[SPANS_MADE] = 100, [EVENTS_AS_JSON] = 80},
		.account = {{.row = {[SPANS_TAKEN] = 100, [SPANS_QUEUED] = 10, [SPANS_SENT] = 90}},
			{.row = {[SPANS_TAKEN] = 80, [SPANS_QUEUED] = 50, [SPANS_SENT] = 30}}}};
	struct buffer saved = {0};
	struct checkpoint after;

	second = account_open("default:events");
	post_books(&checkpoint, 1);
	ledger_save(&saved);
	post_books(&checkpoint, -1);
	load(&saved);
	read_books(&after);
	ck_assert_int_eq(after.node.row[SPANS_MADE], 90);
	ck_assert_int_eq(after.node.row[EVENTS_AS_JSON], 80);
	ck_assert_int_eq(after.account[0].row[SPANS_TAKEN], 90);
	ck_assert_int_eq(after.account[1].row[SPANS_TAKEN], 30);
	ck_assert_int_eq(after.account[1].row[SPANS_SENT], 30);
	buffer_free(&saved);
}
END_TEST

/* Outputs queue different amounts: what the one that is behind most had is made again. */
START_TEST(queued_amounts_differ)
{
	struct checkpoint checkpoint = {.node.row = {[SPANS_MADE] = 100, [SPANS_PENDING] = 5},
		.account = {{.row = {[SPANS_TAKEN] = 95, [SPANS_QUEUED] = 10, [SPANS_SENT] = 85}},
			{.row = {[SPANS_TAKEN] = 95, [SPANS_QUEUED] = 25, [SPANS_SENT] = 70}}}};
	struct buffer saved = {0};
	struct checkpoint after;

	post_books(&checkpoint, 1);
	ledger_save(&saved);
	post_books(&checkpoint, -1);
	load(&saved);
	read_books(&after);
	ck_assert_int_eq(after.node.row[SPANS_MADE], 100 - 5 - 25);
	ck_assert_int_eq(after.node.row[SPANS_PENDING], 0);
	ck_assert_int_eq(after.account[0].row[SPANS_TAKEN], 85);
	ck_assert_int_eq(after.account[1].row[SPANS_TAKEN], 70);
	for (int n = 0; n < 2; n++) {
		ck_assert_int_eq(after.account[n].row[SPANS_QUEUED], 0);
		ck_assert_int_eq(after.account[n].row[SPANS_TAKEN], after.account[n].row[SPANS_SENT]);
	}
	buffer_free(&saved);
}
END_TEST

/* Rows as a checkpoint has them. */
struct saved_row {
	const char *name;
	int64_t amount;
};

static void load_rows(const struct saved_row *rows, uint32_t count)
{
	struct buffer saved = {0};

	pack_u32(&saved, count);
	for (uint32_t i = 0; i < count; i++) {
		pack_text(&saved, rows[i].name);
		pack_u64(&saved, (uint64_t)rows[i].amount);
	}
	load(&saved);
	buffer_free(&saved);
}

/* Outputs that are no more, and rows that only another version has, are left out. */
START_TEST(unknown_ones_are_left_out)
{
	static const struct saved_row saved[] = {
		{"gone.spans_sent", 11},
		{"gone.spans_queued", 12},
		{"second.spans_taken", 40},
		{"second.spans_sent", 40},
		{"second.events_read", 13},
		{"second.tomorrow", 14},
		{"tomorrow", 15},
		{".spans_sent", 16},
		{"secon.spans_sent", 17},
		{"second.second.spans_sent", 18},
		{"events_read", 70},
		{"spans_made", 40},
	};
	struct checkpoint now, expected = {.node.row = {[EVENTS_READ] = 70, [SPANS_MADE] = 40},
				       .account[1].row = {[SPANS_TAKEN] = 40, [SPANS_SENT] = 40}};

	load_rows(saved, G_N_ELEMENTS(saved));
	read_books(&now);
	ck_assert_mem_eq(&now.node, &expected.node, sizeof(now.node));
	for (int n = 0; n < 2; n++)
		ck_assert_mem_eq(
			now.account[n].row, expected.account[n].row, sizeof(expected.account[n].row));
}
END_TEST

/* What an agent of version 0.1 saved: it had one output, and no row of what that had taken. */
START_TEST(of_version_0_1)
{
	static const struct saved_row saved[] = {
		{"events_read", 5000},
		{"events_in_spans", 4900},
		{"events_ignored", 100},
		{"spans_made", 1000},
		{"spans_recovered", 50},
		{"spans_pending", 7},
		{"spans_queued", 20},
		{"spans_spooled", 300},
		{"spans_sent", 600},
		{"spans_dropped_queue_full", 60},
		{"spans_dropped_refused", 1},
		{"spans_dropped_oversize", 2},
		{"spans_dropped_spool_full", 30},
		{"spans_dropped_spool_corrupt", 26},
		{"spans_dropped_shutdown", 4},
		{"spans_sent_again", 33},
		{"output_errors_connect", 9},
	};
	const int64_t *row;
	struct checkpoint now;
	int64_t sum = 0;

	load_rows(saved, G_N_ELEMENTS(saved));
	read_books(&now);
	row = now.account[0].row;
	ck_assert_int_eq(now.node.row[EVENTS_READ], 5000);
	ck_assert_int_eq(now.node.row[SPANS_MADE], 1000 - 7 - 20);
	ck_assert_int_eq(row[SPANS_TAKEN], 1000 - 7 - 20);
	ck_assert_int_eq(row[SPANS_RECOVERED], 50);
	ck_assert_int_eq(row[SPANS_SENT_AGAIN], 33);
	ck_assert_int_eq(row[OUTPUT_ERRORS_CONNECT], 9);
	for (int i = SPANS_QUEUED; i <= SPANS_DROPPED_SHUTDOWN; i++)
		sum += row[i];
	ck_assert_int_eq(row[SPANS_TAKEN] + row[SPANS_RECOVERED], sum);
	for (int i = 0; i < ACCOUNT_ROWS; i++)
		ck_assert_int_eq(now.account[1].row[i], 0);
}
END_TEST

/* Whatever is posted, a checkpoint has what the next start takes. */
START_TEST(what_is_saved_can_be_loaded)
{
	static const int64_t amounts[] = {INT64_MAX, INT64_MAX / 2, INT64_C(1) << 53, INT64_MIN};
	struct ledger change = {.row = {[EVENTS_READ] = 7, [PACKETS_LOST] = amounts[_i]}};
	struct buffer saved = {0};
	struct checkpoint now;

	for (int i = 0; i < 3; i++)
		ledger_post(&change);
	ledger_save(&saved);
	load(&saved);
	read_books(&now);
	ck_assert_int_eq(now.node.row[EVENTS_READ], 2 * 3 * 7);
	buffer_free(&saved);
}
END_TEST

/* Moments */

#define POSTS 100000

static void *post_many(void *data)
{
	struct account_entry entries[2] = {
		{.account = first, .change.row = {[SPANS_TAKEN] = 3, [SPANS_QUEUED] = 3}},
		{.account = second,
			.change.row = {[SPANS_TAKEN] = 3, [SPANS_QUEUED] = 2, [SPANS_DROPPED_OVERSIZE] = 1}}};
	struct ledger change = {.row = {[SPANS_MADE] = 3}};

	for (int i = 0; i < POSTS; i++) {
		ledger_post_with(&change, entries, 2);
		account_move(first, SPANS_QUEUED, SPANS_SENT, 3);
		account_move(second, SPANS_QUEUED, SPANS_SPOOLED, 2);
	}
	g_atomic_int_set((int *)data, 0);
	return NULL;
}

/* A snapshot adds up at any moment. */
START_TEST(snapshots_add_up)
{
	int running = 1, looks = 0;
	struct checkpoint now;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, post_many, &running), 0);
	while (g_atomic_int_get(&running) || !looks) {
		read_books(&now);
		for (int n = 0; n < 2; n++) {
			const int64_t *row = now.account[n].row;

			ck_assert_int_eq(row[SPANS_TAKEN], now.node.row[SPANS_MADE]);
			ck_assert_int_eq(row[SPANS_QUEUED] + row[SPANS_SENT] + row[SPANS_SPOOLED] +
						 row[SPANS_DROPPED_OVERSIZE],
				row[SPANS_TAKEN]);
		}
		looks++;
	}
	pthread_join(thread, NULL);
	read_books(&now);
	ck_assert_int_eq(now.node.row[SPANS_MADE], 3 * POSTS);
	ck_assert_int_eq(now.account[1].row[SPANS_DROPPED_OVERSIZE], POSTS);
}
END_TEST

/* Latencies are each account's own. */
START_TEST(latencies)
{
	static const int64_t events[] = {1000000000, 999000000, 400000000, -900000000000};
	struct checkpoint now;
	uint64_t spans = 0;

	account_delivered(first, events, 4, 1000000000);
	read_books(&now);
	ck_assert_uint_eq(now.account[0].latency.bucket[0], 2);
	ck_assert_uint_eq(now.account[0].latency.bucket[7], 1);
	ck_assert_uint_eq(now.account[0].latency.bucket[LEDGER_BUCKETS], 1);
	ck_assert_double_eq_tol(now.account[0].latency.sum, 0.001 + 0.6 + 901, 1e-6);
	for (int i = 0; i <= LEDGER_BUCKETS; i++)
		spans += now.account[1].latency.bucket[i];
	ck_assert_uint_eq(spans, 0);
}
END_TEST

/* A damaged checkpoint may say anything: what no ledger comes to is not added. */
/* What was lost before whoever is in charge said so is known, also to the next run; what comes later is not.
 */
START_TEST(acknowledged_losses)
{
	struct acknowledged known;
	struct checkpoint now;
	struct buffer saved = {0};

	ledger_add(EVENTS_LOST_RING, 5);
	account_add(second, SPANS_DROPPED_REFUSED, 7);
	ledger_read_acknowledged(&known);
	ck_assert_int_eq(known.at, 0);
	ledger_acknowledge(1700000000);
	ledger_add(EVENTS_LOST_RING, 2);
	account_add(second, SPANS_DROPPED_REFUSED, 1);
	account_add(second, SPANS_TAKEN, 8);
	ledger_save(&saved);
	/* as in another process */
	read_books(&now);
	post_books(&now, -1);
	ledger_acknowledge(0);
	load(&saved);
	ledger_read_acknowledged(&known);
	ck_assert_int_eq(known.at, 1700000000);
	ck_assert_int_eq(known.rows.row[EVENTS_LOST_RING], 5);
	read_books(&now);
	ck_assert_int_eq(now.node.row[EVENTS_LOST_RING], 7);
	ck_assert_int_eq(now.account[1].row[SPANS_DROPPED_REFUSED], 8);
	ck_assert_int_eq(now.account[1].acknowledged[SPANS_DROPPED_REFUSED], 7);
	ck_assert_int_eq(now.account[1].acknowledged[SPANS_TAKEN], 0);
	ck_assert_int_eq(now.account[0].acknowledged[SPANS_DROPPED_REFUSED], 0);
	buffer_free(&saved);
}
END_TEST

START_TEST(impossible_amounts)
{
	static const int64_t amounts[] = {INT64_MAX, INT64_MIN, (INT64_C(1) << 53) + 1};
	struct buffer saved = {0};

	pack_u32(&saved, 2);
	pack_text(&saved, "spans_made");
	pack_u64(&saved, 5);
	pack_text(&saved, "events_read");
	pack_u64(&saved, (uint64_t)amounts[_i]);
	ck_assert(!ledger_load(unpacker_of(saved.data, saved.size)));
	assert_empty();
	buffer_free(&saved);
	ck_assert(!ledger_load(unpacker_of(NULL, 0)));
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("ledger");

	tcase_add_checked_fixture(tests, setup, NULL);
	tcase_add_test(tests, accounts_have_names);
	tcase_add_test(tests, goes_on);
	tcase_add_test(tests, queued_amounts_differ);
	tcase_add_test(tests, queued_events_are_no_spans);
	tcase_add_test(tests, unknown_ones_are_left_out);
	tcase_add_test(tests, of_version_0_1);
	tcase_add_test(tests, acknowledged_losses);
	tcase_add_loop_test(tests, impossible_amounts, 0, 3);
	tcase_add_loop_test(tests, what_is_saved_can_be_loaded, 0, 4);
	tcase_add_test(tests, snapshots_add_up);
	tcase_add_test(tests, latencies);
	return run_cases("ledger", tests);
}
