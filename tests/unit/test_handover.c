/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent and its reader say to each other: what is said is understood, and anything else is refused.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "handover/channel.h"
#include "handover/frames.h"

static struct buffer out;
static struct batch seen;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&seen.sizes);
	buffer_free(&seen.events);
}

/* Frames */

static void pack_spans(void)
{
	struct batch *spans = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct hand hand = {.at_once = true, .reached = unpacker_of("place", 5), .spans = spans};

	hand.change.row[EVENTS_READ] = 7;
	hand.change.row[SPANS_PENDING] = -2;
	batch_add(spans, (const uint8_t *)"one", 3, 11);
	batch_add(spans, (const uint8_t *)"", 0, 12);
	batch_add(spans, (const uint8_t *)"three", 5, 13);
	hand_pack(&out, &hand);
	buffer_put(&out, spans->sizes.data, spans->sizes.size);
	buffer_put(&out, spans->events.data, spans->events.size);
	buffer_put(&out, spans->spans.data, spans->spans.size);
	batch_unref(spans);
}

static bool unpack_spans(const uint8_t *data, size_t size, struct hand *hand)
{
	struct unpacker from = unpacker_of(data, size);

	return hand_unpack(&from, hand, &seen);
}

START_TEST(a_hand_is_understood)
{
	struct hand hand;

	pack_spans();
	ck_assert(unpack_spans(out.data, out.size, &hand));
	ck_assert(hand.at_once);
	ck_assert_int_eq(hand.change.row[EVENTS_READ], 7);
	ck_assert_int_eq(hand.change.row[SPANS_PENDING], -2);
	ck_assert_mem_eq(hand.reached.at, "place", 5);
	ck_assert_uint_eq(hand.spans->count, 3);
	ck_assert_mem_eq(hand.spans->spans.data, "onethree", 8);
	ck_assert_uint_eq(batch_sizes(hand.spans)[2], 5);
	ck_assert_int_eq(batch_events(hand.spans)[1], 12);
}
END_TEST

/* Cut off anywhere, longer, or with any byte changed: it is refused, or what it says is within its bounds. */
START_TEST(a_broken_hand_is_harmless)
{
	struct hand hand;

	pack_spans();
	for (size_t size = 0; size < out.size; size++) {
		g_autofree uint8_t *copy = g_memdup2(out.data, size);

		ck_assert_msg(!unpack_spans(copy, size, &hand), "cut off at %zu", size);
	}
	for (size_t i = 0; i < out.size * 255; i++) {
		g_autofree uint8_t *copy = g_memdup2(out.data, out.size);
		size_t bytes = 0;

		copy[i / 255] ^= (uint8_t)(i % 255 + 1);
		if (!unpack_spans(copy, out.size, &hand))
			continue;
		for (uint32_t n = 0; n < hand.spans->count; n++)
			bytes += batch_sizes(hand.spans)[n];
		ck_assert_uint_eq(bytes, hand.spans->spans.size);
		ck_assert_ptr_eq(hand.spans->spans.data + bytes, copy + out.size);
	}
	buffer_put(&out, "x", 1);
	ck_assert(!unpack_spans(out.data, out.size, &hand));
}
END_TEST

START_TEST(reports)
{
	struct report said = {.kind = REPORT_IN_PART, .new = true, .session = "blkin"}, heard;
	struct unpacker from;

	said.problem = (struct problem){REASON_LEFT_OUT, "left out"};
	report_pack(&out, &said);
	from = unpacker_of(out.data, out.size);
	ck_assert(report_unpack(&from, &heard));
	ck_assert_int_eq(heard.kind, REPORT_IN_PART);
	ck_assert_int_eq(heard.problem.reason, REASON_LEFT_OUT);
	ck_assert_str_eq(heard.problem.text, "left out");
	ck_assert_str_eq(heard.session, "blkin");
	out.data[2] = REASONS; /* no such reason */
	from = unpacker_of(out.data, out.size);
	ck_assert(!report_unpack(&from, &heard));
	out.data[2] = 0;
	out.data[0] = REPORT_IN_PART + 1; /* nor such a report */
	from = unpacker_of(out.data, out.size);
	ck_assert(!report_unpack(&from, &heard));
}
END_TEST

START_TEST(orders)
{
	struct suspect suspect = {1001, 30};
	struct orders given = {.lasting = true, .alone = true, .files = 5, .number = 9}, taken;
	struct unpacker from;

	given.place = unpacker_of("here", 4);
	given.suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
	g_array_append_val(given.suspects, suspect);
	orders_pack(&out, &given);
	g_array_unref(given.suspects);
	from = unpacker_of(out.data, out.size);
	ck_assert(orders_unpack(&from, &taken));
	ck_assert(taken.lasting && taken.alone && !taken.holds && !taken.user);
	ck_assert_uint_eq(taken.number, 9);
	ck_assert_mem_eq(taken.place.at, "here", 4);
	ck_assert_uint_eq(taken.suspects->len, 1);
	ck_assert_uint_eq(g_array_index(taken.suspects, struct suspect, 0).user, 1001);
	ck_assert_int_eq(g_array_index(taken.suspects, struct suspect, 0).wait, 30);
	g_array_unref(taken.suspects);
}
END_TEST

/* The channel */

#define LARGE (3 << 20)

static struct channel ends[2];

static void connect_ends(size_t max)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	channel_init(&ends[0], fds[0], max);
	channel_init(&ends[1], fds[1], max);
}

static void disconnect(void)
{
	channel_free(&ends[0]);
	channel_free(&ends[1]);
}

/* A frame that the socket has no room for goes as the other end reads, and comes as a whole. */
START_TEST(large_frames_and_small)
{
	struct buffer large = {0};
	enum frame_type type;
	struct unpacker body;
	int frames = 0;

	connect_ends(LARGE);
	memset(buffer_reserve(&large, LARGE), 'x', LARGE);
	large.size = LARGE;
	channel_post(&ends[0], FRAME_START, &large);
	channel_post(&ends[0], FRAME_FINISH, NULL);
	ck_assert_uint_gt(ends[0].out.size, 0);
	while (frames < 2) {
		channel_flush(&ends[0]);
		ck_assert(channel_receive(&ends[1], true));
		while (channel_next(&ends[1], &type, &body)) {
			ck_assert_int_eq(type, frames ? FRAME_FINISH : FRAME_START);
			ck_assert_uint_eq((size_t)(body.end - body.at), frames ? 0 : LARGE);
			frames++;
		}
	}
	ck_assert_uint_eq(ends[0].out.size, 0);
	buffer_free(&large);
	disconnect();
}
END_TEST

static const struct frame_header strange[] = {
	{FRAME_HAND, 1001}, {0, 10}, {FRAME_FINISH + 1, 10}, {UINT32_MAX, UINT32_MAX}};

START_TEST(no_frames)
{
	enum frame_type type;
	struct unpacker body;

	connect_ends(1000);
	ck_assert_int_eq(write(ends[0].socket, &strange[_i], sizeof(strange[_i])), sizeof(strange[_i]));
	ck_assert(channel_receive(&ends[1], true));
	ck_assert(!channel_next(&ends[1], &type, &body));
	ck_assert(ends[1].wrong);
	disconnect();
}
END_TEST

START_TEST(the_other_end_is_gone)
{
	struct iovec pieces[2] = {{0}, {"x", 1}};

	connect_ends(1000);
	close(ends[0].socket);
	ends[0].socket = -1;
	ck_assert(!channel_receive(&ends[1], false));
	ck_assert(!channel_send(&ends[1], FRAME_HELLO, pieces, 2));
	channel_post(&ends[1], FRAME_STOP, NULL);
	disconnect();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("handover");
	TCase *cases = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(cases, NULL, teardown);
	tcase_add_test(cases, a_hand_is_understood);
	tcase_add_test(cases, a_broken_hand_is_harmless);
	tcase_add_test(cases, reports);
	tcase_add_test(cases, orders);
	tcase_add_test(cases, large_frames_and_small);
	tcase_add_loop_test(cases, no_frames, 0, G_N_ELEMENTS(strange));
	tcase_add_test(cases, the_other_end_is_gone);
	suite_add_tcase(suite, cases);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
