/* SPDX-License-Identifier: BSD-2-Clause */
/* What is replayed, how fast, and that fresh spans go before it. */
#include "base/clock.h"
#include "output/spool/drain.h"
#include "output/spool/pace.h"
#include "queue/aside.h"
#include "queue/backlog.h"
#include "spooler_rig.h"

/* Fresh spans go first: the replay has what they leave. */
START_TEST(test_fresh_first)
{
	struct entry *entry;

	start(64 * MIB, 100, 1);
	push(20, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	while (!(entry = queue_take(queue)))
		g_usleep(1000);
	ck_assert_int_ne(entry->spool_id, 0);
	queue_give_back(queue, entry);
	push(5, 300);
	for (int i = 0; i < 5; i++) {
		entry = queue_take(queue);
		ck_assert_int_eq(entry->spool_id, 0);
		ck_assert_int_eq(batch_events(entry->batch)[0], 20 * SPANS + 1 + i * SPANS);
		sent(entry, NULL);
	}
	entry = queue_take(queue);
	ck_assert_int_eq(batch_events(entry->batch)[0], 1); /* the oldest, which was given back */
	sent(entry, NULL);
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

static int64_t sent_before;

static bool has_begun(void)
{
	return row(SPANS_SENT) > sent_before;
}

/* Stores so many batches, and waits until the first of those on disk comes back. */
static void begin_replay(int batches)
{
	push(batches, 100);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	sent_before = row(SPANS_SENT);
	queue_set_delivering(queue, true);
	take_until(has_begun, NULL);
}

#define FLOOR 2000
#define TRIES 6 /* a busy machine may slow the replay down, but not each time */

/* Whether enough is replayed without fresh spans; it must not be too much. */
static bool keeps_floor(void)
{
	int64_t begin = clock_monotonic(), replayed;
	double most;

	pace_until = begin + 2 * NS_PER_SECOND;
	replayed = take_until(time_is_over, NULL);
	most = (double)(clock_monotonic() - begin) / NS_PER_SECOND * FLOOR * 1.5;
	ck_assert_msg(
		(double)replayed <= most, "%lld replayed, at most %g are right", (long long)replayed, most);
	return replayed >= FLOOR * 2 * 6 / 10;
}

/* The same beside 10,000 fresh ones a second, or fewer if the machine is busy. */
static bool keeps_share(void)
{
	int64_t begin = clock_monotonic(), replayed = 0, fresh = 0;
	double most;

	for (int i = 0; i < 250; i++) {
		push(1, 100);
		fresh += SPANS;
		pace_until = clock_monotonic() + 10 * NS_PER_MS;
		replayed += take_until(time_is_over, NULL);
	}
	most = MAX((double)fresh * 1.4, (double)(clock_monotonic() - begin) / NS_PER_SECOND * FLOOR * 1.5);
	ck_assert_msg(
		(double)replayed <= most, "%lld replayed beside %lld", (long long)replayed, (long long)fresh);
	return replayed >= fresh * 4 / 10;
}

/* The replay keeps its pace: the floor without fresh spans, and its share with them. */
START_TEST(test_paced)
{
	int tries = 0;

	start(64 * MIB, 50, FLOOR);
	do
		begin_replay(100);
	while (!keeps_floor() && ++tries < TRIES);
	ck_assert_int_lt(tries, TRIES);
	tries = 0;
	do
		begin_replay(200);
	while (!keeps_share() && ++tries < TRIES);
	ck_assert_int_lt(tries, TRIES);
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

static enum drain_state paced(const struct drain *drain, int64_t left, int64_t now)
{
	int64_t seconds;

	return drain_look(drain, left, now, true, &seconds);
}

static void assert_drain(
	const struct drain *drain, int64_t left, int64_t now, enum drain_state state, int64_t is)
{
	int64_t seconds = -1;

	ck_assert_int_eq(drain_look(drain, left, now, false, &seconds), state);
	ck_assert_int_ge(seconds, is - 2);
	ck_assert_int_le(seconds, is + 2);
}

/* How long it will take, by what became of the spool in the last seconds. */
START_TEST(test_drain)
{
	struct drain drain = {0};
	int64_t now = 50 * NS_PER_SECOND, left = 100000;

	assert_drain(&drain, 0, now, DRAIN_EMPTY, -1);
	assert_drain(&drain, left, now, DRAIN_BEGINS, -1);
	for (int i = 0; i < 20; i++, now += 100 * NS_PER_MS) /* nothing for two seconds */
		drain_note(&drain, true, left, now);
	ck_assert_uint_eq(drain.count, 2);
	assert_drain(&drain, left, now, DRAIN_STOPPED, -1);
	ck_assert_int_eq(paced(&drain, left, now), DRAIN_BEGINS);
	ck_assert_int_eq(paced(&drain, left + 1, now), DRAIN_STOPPED);
	for (int i = 0; i < 300; i++, now += 100 * NS_PER_MS) /* then 1000 a second */
		drain_note(&drain, true, left -= 100, now);
	assert_drain(&drain, left, now, DRAIN_KNOWN, 71);
	assert_drain(&drain, 0, now, DRAIN_EMPTY, -1);
	for (int i = 0; i < 100; i++, now += 100 * NS_PER_MS) /* and half of that */
		drain_note(&drain, true, left -= 50, now);
	assert_drain(&drain, left, now, DRAIN_KNOWN, 87);
	for (int i = 0; i < 300; i++, now += 100 * NS_PER_MS) /* more is stored than is delivered */
		drain_note(&drain, true, left += 5, now);
	assert_drain(&drain, left, now, DRAIN_STOPPED, -1);
	drain_note(&drain, false, left += 5, now); /* the collector was away for a moment */
	for (int i = 0; i < 30; i++, now += 100 * NS_PER_MS)
		drain_note(&drain, true, left -= 100, now);
	assert_drain(&drain, left, now, DRAIN_KNOWN, left / 1000);
	drain_restart(&drain);
	assert_drain(&drain, left, now, DRAIN_BEGINS, -1);
	drain_note(&drain, true, INT64_MAX / 2, now);
	assert_drain(&drain, INT64_MAX / 2 - 1000, now + 2 * NS_PER_SECOND, DRAIN_KNOWN,
		10 * INT64_C(365) * 86400);
}
END_TEST

static enum drain_state drain_state(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.drain;
}

static bool drain_is_known(void)
{
	return drain_state() == DRAIN_KNOWN;
}

static bool drain_stopped(void)
{
	return drain_state() == DRAIN_STOPPED;
}

static bool is_drained(void)
{
	return drain_state() == DRAIN_EMPTY;
}

/* The spooler says so while it replays, and not while the collector is away. */
START_TEST(test_says_when_it_will_be_empty)
{
	struct spooler_state state;

	start(64 * MIB, 1, 1000);
	wait_until(is_ok);
	ck_assert(is_drained());
	push(60, 100);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	wait_until(drain_stopped);
	queue_set_delivering(queue, true);
	take_until(drain_is_known, NULL);
	pace_until = clock_monotonic() + 1500 * NS_PER_MS;
	take_until(time_is_over, NULL);
	spooler_read_state(spooler, &state);
	ck_assert_int_eq(state.drain, DRAIN_KNOWN);
	/* 1000 a second, from 800 to 1200, after a pause of up to a second */
	ck_assert_int_ge(state.drain_seconds, row(SPANS_SPOOLED) / 1400);
	ck_assert_int_le(state.drain_seconds, row(SPANS_SPOOLED) / 400);
	queue_set_delivering(queue, false);
	wait_until(drain_stopped);
	queue_set_delivering(queue, true);
	take_until(all_sent, NULL);
	wait_until(is_drained);
	stop();
}
END_TEST

/* A batch may be the pace's for minutes: the rest waits for that, and not for the collector. */
START_TEST(test_pace_has_not_stopped)
{
	start(64 * MIB, 1, 1);
	push(3, 100);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_busy(queue);
	pace_until = clock_monotonic() + 4 * NS_PER_SECOND; /* until it counts as away */
	wait_until(time_is_over);
	sent(take_one(), NULL);
	queue_set_delivering(queue, true);
	pace_until = clock_monotonic() + 4 * NS_PER_SECOND;
	wait_until(time_is_over);
	ck_assert_int_eq(row(SPANS_SPOOLED), 2 * SPANS);
	ck_assert_int_eq(drain_state(), DRAIN_BEGINS);
	queue_set_delivering(queue, false);
	wait_until(drain_stopped);
	stop();
}
END_TEST

/* What is prefetched is bounded, and what was given back at the end stays on disk. */
START_TEST(test_prefetch_is_bounded)
{
	struct backlog backlog;
	struct entry *entry;

	start(64 * MIB, 100, 1);
	push(60, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	while (!(entry = queue_take(queue)))
		g_usleep(1000);
	g_usleep(200000);
	backlog_look(queue, &backlog);
	ck_assert_uint_le(backlog.replay_bytes, QUEUE / 8 + 128 * 1024);
	ck_assert_int_eq(row(SPANS_SPOOLED), 60 * SPANS);
	queue_give_back(queue, entry);
	stop();
	ck_assert_int_eq(row(SPANS_SPOOLED), 60 * SPANS);
	start(64 * MIB, 100, 1);
	take_until(all_sent, NULL);
	ck_assert_int_eq(row(SPANS_SENT), 60 * SPANS);
	assert_balance();
	stop();
}
END_TEST

/* A full disk stays full, also when the collector is back: what is stored is delivered all the same. */
START_TEST(test_from_a_full_disk)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast");

	if (!rig_mount_disk("size=4m"))
		return;
	start(4 * MIB, 100, 1);
	wait_until(is_ok);
	push(32 + _i, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	rig_fill_disk(ballast);
	push(1, 300);
	wait_until(is_failing);
	queue_set_delivering(queue, true);
	take_until(all_sent, NULL);
	ck_assert_int_eq(row(SPANS_SENT), (33 + _i) * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

/* The same after a restart. */
START_TEST(test_from_a_full_disk_after_a_restart)
{
	g_autofree char *ballast = rig_path(rig_folder, "ballast");

	if (!rig_mount_disk("size=4m"))
		return;
	start(4 * MIB, 100, 1);
	wait_until(is_ok);
	push(32, 300);
	stop();
	rig_fill_disk(ballast);
	start(4 * MIB, 100, 1);
	wait_until(is_ok);
	take_until(all_sent, NULL);
	ck_assert_int_eq(row(SPANS_SENT), 32 * SPANS);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

/* A spool in which all is under way takes nothing more; what of it is delivered makes room. */
START_TEST(test_from_a_full_spool)
{
	struct entry *entry[10];

	start(1 * MIB, 100, 1);
	wait_until(is_ok);
	push(G_N_ELEMENTS(entry), 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	for (size_t i = 0; i < G_N_ELEMENTS(entry); i++)
		entry[i] = take_one();
	queue_set_delivering(queue, false);
	push(1, 2000);
	wait_until(is_failing);
	for (size_t i = 0; i < G_N_ELEMENTS(entry); i++)
		sent(entry[i], NULL);
	wait_until(all_stored);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_SPOOLED), SPANS);
	queue_set_delivering(queue, true);
	take_until(all_sent, NULL);
	assert_balance();
	stop();
}
END_TEST

/* Not a suspect, which may be all that there is for a moment. */
static struct entry *take_other(void)
{
	struct entry *entry;

	while (entry_is_suspect(entry = take_one()))
		queue_give_back(queue, entry);
	return entry;
}

static bool all_but_suspects(void)
{
	return row(SPANS_SPOOLED) == (ASIDE_MAX + 2) * SPANS;
}

/* More batches on which the collector fails than are set aside: others are handed over to try it with. */
START_TEST(test_others_than_suspects)
{
	struct entry *entry;

	start(64 * MIB, 100, 1);
	push(20, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	for (int i = 0; i < ASIDE_MAX + 2; i++) {
		entry = take_other();
		ck_assert_int_eq(entry->spool_id, i + 1);
		entry->failures = ENTRY_FAILURES_MAX;
		queue_give_back(queue, entry);
	}
	queue_set_delivering(queue, true);
	sent(take_other(), NULL);
	take_until(all_but_suspects, NULL);
	ck_assert_uint_eq(aside_spans(queue), ASIDE_MAX * SPANS);
	while ((entry = aside_take(queue)))
		sent(entry, NULL);
	wait_until(is_empty);
	assert_balance();
	stop();
}
END_TEST

/* A reload may change how many spans go in a batch: what was not handed over yet comes in such ones. */
START_TEST(test_other_batches)
{
	const int64_t before = QUEUE / 8 / (SPANS * 300) + 14; /* what is read ahead, and some batches */
	struct entry *entry;

	merge(4 * SPANS);
	start(64 * MIB, 100, 1);
	push(60, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	entry = take_one();
	ck_assert_uint_eq(entry->batch->count, 4 * SPANS);
	sent(entry, NULL);
	merge(2 * SPANS);
	while (!all_sent()) {
		entry = take_one();
		if (entry->spool_id > before)
			ck_assert_uint_le(entry->batch->count, 2 * SPANS);
		sent(entry, NULL);
	}
	wait_until(is_empty);
	stop();
}
END_TEST

/*
 * A stop in the middle of batches, of one row or of several, and of a suspect: what arrived of them does not
 * come again after the next start.
 */
START_TEST(test_parts_over_a_restart)
{
	g_autoptr(GHashTable) seen = make_seen();
	const uint32_t in_batch = (uint32_t)_i * SPANS;
	struct entry *first, *second;

	merge(in_batch);
	start(64 * MIB, 100, 1);
	push(20, 300);
	queue_set_delivering(queue, false);
	wait_until(all_stored);
	queue_set_delivering(queue, true);
	first = take_one();
	second = take_one();
	ck_assert_uint_eq(second->batch->count, in_batch);
	second->failures = ENTRY_FAILURES_MAX;
	give_back_rest(second, in_batch - 1, seen);
	give_back_rest(first, 40, seen);
	stop();
	start(64 * MIB, 100, 1);
	wait_until(is_ok);
	ck_assert_int_eq(row(SPANS_SPOOLED), 20 * SPANS - 40 - in_batch + 1);
	ck_assert_int_eq(row(SPANS_RECOVERED), 0);
	assert_balance();
	take_until(all_sent, seen);
	assert_seen(seen, 1, 20 * SPANS);
	wait_until(is_empty);
	stop();
	ck_assert_int_eq(row(SPANS_SENT), 20 * SPANS);
	assert_balance();
}
END_TEST

TCase *spooler_replay_cases(void)
{
	TCase *tcase = tcase_create("replay");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_clear, NULL);
	tcase_add_test(tcase, test_fresh_first);
	tcase_add_test(tcase, test_paced);
	tcase_add_test(tcase, test_pace);
	tcase_add_test(tcase, test_drain);
	tcase_add_test(tcase, test_says_when_it_will_be_empty);
	tcase_add_test(tcase, test_pace_has_not_stopped);
	tcase_add_test(tcase, test_prefetch_is_bounded);
	tcase_add_loop_test(tcase, test_from_a_full_disk, 0, 3);
	tcase_add_test(tcase, test_from_a_full_disk_after_a_restart);
	tcase_add_test(tcase, test_from_a_full_spool);
	tcase_add_test(tcase, test_others_than_suspects);
	tcase_add_test(tcase, test_other_batches);
	tcase_add_loop_test(tcase, test_parts_over_a_restart, 1, 4);
	return tcase;
}
