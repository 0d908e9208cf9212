/* SPDX-License-Identifier: BSD-2-Clause */
/* What two sessions recorded at the same time is known as one. */
#include "reader/decode/overlap.h"

#include <stdlib.h>

#include <check.h>
#include <glib.h>

#include "eventmaker.h"
#include "run.h"

#define FIRST 1700000000 /* when the session was created that is replaced */
#define FROM (INT64_C(1000) * NS_PER_SECOND)
#define UNTIL (FROM + 400 * NS_PER_MS)
#define APART 500 /* ns, between the copies of an event */
#define ROUNDS 200
#define BYTES 64

static struct overlap *overlap;
static struct event_maker maker;

/* An event that is made, for take. */
static struct stream_key stream;
static uint64_t when;
static bool copy;

static void take(void *user, const bt_message *message)
{
	(void)user;
	copy = overlap_is_copy(overlap, &stream, message, when);
}

static bool is_copy_of(const uint8_t *bytes, size_t size, uint64_t user, int64_t clock)
{
	stream = (struct stream_key){.user = user, .bits = 64};
	when = (uint64_t)clock;
	event_maker_run(&maker, bytes, size);
	return copy;
}

/* An event that has one text: one character. */
static bool is_copy(char text, int64_t clock)
{
	const uint8_t bytes[] = {1, 0, 8, 1, (uint8_t)text};

	return is_copy_of(bytes, sizeof(bytes), 1, clock);
}

static void set_up(void)
{
	maker = (struct event_maker){.take = take, .user = &stream};
	overlap = overlap_create();
	overlap_begin(overlap, FIRST, FROM);
}

static void tear_down(void)
{
	overlap_destroy(overlap);
	event_maker_free(&maker);
}

static void turn(void)
{
	overlap_end(overlap, UNTIL);
	overlap_turn(overlap, UNTIL);
}

START_TEST(taken_once)
{
	const uint8_t bytes[] = {1, 0, 8, 1, 'a'};

	ck_assert(!is_copy('a', FROM - 1));
	ck_assert(!is_copy('b', FROM + 1));
	turn();
	ck_assert(!is_copy('a', FROM + APART));
	ck_assert(!is_copy_of(bytes, sizeof(bytes), 2, FROM + 1 + APART));
	ck_assert(is_copy('b', FROM + 1 + APART));
	ck_assert(!is_copy('b', FROM + 1 + APART));
	ck_assert_uint_eq(overlap_copies(overlap), 1);
	ck_assert(overlap_forget(overlap));
	ck_assert(!overlap_is_open(overlap));
	ck_assert(!overlap_forget(overlap));
}
END_TEST

/* Of events that are alike the last ones of one session are the first ones of the other. */
START_TEST(alike)
{
	const int hits = 100, second = 40, more = 30;
	int copies = 0;

	for (int i = 0; i < hits; i++)
		ck_assert(!is_copy('a', FROM + i * 2 * APART));
	turn();
	for (int i = second; i < hits; i++)
		copies += is_copy('a', FROM + i * 2 * APART + APART);
	ck_assert_int_eq(copies, hits - second);
	/* what only the second one has is as late as both record */
	for (int i = 0; i < more; i++)
		copies += is_copy('a', FROM + OVERLAP_NS + i * 2 * APART);
	ck_assert_int_eq(copies, hits - second);
}
END_TEST

/* In a program that starts meanwhile, the second session may have each event first. */
START_TEST(other_order)
{
	const int hits = 50;
	int copies = 0;

	for (int i = 0; i < hits; i++)
		ck_assert(!is_copy('a', FROM + i * 2 * APART + APART));
	turn();
	for (int i = 0; i < hits; i++)
		copies += is_copy('a', FROM + i * 2 * APART);
	ck_assert_int_eq(copies, hits);
}
END_TEST

/* A thread may not run for long before it records in the second session: a span that is whole is known then,
 * and what may be another event is not. */
START_TEST(late)
{
	maker.name = "blkin:span2_info";
	ck_assert(!is_copy('a', UNTIL - 1));
	maker.name = NULL;
	ck_assert(!is_copy('b', UNTIL - 1));
	turn();
	ck_assert(!is_copy('b', UNTIL + OVERLAP_TOLERANCE_NS));
	maker.name = "blkin:span2_info";
	ck_assert(is_copy('a', UNTIL + 100 * OVERLAP_TOLERANCE_NS));
	ck_assert(!is_copy('a', UNTIL + 100 * OVERLAP_TOLERANCE_NS));
}
END_TEST

/* The first session is stopped some time after it was about to be. */
START_TEST(stopped_late)
{
	ck_assert(!is_copy('a', UNTIL + NS_PER_SECOND));
	turn();
	ck_assert(is_copy('a', UNTIL + NS_PER_SECOND + APART));
}
END_TEST

/* What the second session has is noted for a third. */
START_TEST(three)
{
	ck_assert(!is_copy('a', FROM + 1));
	ck_assert(!is_copy('b', FROM + 2));
	turn();
	overlap_begin(overlap, FIRST + 1, UNTIL + NS_PER_SECOND);
	ck_assert(is_copy('a', FROM + 1 + APART));
	ck_assert(!is_copy('c', UNTIL + NS_PER_SECOND + 1));
	ck_assert(is_copy('b', FROM + 2 + APART));
	overlap_end(overlap, UNTIL + 2 * NS_PER_SECOND);
	overlap_turn(overlap, UNTIL + 2 * NS_PER_SECOND);
	ck_assert(is_copy('c', UNTIL + NS_PER_SECOND + 1 + APART));
	ck_assert_uint_eq(overlap_copies(overlap), 1);
}
END_TEST

START_TEST(canceled)
{
	ck_assert(!is_copy('a', FROM + 1));
	overlap_cancel(overlap);
	ck_assert(!overlap_is_open(overlap));
	overlap_turn(overlap, UNTIL);
	ck_assert(!overlap_is_open(overlap));
	ck_assert(!is_copy('a', FROM + 1 + APART));
}
END_TEST

/* The other one may record since it was about to for the first time, whatever came of the second time. */
START_TEST(canceled_again)
{
	ck_assert(!is_copy('a', FROM + 1));
	overlap_begin(overlap, FIRST, FROM + NS_PER_MS);
	overlap_cancel(overlap);
	ck_assert(!is_copy('b', FROM + 2 * NS_PER_MS));
	overlap_begin(overlap, FIRST, FROM + 3 * NS_PER_MS);
	turn();
	ck_assert(is_copy('a', FROM + 1 + APART));
	ck_assert(is_copy('b', FROM + 2 * NS_PER_MS + APART));
}
END_TEST

/* Events of all shapes. */
START_TEST(shapes)
{
	GRand *chance = g_rand_new_with_seed(5);
	g_autofree uint8_t *bytes = g_malloc(ROUNDS * BYTES);
	int copies = 0;

	for (int i = 0; i < ROUNDS * BYTES; i++)
		bytes[i] = (uint8_t)g_rand_int(chance);
	for (int i = 0; i < ROUNDS; i++)
		ck_assert(!is_copy_of(bytes + i * BYTES, BYTES, 1, FROM + i));
	turn();
	for (int i = 0; i < ROUNDS; i++)
		copies += is_copy_of(bytes + i * BYTES, BYTES, 1, FROM + i + ROUNDS);
	ck_assert_int_eq(copies, ROUNDS);
	g_rand_free(chance);
}
END_TEST

/* Saving */

static void load_anew(const struct buffer *saved, size_t size)
{
	overlap_destroy(overlap);
	overlap = overlap_create();
	ck_assert_int_eq(overlap_load(overlap, unpacker_of(saved->data, size)), size == saved->size);
}

START_TEST(kept)
{
	struct buffer first = {0}, second = {0};

	ck_assert(!is_copy('a', FROM + 1));
	overlap_save(overlap, &first);
	load_anew(&first, first.size);
	ck_assert(!is_copy('b', FROM + 2));
	turn();
	ck_assert(is_copy('a', FROM + 1 + APART));
	overlap_save(overlap, &second);
	load_anew(&second, second.size);
	ck_assert(!is_copy('a', FROM + 1 + APART));
	ck_assert(is_copy('b', FROM + 2 + APART));
	for (size_t size = 0; size < second.size; size++) {
		load_anew(&second, size);
		ck_assert(!overlap_is_open(overlap));
	}
	buffer_free(&first);
	buffer_free(&second);
}
END_TEST

/* Saves it and puts so many notes of no event in the place of those of the session at hand. */
static void fill(guint count)
{
	struct buffer saved = {0}, notes = {0};

	overlap_save(overlap, &saved);
	saved.size -= sizeof(uint32_t); /* of notes there were none */
	for (guint i = 0; i < count; i++) {
		pack_u64(&notes, i);
		pack_u64(&notes, FROM);
	}
	pack_bytes(&saved, notes.data, notes.size);
	load_anew(&saved, saved.size);
	buffer_free(&saved);
	buffer_free(&notes);
}

static void save_and_load(void)
{
	struct buffer saved = {0};

	overlap_save(overlap, &saved);
	load_anew(&saved, saved.size);
	buffer_free(&saved);
}

/* If there are more than can be noted, the oldest go, also if it was saved in between; a newer one stays. */
START_TEST(oldest_go)
{
	fill(OVERLAP_NOTES_MAX);
	ck_assert(!is_copy('a', FROM + 1));
	save_and_load();
	ck_assert(!is_copy('b', FROM + 2));
	turn();
	save_and_load();
	ck_assert(is_copy('a', FROM + 1 + APART));
	ck_assert(is_copy('b', FROM + 2 + APART));
}
END_TEST

/* Of a session that is at hand, later times than those of its place are taken up; of another one none. */
START_TEST(times)
{
	struct buffer saved = {0};
	struct unpacker from;

	overlap_end(overlap, UNTIL);
	overlap_save_times(overlap, &saved);
	overlap_turn(overlap, UNTIL);
	for (int round = 0; round < 2; round++) {
		for (int mine = 0; mine < 2; mine++) {
			overlap_destroy(overlap);
			overlap = overlap_create();
			from = unpacker_of(saved.data, saved.size);
			ck_assert(overlap_load_times(overlap, FIRST + !mine, &from));
			ck_assert(from.at == from.end);
			ck_assert_int_eq(overlap_is_open(overlap), mine);
		}
		/* the same, once the session has ended */
		overlap_turn(overlap, UNTIL);
		saved.size = 0;
		overlap_save_times(overlap, &saved);
	}
	from = unpacker_of(saved.data, saved.size - 1);
	ck_assert(!overlap_load_times(overlap, FIRST, &from));
	buffer_free(&saved);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, set_up, tear_down);
	tcase_add_test(cases, taken_once);
	tcase_add_test(cases, alike);
	tcase_add_test(cases, other_order);
	tcase_add_test(cases, late);
	tcase_add_test(cases, stopped_late);
	tcase_add_test(cases, three);
	tcase_add_test(cases, canceled);
	tcase_add_test(cases, canceled_again);
	tcase_add_test(cases, shapes);
	tcase_add_test(cases, kept);
	tcase_add_test(cases, oldest_go);
	tcase_add_test(cases, times);
	return run_cases("overlap", cases);
}
