/* SPDX-License-Identifier: BSD-2-Clause */
/* The spooler between a queue and a spool: what is stored when, what is replayed how fast, and that all of it
 * adds up. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "core/ledger.h"
#include "queue/backlog.h"
#include "spool/pace.h"
#include "spool/spooler.h"
#include "spool/spoolfile.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)
#define SPANS 100 /* a batch */
#define QUEUE (4 * MIB)

static struct batch_queue *queue;
static struct spooler *spooler;
static int64_t pushed;

static void wake(void *data)
{
	(void)data;
}

static void make_queue(void)
{
	struct batch_limits limits = {SPANS, 1 * MIB, 0, QUEUE, false};

	queue = batch_queue_create(&limits, wake, NULL);
}

static void start(uint64_t max, uint64_t share, uint64_t floor)
{
	struct spooler_options options = {
		.directory = rig_folder,
		.name = "default",
		.max_bytes = max,
		.replay_share = share,
		.replay_floor = floor,
	};

	make_queue();
	spooler = spooler_create(&options, queue);
	ck_assert_ptr_nonnull(spooler);
}

static void stop(void)
{
	batch_close(queue);
	spooler_destroy(spooler);
	batch_queue_destroy(queue);
}

static int64_t row(enum ledger_row which)
{
	struct ledger rows;

	ledger_read(&rows, NULL);
	return rows.row[which];
}

static void assert_balance(void)
{
	struct ledger rows;
	const int64_t *r = rows.row;

	ledger_read(&rows, NULL);
	ck_assert_int_eq(r[SPANS_MADE] + r[SPANS_RECOVERED],
		r[SPANS_QUEUED] + r[SPANS_SPOOLED] + r[SPANS_SENT] + r[SPANS_DROPPED_QUEUE_FULL] +
			r[SPANS_DROPPED_REFUSED] + r[SPANS_DROPPED_SPOOL_FULL] +
			r[SPANS_DROPPED_SPOOL_CORRUPT] + r[SPANS_DROPPED_SHUTDOWN]);
}

/* Batches of numbered spans. */
static void push(int batches, size_t size)
{
	uint8_t span[8192] = {0};
	struct ledger change = {0};

	for (int i = 0; i < batches * SPANS; i++) {
		pushed++;
		memcpy(span, &pushed, sizeof(pushed));
		ck_assert(batch_add(queue, span, size, pushed, clock_monotonic()));
		if (!batch_full(queue))
			continue;
		change.row[SPANS_MADE] = change.row[SPANS_QUEUED] = SPANS;
		ledger_post(&change);
		batch_flush(queue, 0, true);
	}
}

static void sent(struct batch *batch, GHashTable *seen)
{
	for (uint32_t i = 0; seen && i < batch->count; i++)
		ck_assert(g_hash_table_add(seen, g_memdup2(&batch_events(batch)[i], sizeof(int64_t))));
	ledger_move(batch_row(batch), SPANS_SENT, batch->count);
	batch_release(queue, batch);
}

/* Takes and acknowledges until @condition(), for some seconds at most. Returns the spans that came from disk.
 */
static int64_t take_until(bool (*condition)(void), GHashTable *seen)
{
	int64_t end = clock_monotonic() + 20 * NS_PER_SECOND, replayed = 0;
	struct batch *batch;

	while (!condition()) {
		ck_assert_msg(clock_monotonic() < end, "waited in vain: %lld queued, %lld spooled",
			(long long)row(SPANS_QUEUED), (long long)row(SPANS_SPOOLED));
		batch = batch_take(queue);
		if (!batch) {
			g_usleep(1000);
			continue;
		}
		replayed += batch->spool_id ? batch->count : 0;
		sent(batch, seen);
	}
	return replayed;
}

static void wait_until(bool (*condition)(void))
{
	int64_t end = clock_monotonic() + 20 * NS_PER_SECOND;

	while (!condition()) {
		ck_assert_msg(clock_monotonic() < end, "waited in vain: %lld queued, %lld spooled",
			(long long)row(SPANS_QUEUED), (long long)row(SPANS_SPOOLED));
		g_usleep(1000);
	}
}

static bool all_stored(void)
{
	return row(SPANS_QUEUED) == 0;
}

static bool all_sent(void)
{
	return row(SPANS_QUEUED) == 0 && row(SPANS_SPOOLED) == 0;
}

static bool is_ok(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.ok;
}

static bool is_failing(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return !state.ok && state.error[0];
}

static bool is_empty(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.ok && state.batches == 0;
}

/* A short failure stores nothing; a long one everything, which makes the queue settled. */
START_TEST(test_stored_when_the_collector_is_away)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);

	struct batch *probe;

	start(64 * MIB, 100, 1);
	push(10, 300);
	batch_set_delivering(queue, false);
	batch_mark(queue);
	g_usleep(500000);
	ck_assert_int_eq(row(SPANS_SPOOLED), 0);
	wait_until(all_stored);
	ck_assert_int_eq(row(SPANS_SPOOLED), 10 * SPANS);
	ck_assert(batch_mark_settled(queue));
	ck_assert_uint_eq(batch_queue_bytes(queue), 0);
	assert_balance();
	/* one is at hand, to ask the collector with */
	while (!(probe = batch_take(queue)))
		g_usleep(1000);
	g_usleep(300000);
	ck_assert_ptr_null(batch_take(queue));
	batch_give_back(queue, probe);
	batch_set_delivering(queue, true);
	ck_assert_int_eq(take_until(all_sent, seen), 10 * SPANS);
	ck_assert_uint_eq(g_hash_table_size(seen), 10 * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

/* A queue that fills though the collector takes something: what is above half of it is stored. */
START_TEST(test_stored_when_the_queue_fills)
{
	struct backlog backlog;

	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	for (int i = 0; i < 200; i++) {
		push(1, 300);
		g_usleep(1000);
	}
	wait_until(is_ok);
	g_usleep(200000);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_int_gt(row(SPANS_SPOOLED), 0);
	backlog_look(queue, &backlog);
	ck_assert_uint_le(backlog.waiting_bytes, QUEUE / 2);
	ck_assert_uint_gt(backlog.waiting_bytes, QUEUE / 4);
	assert_balance();
	stop();
	assert_balance();
	ck_assert_int_eq(row(SPANS_QUEUED), 0); /* a stop stores the rest */
	ck_assert_int_eq(row(SPANS_SPOOLED), 200 * SPANS);
}
END_TEST

/* What an agent left is in the books of the next one, and delivered by it. */
START_TEST(test_over_a_restart)
{
	start(64 * MIB, 100, 1);
	push(20, 300);
	stop();
	ck_assert_int_eq(row(SPANS_SPOOLED), 20 * SPANS);
	/* the ledger of a new process */
	ledger_add(SPANS_MADE, -row(SPANS_MADE));
	ledger_add(SPANS_SPOOLED, -row(SPANS_SPOOLED));
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_RECOVERED), 20 * SPANS);
	assert_balance();
	take_until(all_sent, NULL);
	ck_assert_int_eq(row(SPANS_SENT), 20 * SPANS);
	stop();
	/* a ledger that was kept: nothing is recovered twice */
	start(64 * MIB, 100, 1);
	push(20, 300);
	stop();
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_RECOVERED), 20 * SPANS);
	assert_balance();
	stop();
}
END_TEST

static void spoil(const char *name)
{
	g_autofree char *path = rig_path(rig_folder, name);

	ck_assert(g_file_set_contents(path, "rubbish", -1, NULL));
}

enum { GONE, SPOILT, OLDER_SNAPSHOT, KINDS };

/*
 * The ledger knows of more than the spool has. If the spool's own books say that it has all, the rest was
 * delivered after the ledger's snapshot; without any they are lost.
 */
START_TEST(test_less_than_the_ledger_knows)
{
	bool lost = _i != OLDER_SNAPSHOT;

	start(64 * MIB, 100, 1);
	push(20, 300);
	stop();
	if (_i == GONE)
		rig_clear();
	if (_i == SPOILT) {
		spoil(RIG_SPOOL);
		spoil(RIG_TALLY);
	}
	if (_i == OLDER_SNAPSHOT) {
		ledger_add(SPANS_MADE, 20 * SPANS);
		ledger_add(SPANS_SPOOLED, 20 * SPANS);
	}
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_DROPPED_SPOOL_CORRUPT), lost ? 20 * SPANS : 0);
	ck_assert_int_eq(row(SPANS_SENT), lost ? 0 : 20 * SPANS);
	ck_assert_int_eq(row(SPANS_SPOOLED), lost ? 0 : 20 * SPANS);
	assert_balance();
	stop();
}
END_TEST

/* Fresh spans go first: the replay has what they leave. */
START_TEST(test_fresh_first)
{
	struct batch *batch;

	start(64 * MIB, 100, 1);
	push(20, 300);
	batch_set_delivering(queue, false);
	wait_until(all_stored);
	batch_set_delivering(queue, true);
	while (!(batch = batch_take(queue)))
		g_usleep(1000);
	ck_assert_int_ne(batch->spool_id, 0);
	batch_give_back(queue, batch);
	push(5, 300);
	for (int i = 0; i < 5; i++) {
		batch = batch_take(queue);
		ck_assert_int_eq(batch->spool_id, 0);
		ck_assert_int_eq(batch_events(batch)[0], 20 * SPANS + 1 + i * SPANS);
		sent(batch, NULL);
	}
	batch = batch_take(queue);
	ck_assert_int_eq(batch_events(batch)[0], 1); /* the oldest, which was given back */
	sent(batch, NULL);
	take_until(all_sent, NULL);
	assert_balance();
	stop();
}
END_TEST

static int64_t pace_until;

static bool time_is_over(void)
{
	return clock_monotonic() >= pace_until;
}

/* The replay keeps its pace: the floor without fresh spans, and its share with them. */
START_TEST(test_paced)
{
	int64_t replayed, fresh;

	start(64 * MIB, 50, 2000);
	push(100, 100);
	batch_set_delivering(queue, false);
	wait_until(all_stored);
	batch_set_delivering(queue, true);
	pace_until = clock_monotonic() + 1200 * NS_PER_MS; /* it begins within a second */
	take_until(time_is_over, NULL);
	pace_until = clock_monotonic() + 2000 * NS_PER_MS;
	replayed = take_until(time_is_over, NULL);
	ck_assert_msg(replayed >= 2000 * 2 * 6 / 10 && replayed <= 2000 * 2 * 15 / 10, "%lld replayed in 2 s",
		(long long)replayed);
	push(200, 100); /* fresh ones, that go at once */
	batch_set_delivering(queue, false);
	wait_until(all_stored);
	batch_set_delivering(queue, true);
	g_usleep(1100000);
	replayed = fresh = 0;
	for (int i = 0; i < 150; i++) { /* 10,000 a second */
		push(1, 100);
		fresh += SPANS;
		pace_until = clock_monotonic() + 10 * NS_PER_MS;
		replayed += take_until(time_is_over, NULL);
	}
	ck_assert_msg(replayed >= fresh * 4 / 10 && replayed <= fresh * 14 / 10, "%lld replayed beside %lld",
		(long long)replayed, (long long)fresh);
	assert_balance();
	stop();
}
END_TEST

/* The pace alone, with a clock of its own: to the number. */
START_TEST(test_pace)
{
	struct pace pace;
	int64_t now = 100 * NS_PER_SECOND, replayed = 0, late = 0;
	uint64_t fresh = 1000000;

	pace_init(&pace, 75, 1000);
	pace_restart(&pace, now, fresh);
	ck_assert(!pace_step(&pace, now, fresh));
	for (int i = 0; i < 20 * 100; i++) { /* 20 s of 10,000 fresh spans a second */
		now += 10 * NS_PER_MS;
		fresh += 100;
		while (pace_step(&pace, now, fresh)) {
			pace_spend(&pace, 10);
			replayed += 10;
			late += i >= 1000 ? 10 : 0;
		}
	}
	/* in the last 10 s: three for each fresh one, times this node's jitter */
	ck_assert_int_gt(late, (int64_t)(3 * 100000 * pace.jitter * 0.99));
	ck_assert_int_lt(late, (int64_t)(3 * 100000 * pace.jitter * 1.01) + 1000);
	ck_assert(pace.jitter >= 0.8 && pace.jitter <= 1.2);
	ck_assert_int_gt(replayed, late);
	pace_init(&pace, 100, 1);
	for (int i = 0; i < 100; i++) {
		ck_assert(pace_step(&pace, now, fresh));
		pace_spend(&pace, 1000000);
	}
}
END_TEST

/* What is prefetched is bounded, and what was given back at the end stays on disk. */
START_TEST(test_prefetch_is_bounded)
{
	struct backlog backlog;
	struct batch *batch;

	start(64 * MIB, 100, 1);
	push(60, 300);
	batch_set_delivering(queue, false);
	wait_until(all_stored);
	batch_set_delivering(queue, true);
	while (!(batch = batch_take(queue)))
		g_usleep(1000);
	g_usleep(200000);
	backlog_look(queue, &backlog);
	ck_assert_uint_le(backlog.replay_bytes, QUEUE / 8 + 128 * 1024);
	ck_assert_int_eq(row(SPANS_SPOOLED), 60 * SPANS);
	batch_give_back(queue, batch);
	stop();
	ck_assert_int_eq(row(SPANS_SPOOLED), 60 * SPANS);
	start(64 * MIB, 100, 1);
	take_until(all_sent, NULL);
	ck_assert_int_eq(row(SPANS_SENT), 60 * SPANS);
	assert_balance();
	stop();
}
END_TEST

START_TEST(test_full_spool)
{
	start(4 * MIB, 100, 1);
	batch_set_delivering(queue, false);
	for (int i = 0; i < 300; i++) {
		push(1, 300);
		g_usleep(10000);
	}
	wait_until(all_stored);
	ck_assert_int_gt(row(SPANS_DROPPED_SPOOL_FULL), 0);
	ck_assert_int_eq(row(SPANS_DROPPED_SPOOL_FULL) + row(SPANS_SPOOLED), 300 * SPANS);
	assert_balance();
	batch_set_delivering(queue, true);
	take_until(all_sent, NULL);
	assert_balance();
	stop();
}
END_TEST

/* No folder: batches wait in memory, in order; then it is there, and they are stored. */
START_TEST(test_works_again)
{
	g_autofree char *folder = g_strconcat(rig_folder, "/later", NULL);
	struct spooler_options options = {
		.directory = folder,
		.name = "default",
		.max_bytes = 64 * MIB,
		.replay_share = 100,
		.replay_floor = 1,
	};

	make_queue();
	spooler = spooler_create(&options, queue);
	wait_until(is_failing);
	batch_set_delivering(queue, false);
	push(10, 300);
	g_usleep(1500000);
	ck_assert_int_eq(row(SPANS_QUEUED), 10 * SPANS);
	ck_assert_int_eq(g_mkdir(folder, 0700), 0);
	wait_until(all_stored);
	ck_assert_int_eq(row(SPANS_SPOOLED), 10 * SPANS);
	wait_until(is_ok);
	batch_set_delivering(queue, true);
	take_until(all_sent, NULL);
	assert_balance();
	stop();
}
END_TEST

/* A span that is refused is kept, whether its batch was fresh or not. */
START_TEST(test_refused_is_kept)
{
	g_autofree char *path = g_strconcat(rig_folder, "/" RIG_SPOOL, NULL);
	struct batch *batch;
	sqlite3_stmt *stmt;
	sqlite3 *reader;
	int rc;

	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	push(1, 300);
	batch = batch_take(queue);
	batch_refuse(queue, batch, 41, "I do not like it");
	ledger_move(batch_row(batch), SPANS_SENT, SPANS - 1);
	batch_release(queue, batch);
	assert_balance();
	stop();
	reader = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	stmt = spoolfile_prepare(reader, "SELECT event, size, words, span FROM refused", &rc);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	ck_assert_int_eq(sqlite3_column_int64(stmt, 0), 42);
	ck_assert_int_eq(sqlite3_column_int64(stmt, 1), 300);
	ck_assert_str_eq((const char *)sqlite3_column_text(stmt, 2), "I do not like it");
	ck_assert_int_eq(*(const uint8_t *)sqlite3_column_blob(stmt, 3), 42);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_DONE);
	sqlite3_finalize(stmt);
	sqlite3_close(reader);
}
END_TEST

static int64_t batches_left;

static bool batches_are_left(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.batches == batches_left;
}

/* A stop deletes what was delivered though it cannot store what waits: it is not delivered again. */
START_TEST(test_stop_that_cannot_store)
{
	struct batch *first, *second;

	start(1 * MIB, 100, 1);
	push(3, 100);
	batch_set_delivering(queue, false);
	wait_until(all_stored);
	batch_set_delivering(queue, true);
	while (!(first = batch_take(queue)))
		g_usleep(1000);
	while (!(second = batch_take(queue)))
		g_usleep(1000);
	sent(first, NULL);
	batches_left = 2;
	wait_until(batches_are_left); /* the next is deleted after a while, or by the stop */
	sent(second, NULL);
	push(1, 6000); /* is too large for this spool */
	stop();
	start(1 * MIB, 100, 1);
	wait_until(is_ok);
	batches_left = 1;
	ck_assert(batches_are_left());
	stop();
}
END_TEST

static void *push_much(void *data)
{
	(void)data;
	for (int i = 0; i < 300; i++) {
		push(1, 1000);
		g_usleep(2000);
	}
	return NULL;
}

/* Pushing, storing, replaying and a collector that comes and goes, all at once: every span arrives once. */
START_TEST(test_all_at_once)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	pthread_t pusher;

	start(256 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(pthread_create(&pusher, NULL, push_much, NULL), 0);
	for (int i = 0; i < 4; i++) {
		struct batch *batch = batch_take(queue);

		batch_set_delivering(queue, i % 2);
		g_usleep(i == 0 ? 1200000 : 100000);
		if (batch)
			batch_give_back(queue, batch);
	}
	pthread_join(pusher, NULL);
	batch_set_delivering(queue, true);
	take_until(all_sent, seen);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	ck_assert_uint_eq(g_hash_table_size(seen), 300 * SPANS);
	assert_balance();
	stop();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spooler");
	TCase *tcase = tcase_create("spooler");
	SRunner *runner;
	int failed;

	rig_make_folder();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_stored_when_the_collector_is_away);
	tcase_add_test(tcase, test_stored_when_the_queue_fills);
	tcase_add_test(tcase, test_over_a_restart);
	tcase_add_loop_test(tcase, test_less_than_the_ledger_knows, 0, KINDS);
	tcase_add_test(tcase, test_fresh_first);
	tcase_add_test(tcase, test_paced);
	tcase_add_test(tcase, test_pace);
	tcase_add_test(tcase, test_prefetch_is_bounded);
	tcase_add_test(tcase, test_full_spool);
	tcase_add_test(tcase, test_works_again);
	tcase_add_test(tcase, test_refused_is_kept);
	tcase_add_test(tcase, test_stop_that_cannot_store);
	tcase_add_test(tcase, test_all_at_once);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	rig_remove_folder();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
