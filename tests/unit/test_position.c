/* SPDX-License-Identifier: BSD-2-Clause */
/* What of a stream is done, and what is lost when a packet is given up. */
#include <check.h>

#include "session/position.h"

#include "run.h"

static const struct stream_point nothing = {0};
static const struct stream_point in_part = {.started = true, .begin = 100, .sequence = 4, .events = 7};
static const struct stream_point whole = {.started = true, .ended = true, .begin = 100, .sequence = 4};

START_TEST(packet_is_done)
{
	ck_assert_int_eq(stream_point_packet(&nothing, 0), PACKET_NEW);
	ck_assert_int_eq(stream_point_packet(&in_part, 99), PACKET_DONE);
	ck_assert_int_eq(stream_point_packet(&in_part, 100), PACKET_BEGUN);
	ck_assert_int_eq(stream_point_packet(&in_part, 101), PACKET_NEW);
	ck_assert_int_eq(stream_point_packet(&whole, 100), PACKET_DONE);
	ck_assert_int_eq(stream_point_packet(&whole, 101), PACKET_NEW);
}
END_TEST

static const struct {
	const struct stream_point *from;
	uint64_t begin, sequence, lost;
} given_up[] = {
	{&nothing, 100, 0, 1},
	{&nothing, 100, 4, 5}, /* those before it too */
	{&in_part, 99, 3, 0},
	{&in_part, 100, 4, 1}, /* the rest of it */
	{&in_part, 110, 5, 2}, /* and it */
	{&whole, 100, 4, 0},
	{&whole, 110, 5, 1},
	{&whole, 130, 7, 3},
	{&whole, 110, 2, 1}, /* a number that cannot be */
	/* forged ones */
	{&nothing, 100, UINT64_MAX, 2},
	{&whole, 110, UINT64_MAX, 1},
};

START_TEST(packet_is_given_up)
{
	struct stream_point done = *given_up[_i].from;
	uint64_t begin = given_up[_i].begin;

	ck_assert_uint_eq(stream_point_give_up(&done, begin, given_up[_i].sequence), given_up[_i].lost);
	ck_assert_int_eq(stream_point_packet(&done, begin), PACKET_DONE);
	ck_assert_uint_eq(stream_point_give_up(&done, begin, given_up[_i].sequence), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, packet_is_done);
	tcase_add_loop_test(cases, packet_is_given_up, 0, (int)(sizeof(given_up) / sizeof(given_up[0])));
	return run_cases("position", cases);
}
