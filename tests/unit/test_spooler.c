/* SPDX-License-Identifier: BSD-2-Clause */
/* The spooler between a queue and a spool: what is stored when, and that all of it adds up. */
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "output/spool/due.h"
#include "output/spool/spoolfile.h"
#include "queue/aside.h"
#include "queue/backlog.h"
#include "run.h"
#include "spooler_rig.h"

/* When what waits is due: soon if a place in the checkpoint waits for it. */
START_TEST(test_due)
{
	struct backlog backlog = {.since = 3 * NS_PER_SECOND, .waiting_bytes = 1, .limit = QUEUE};

	ck_assert_int_eq(due_at(&backlog, 0), 4 * NS_PER_SECOND);
	ck_assert_uint_eq(due_bytes(&backlog, 0, 3999 * NS_PER_MS), 0);
	ck_assert_int_eq(due_at(&backlog, 3900 * NS_PER_MS), 4400 * NS_PER_MS);
	backlog.unsettled = true;
	ck_assert_int_eq(due_at(&backlog, 0), 3050 * NS_PER_MS);
	ck_assert_uint_eq(due_bytes(&backlog, 0, 3050 * NS_PER_MS), 1);
	ck_assert_int_eq(due_at(&backlog, 3900 * NS_PER_MS), 3950 * NS_PER_MS);
	backlog.delivering = true;
	ck_assert_int_eq(due_at(&backlog, 0), INT64_MAX);
	ck_assert_uint_eq(due_bytes(&backlog, 0, 9 * NS_PER_SECOND), 0);
	/* one that is only busy may take it sooner than the disk could give it back */
	backlog.unsettled = backlog.delivering = false;
	backlog.busy = true;
	backlog.busy_at = 3 * NS_PER_SECOND;
	ck_assert_int_eq(due_at(&backlog, 0), 8 * NS_PER_SECOND);
	/* but not if it has waited long, while it took some */
	backlog.oldest = 2 * NS_PER_SECOND;
	backlog.delivering = true;
	ck_assert_int_eq(due_at(&backlog, 0), 7 * NS_PER_SECOND);
	ck_assert_uint_eq(due_bytes(&backlog, 0, 7 * NS_PER_SECOND), 1);
}
END_TEST

static bool is_settled(void)
{
	return queue_mark_settled(queue);
}

/* A short failure stores nothing; a long one everything, which makes the queue settled. */
START_TEST(test_stored_when_the_collector_is_away)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	struct entry *probe;
	int64_t begin, stored;

	start(64 * MIB, 100, 1);
	push(10, 300);
	begin = clock_monotonic();
	queue_set_delivering(queue, false);
	g_usleep(500000);
	stored = row(SPANS_SPOOLED);
	if (clock_monotonic() - begin < 900 * NS_PER_MS) /* later it is no short failure */
		ck_assert_int_eq(stored, 0);
	queue_mark(queue);
	wait_until(all_stored);
	ck_assert_int_eq(row(SPANS_SPOOLED), 10 * SPANS);
	wait_until(is_settled); /* a moment later */
	ck_assert_uint_eq(queue_bytes(queue), 0);
	assert_balance();
	/* one is available to try the collector with */
	while (!(probe = queue_take(queue)))
		g_usleep(1000);
	g_usleep(300000);
	ck_assert_ptr_null(queue_take(queue));
	queue_give_back(queue, probe);
	queue_set_delivering(queue, true);
	ck_assert_int_eq(take_until(all_sent, seen), 10 * SPANS);
	ck_assert_uint_eq(g_hash_table_size(seen), 10 * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

static bool one_is_stored(void)
{
	return row(SPANS_SPOOLED) == SPANS;
}

/* It is stored first, and leaves the queue then. */
static bool has_settled(void)
{
	return queue_mark_settled(queue) && queue_bytes(queue) == 0;
}

/*
 * A batch on which the server failed again and again is stored though others are delivered, and comes back as
 * a suspect; a spool that is opened anew has it as one of the others.
 */
START_TEST(test_suspect_is_stored)
{
	struct entry *suspect;

	start(64 * MIB, 100, 10000);
	wait_until(is_ok);
	push(2, 300);
	suspect = queue_take(queue);
	suspect->failures = ENTRY_FAILURES_MAX;
	queue_give_back(queue, suspect);
	queue_mark(queue);
	sent(queue_take(queue), NULL);
	wait_until(one_is_stored);
	wait_until(has_settled);
	while (!(suspect = aside_take(queue)))
		g_usleep(1000);
	ck_assert_int_ne(suspect->spool_id, 0);
	ck_assert(suspect->aside);
	ck_assert_ptr_null(queue_take(queue));
	assert_balance();
	if (_i == 0) {
		sent(suspect, NULL);
		wait_until(is_empty);
	} else {
		queue_give_back(queue, suspect);
		ck_assert_uint_eq(aside_spans(queue), SPANS);
	}
	stop();
	assert_balance();
	ck_assert_int_eq(row(SPANS_SPOOLED), _i == 0 ? 0 : SPANS);
	if (_i == 1) {
		start(64 * MIB, 100, 10000);
		ck_assert_int_eq(take_until(all_sent, NULL), SPANS);
		stop();
	}
}
END_TEST

static bool half_is_stored(void)
{
	struct backlog backlog;

	backlog_look(queue, &backlog);
	return backlog.waiting_bytes <= QUEUE / 2 && row(SPANS_SPOOLED) > 0;
}

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
	wait_until(half_is_stored);
	ck_assert_int_eq(row(SPANS_DROPPED_QUEUE_FULL), 0);
	backlog_look(queue, &backlog);
	ck_assert_uint_gt(backlog.waiting_bytes, QUEUE / 4);
	assert_balance();
	stop();
	assert_balance();
	ck_assert_int_eq(row(SPANS_QUEUED), 0); /* a stop stores the rest */
	ck_assert_int_eq(row(SPANS_SPOOLED), 200 * SPANS);
}
END_TEST

/* A stop stores all that waits, also of batches that do not fill its commits. */
START_TEST(test_stop_stores_more_than_a_commit)
{
	const struct queue_limits large = {.bytes = 64 * MIB};

	start(128 * MIB, 100, 1);
	wait_until(is_ok);
	queue_configure(queue, &large);
	push(40, 6000); /* 24 MB, in batches of 0.6 MB */
	stop();
	assert_balance();
	ck_assert_int_eq(row(SPANS_QUEUED), 0);
	ck_assert_int_eq(row(SPANS_SPOOLED), 40 * SPANS);
}
END_TEST

/* What an agent left is in the counts of the next one, and delivered by it. */
START_TEST(test_over_a_restart)
{
	start(64 * MIB, 100, 1);
	push(20, 300);
	stop();
	ck_assert_int_eq(row(SPANS_SPOOLED), 20 * SPANS);
	/* the ledger of a new process */
	account_add(account, SPANS_TAKEN, -row(SPANS_TAKEN));
	account_add(account, SPANS_SPOOLED, -row(SPANS_SPOOLED));
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

enum { GONE, SPOILT, OLDER_SNAPSHOT, HARMS };

/*
 * The ledger knows of more than the spool has. If the spool's own checkpoint say that it has all, the rest
 * was delivered after the ledger's snapshot; without any they are lost.
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
		account_add(account, SPANS_TAKEN, 20 * SPANS);
		account_add(account, SPANS_SPOOLED, 20 * SPANS);
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

START_TEST(test_full_spool)
{
	start(4 * MIB, 100, 1);
	queue_set_delivering(queue, false);
	for (int i = 0; i < 300; i++) {
		push(1, 300);
		g_usleep(10000);
	}
	wait_until(all_stored);
	ck_assert_int_gt(row(SPANS_DROPPED_SPOOL_FULL), 0);
	ck_assert_int_eq(row(SPANS_DROPPED_SPOOL_FULL) + row(SPANS_SPOOLED), 300 * SPANS);
	assert_balance();
	queue_set_delivering(queue, true);
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
	queue_set_delivering(queue, false);
	push(10, 300);
	g_usleep(1500000);
	ck_assert_int_eq(row(SPANS_QUEUED), 10 * SPANS);
	ck_assert_int_eq(g_mkdir(folder, 0700), 0);
	wait_until(all_stored);
	ck_assert_int_eq(row(SPANS_SPOOLED), 10 * SPANS);
	wait_until(is_ok);
	queue_set_delivering(queue, true);
	take_until(all_sent, NULL);
	assert_balance();
	stop();
}
END_TEST

/* A span that is refused is kept, whether its batch was fresh or not. */
START_TEST(test_refused_is_kept)
{
	g_autofree char *path = g_strconcat(rig_folder, "/" RIG_SPOOL, NULL);
	struct entry *entry;
	sqlite3_stmt *stmt;
	sqlite3 *reader;
	int rc;

	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	push(1, 300);
	entry = queue_take(queue);
	queue_refuse(queue, entry, 41, "I do not like it");
	account_move(account, entry_row(entry), SPANS_SENT, SPANS - 1);
	queue_release(queue, entry);
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
	struct entry *first, *second;

	start(1 * MIB, 100, 1);
	push(3, 100);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	while (!(first = queue_take(queue)))
		g_usleep(1000);
	while (!(second = queue_take(queue)))
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
		struct entry *entry = queue_take(queue);

		queue_set_delivering(queue, i % 2);
		g_usleep(i == 0 ? 1200000 : 100000);
		if (entry)
			queue_give_back(queue, entry);
	}
	pthread_join(pusher, NULL);
	queue_set_delivering(queue, true);
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
	int status;

	rig_make_folder();
	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_due);
	tcase_add_test(tcase, test_stored_when_the_collector_is_away);
	tcase_add_loop_test(tcase, test_suspect_is_stored, 0, 2);
	tcase_add_test(tcase, test_stored_when_the_queue_fills);
	tcase_add_test(tcase, test_stop_stores_more_than_a_commit);
	tcase_add_test(tcase, test_over_a_restart);
	tcase_add_loop_test(tcase, test_less_than_the_ledger_knows, 0, HARMS);
	tcase_add_test(tcase, test_full_spool);
	tcase_add_test(tcase, test_works_again);
	tcase_add_test(tcase, test_refused_is_kept);
	tcase_add_test(tcase, test_stop_that_cannot_store);
	tcase_add_test(tcase, test_all_at_once);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, spooler_replay_cases());
	suite_add_tcase(suite, spooler_discard_cases());
	status = run_all(srunner_create(suite));
	rig_remove_folder();
	return status;
}
