/* SPDX-License-Identifier: BSD-2-Clause */
/* What waits is given up: all of it, or what is old; nothing twice, and counted to the span. */
#include <string.h>

#include <glib/gstdio.h>

#include "base/pack.h"
#include "output/spool/spoolremove.h"
#include "spooler_rig.h"

static struct discard_state state;

static bool is_over(void)
{
	spooler_read_discard(spooler, &state);
	return state.over;
}

static void discard(int64_t before)
{
	ck_assert(spooler_discard(spooler, before, 1000));
	wait_until(is_over);
	ck_assert_str_eq(state.error, "");
	assert_balance();
}

/* So many batches on disk, and a collector that is away. */
static void start_with(int batches)
{
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	push(batches, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	ck_assert_int_eq(row(SPANS_SPOOLED), batches * SPANS);
}

/* None of it arrives, the batch that is at hand to try the collector with neither; what comes later does. */
START_TEST(test_all)
{
	g_autoptr(GHashTable) seen = make_seen();

	start_with(300);
	g_usleep(200000);
	discard(INT64_MAX);
	ck_assert_uint_eq(state.order, 1);
	ck_assert_int_eq(state.batches, 300);
	ck_assert_int_eq(state.spans, 300 * SPANS);
	ck_assert_int_eq(state.under_way, 0);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), 300 * SPANS);
	ck_assert_int_eq(row(SPANS_SPOOLED), 0);
	wait_until(is_empty);
	push(20, 300);
	wait_until(all_stored);
	discard(0); /* nothing is so old */
	ck_assert_int_eq(state.spans, 0);
	queue_set_delivering(queue, true);
	take_until(all_sent, seen);
	assert_seen(seen, 300 * SPANS + 1, 320 * SPANS);
	assert_balance();
	discard(INT64_MAX); /* and nothing at all */
	ck_assert_int_eq(state.spans, 0);
	stop();
}
END_TEST

/* None of a batch either that has the spans of hundreds of rows. */
START_TEST(test_many_rows_in_a_batch)
{
	const int rows = 400;
	struct entry *entry;

	merge((uint32_t)rows * SPANS);
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	push(rows, 20);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	entry = take_one();
	ck_assert_int_eq(entry->batch->count, rows * SPANS);
	queue_give_back(queue, entry);
	discard(INT64_MAX);
	ck_assert_int_eq(state.spans, rows * SPANS);
	ck_assert_int_eq(state.under_way, 0);
	ck_assert_int_eq(row(SPANS_SPOOLED), 0);
	wait_until(is_empty);
	stop();
}
END_TEST

/* Batches whose spans are all older. */
START_TEST(test_older)
{
	g_autoptr(GHashTable) seen = make_seen();

	start_with(50);
	discard(10 * SPANS + 50); /* in the eleventh batch */
	ck_assert_int_eq(state.spans, 10 * SPANS);
	queue_set_delivering(queue, true);
	take_until(all_sent, seen);
	assert_seen(seen, 10 * SPANS + 1, 50 * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

static int64_t discarded_at_last;

static bool rest_is_discarded(void)
{
	return row(SPANS_DROPPED_DISCARDED) == discarded_at_last;
}

/* In the middle of a replay: what the uplink has may still arrive; what comes back from it is discarded too.
 */
START_TEST(test_while_it_is_replayed)
{
	g_autoptr(GHashTable) seen = make_seen();
	struct entry *entry[6];

	start_with(60);
	queue_set_delivering(queue, true);
	for (int i = 0; i < 6; i++)
		entry[i] = take_one();
	sent(entry[0], seen);
	sent(entry[1], seen);
	discard(INT64_MAX);
	ck_assert_int_eq(state.spans, 54 * SPANS);
	ck_assert_int_eq(state.under_way, 4);
	ck_assert_int_eq(row(SPANS_SPOOLED), 4 * SPANS);
	push(1, 300);
	sent(entry[2], seen);
	queue_give_back(queue, entry[3]);
	give_back_rest(entry[4], 40, NULL);
	entry[5]->failures = ENTRY_FAILURES_MAX; /* it becomes a suspect */
	queue_give_back(queue, entry[5]);
	discarded_at_last = 54 * SPANS + SPANS + 60 + SPANS;
	wait_until(rest_is_discarded);
	take_until(all_sent, seen);
	ck_assert_int_eq(row(SPANS_SENT), 4 * SPANS + 40);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), discarded_at_last);
	ck_assert_uint_eq(g_hash_table_size(seen), 4 * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_SPOOLED), 0);
	ck_assert_int_eq(row(SPANS_RECOVERED), 0);
	assert_balance();
	stop();
}
END_TEST

/* What is stored while it goes on stays. */
START_TEST(test_while_more_is_stored)
{
	g_autoptr(GHashTable) seen = make_seen();
	int64_t gone;
	int before = 500, more = 0;

	start_with(before);
	ck_assert(spooler_discard(spooler, INT64_MAX, 0));
	while (!is_over()) {
		push(1, 300);
		more++;
		g_usleep(1000);
	}
	gone = row(SPANS_DROPPED_DISCARDED);
	ck_assert_int_eq(gone, state.spans);
	ck_assert_int_ge(gone, before * SPANS);
	queue_set_delivering(queue, true);
	take_until(all_sent, seen);
	assert_seen(seen, gone + 1, (int64_t)(before + more) * SPANS);
	assert_balance();
	stop();
}
END_TEST

static void clear_account(void)
{
	for (int i = 0; i < ACCOUNT_ROWS; i++)
		account_add(account, i, -row(i));
}

static void load(const struct buffer *saved)
{
	clear_account();
	ck_assert(ledger_load(unpacker_of(saved->data, saved->size)));
}

/*
 * A kill -9 after an order, or in the middle of one: the ledger is that of an older snapshot, and the file
 * says what was discarded since. What was delivered and what was stored in that time are counted as ever.
 */
START_TEST(test_over_a_kill)
{
	struct buffer saved = {0}, later = {0};

	start_with(20);
	discard(5 * SPANS + 1);
	ledger_save(&saved);
	queue_set_delivering(queue, true);
	for (int i = 0; i < 3; i++)
		sent(take_one(), NULL);
	queue_set_delivering(queue, false);
	push(4, 300);
	wait_until(all_stored);
	discard(_i ? INT64_MAX : 10 * SPANS + 1);
	stop();
	load(&saved);
	ck_assert_int_eq(row(SPANS_SPOOLED), 15 * SPANS);
	for (int twice = 0; twice < 2; twice++) {
		start(64 * MIB, 100, 1);
		wait_until(is_ok);
		ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), (_i ? 21 : 7) * SPANS);
		ck_assert_int_eq(row(SPANS_SPOOLED), (_i ? 0 : 14) * SPANS);
		ck_assert_int_eq(
			row(SPANS_SENT) - row(SPANS_RECOVERED), -1 * SPANS); /* 3 sent, 4 more stored */
		assert_balance();
		ledger_save(&later);
		stop();
	}
	load(&saved); /* again, before there was a new snapshot */
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), (_i ? 21 : 7) * SPANS);
	assert_balance();
	stop();
	buffer_free(&saved);
	buffer_free(&later);
}
END_TEST

/* A ledger that begins anew knows nothing of earlier orders, and does not hear of them later. */
START_TEST(test_new_ledger)
{
	struct buffer saved = {0};

	start_with(20);
	discard(5 * SPANS + 1);
	stop();
	clear_account();
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), 0);
	ck_assert_int_eq(row(SPANS_RECOVERED), 15 * SPANS);
	ledger_save(&saved);
	stop();
	load(&saved);
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), 0);
	queue_set_delivering(queue, false);
	discard(8 * SPANS + 1);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), 3 * SPANS);
	stop();
	load(&saved);
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_DROPPED_DISCARDED), 3 * SPANS);
	assert_balance();
	stop();
	buffer_free(&saved);
}
END_TEST

/* A spool that fails ends the order, and the next one works. */
START_TEST(test_failing_spool)
{
	g_autofree char *folder = g_strconcat(rig_folder, "/later", NULL);
	struct spooler_options options = {.directory = folder,
		.name = "default",
		.max_bytes = 64 * MIB,
		.replay_share = 100,
		.replay_floor = 1};

	make_queue();
	spooler = spooler_create(&options, queue);
	wait_until(is_failing);
	ck_assert(spooler_discard(spooler, INT64_MAX, 0));
	wait_until(is_over);
	ck_assert_ptr_nonnull(strstr(state.error, folder));
	ck_assert_int_eq(g_mkdir(folder, 0700), 0);
	queue_set_delivering(queue, false);
	push(3, 300);
	wait_until(all_stored);
	discard(INT64_MAX);
	ck_assert_int_eq(state.spans, 3 * SPANS);
	ck_assert_uint_eq(state.order, 2);
	stop();
}
END_TEST

static unsigned count_files(void)
{
	GDir *dir = g_dir_open(rig_folder, 0, NULL);
	unsigned count = 0;

	while (g_dir_read_name(dir))
		count++;
	g_dir_close(dir);
	return count;
}

/* The files of a spool that nobody has are removed; not those of one that somebody has. */
START_TEST(test_files_are_removed)
{
	char why[256] = "";

	start_with(3);
	ck_assert_int_eq(spoolremove(rig_folder, "default", why, sizeof(why)), SPOOL_IN_USE);
	stop();
	ck_assert_uint_ge(count_files(), 2);
	ck_assert_int_eq(
		spoolremove(rig_folder, "west", why, sizeof(why)), SPOOL_REMOVED); /* there is none */
	ck_assert_uint_ge(count_files(), 2);
	ck_assert_msg(spoolremove(rig_folder, "default", why, sizeof(why)) == SPOOL_REMOVED, "%s", why);
	ck_assert_uint_eq(count_files(), 0);
}
END_TEST

TCase *spooler_discard_cases(void)
{
	TCase *tcase = tcase_create("discard");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_all);
	tcase_add_test(tcase, test_many_rows_in_a_batch);
	tcase_add_test(tcase, test_older);
	tcase_add_test(tcase, test_while_it_is_replayed);
	tcase_add_test(tcase, test_while_more_is_stored);
	tcase_add_loop_test(tcase, test_over_a_kill, 0, 2);
	tcase_add_test(tcase, test_new_ledger);
	tcase_add_test(tcase, test_failing_spool);
	tcase_add_test(tcase, test_files_are_removed);
	return tcase;
}
