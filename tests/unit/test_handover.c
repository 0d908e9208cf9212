/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent and its reader say to each other: what is said is understood, and anything else is refused.
 */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "handover/channel.h"
#include "handover/frames.h"
#include "reader/agentlink.h"
#include "stats/names.h"

#include "run.h"

static struct buffer out;
static struct batch seen_spans, seen_events;

static void teardown(void)
{
	buffer_free(&out);
	buffer_free(&seen_spans.sizes);
	buffer_free(&seen_spans.events);
	buffer_free(&seen_events.sizes);
	buffer_free(&seen_events.events);
}

/* Frames */

static void put_batch(const struct batch *items)
{
	buffer_put(&out, items->sizes.data, items->sizes.size);
	buffer_put(&out, items->events.data, items->events.size);
	buffer_put(&out, items->spans.data, items->spans.size);
}

/* What is said of the spans, and their bytes, which may be any. */
static void put_spans(const struct batch *spans)
{
	for (uint32_t i = 0; i < 3; i++)
		buffer_put(&out, &(struct named){i, 10 + i}, sizeof(struct named));
	buffer_put(&out, "words", 5);
	put_batch(spans);
}

static void pack_hand(void)
{
	struct batch *spans = batch_create(BATCH_SPAN_RECORDS, 0, 0),
		     *events = batch_create(BATCH_EVENT_RECORDS, 0, 0);
	struct hand hand = {.at_once = true,
		.reached = unpacker_of("place", 5),
		.spans = {.batch = spans, .words_size = 5},
		.events = {.batch = events}};

	hand.change.row[EVENTS_READ] = 7;
	hand.change.row[SPANS_PENDING] = -2;
	batch_add(spans, (const uint8_t *)"one", 3, 11);
	batch_add(spans, (const uint8_t *)"", 0, 12);
	batch_add(spans, (const uint8_t *)"three", 5, 13);
	batch_add(events, (const uint8_t *)"{}", 2, 14);
	batch_add(events, (const uint8_t *)"{\"a\":1}", 7, 15);
	hand_pack(&out, &hand);
	put_spans(spans);
	put_batch(events);
	batch_unref(spans);
	batch_unref(events);
}

static bool unpack_hand(const uint8_t *data, size_t size, struct hand *hand)
{
	struct unpacker from = unpacker_of(data, size);

	return hand_unpack(&from, hand, &seen_spans, &seen_events);
}

static const uint8_t *assert_within(const struct batch *items, const uint8_t *at)
{
	size_t bytes = 0;

	ck_assert_uint_eq(items->sizes.size, items->count * sizeof(uint32_t));
	ck_assert_uint_eq(items->events.size, items->count * sizeof(int64_t));
	for (uint32_t n = 0; n < items->count; n++)
		bytes += batch_sizes(items)[n];
	ck_assert_uint_eq(bytes, items->spans.size);
	ck_assert(items->spans.data >= at);
	return items->spans.data + bytes;
}

/* All that is said is within the frame, one thing behind the other. */
static void assert_bounds(const struct hand *hand, const uint8_t *begin, const uint8_t *end)
{
	ck_assert_ptr_eq(hand->spans.batch, &seen_spans);
	ck_assert_ptr_eq(hand->events.batch, &seen_events);
	ck_assert_uint_eq(seen_spans.format, BATCH_SPAN_RECORDS);
	ck_assert_uint_eq(seen_events.format, BATCH_EVENT_RECORDS);
	ck_assert_ptr_null(hand->spans.traits);
	ck_assert(hand->spans.named >= begin);
	ck_assert_ptr_eq(hand->spans.words, hand->spans.named + seen_spans.count * sizeof(struct named));
	ck_assert(assert_within(&seen_events,
			  assert_within(&seen_spans, hand->spans.words + hand->spans.words_size)) == end);
}

START_TEST(a_hand_is_understood)
{
	struct named named;
	struct hand hand;

	pack_hand();
	ck_assert(unpack_hand(out.data, out.size, &hand));
	ck_assert(hand.at_once);
	ck_assert_int_eq(hand.change.row[EVENTS_READ], 7);
	ck_assert_int_eq(hand.change.row[SPANS_PENDING], -2);
	ck_assert_mem_eq(hand.reached.at, "place", 5);
	ck_assert_uint_eq(items_count(&hand.spans), 3);
	memcpy(&named, hand.spans.named + 2 * sizeof(named), sizeof(named));
	ck_assert_uint_eq(named.program, 12);
	ck_assert_uint_eq(hand.spans.words_size, 5);
	ck_assert_mem_eq(hand.spans.words, "words", 5);
	ck_assert_mem_eq(seen_spans.spans.data, "onethree", 8);
	ck_assert_uint_eq(batch_sizes(&seen_spans)[1], 0);
	ck_assert_uint_eq(batch_sizes(&seen_spans)[2], 5);
	ck_assert_int_eq(batch_events(&seen_spans)[1], 12);
	ck_assert_uint_eq(items_count(&hand.events), 2);
	ck_assert_mem_eq(seen_events.spans.data, "{}{\"a\":1}", 9);
	ck_assert_int_eq(batch_events(&seen_events)[1], 15);
	assert_bounds(&hand, out.data, out.data + out.size);
}
END_TEST

/* Of one kind, or of none. */
START_TEST(a_hand_of_less)
{
	struct batch *batch = batch_create(BATCH_EVENT_RECORDS, 0, 0);
	struct hand hand = {.reached = unpacker_of("", 0)};

	pack_hand(); /* what was there before is no more */
	ck_assert(unpack_hand(out.data, out.size, &hand));
	hand = (struct hand){.reached = unpacker_of("", 0)};
	out.size = 0;
	hand_pack(&out, &hand);
	ck_assert(unpack_hand(out.data, out.size, &hand));
	ck_assert_uint_eq(items_count(&hand.spans) + items_count(&hand.events), 0);
	assert_bounds(&hand, out.data, out.data + out.size);
	batch_add(batch, (const uint8_t *)"event", 5, 16);
	hand = (struct hand){.reached = unpacker_of("", 0), .events = {.batch = batch}};
	out.size = 0;
	hand_pack(&out, &hand);
	ck_assert(!unpack_hand(out.data, out.size, &hand)); /* without its bytes */
	put_batch(batch);
	ck_assert(unpack_hand(out.data, out.size, &hand));
	ck_assert_uint_eq(items_count(&hand.spans), 0);
	ck_assert_uint_eq(items_count(&hand.events), 1);
	ck_assert_mem_eq(seen_events.spans.data, "event", 5);
	ck_assert_int_eq(batch_events(&seen_events)[0], 16);
	batch_unref(batch);
}
END_TEST

/* Counts and sizes as a stranger may write them: none makes it look, or take memory, beyond the frame. */
START_TEST(a_hand_that_claims_more)
{
	static const uint32_t claims[] = {0x10000, 0x7fffffff, 0x80000000, 0xffffffff};
	const size_t counts = 1 + sizeof(uint64_t) * LEDGER_ROWS + sizeof(uint32_t) + 5;
	const size_t sizes = counts + 3 * sizeof(uint32_t) + 3 * sizeof(struct named) + 5;
	struct hand hand;

	for (size_t i = 0; i < G_N_ELEMENTS(claims); i++) {
		for (size_t at = 0; at < 3 + 3; at++) { /* counts, the words' size, and the spans' sizes */
			g_autofree uint8_t *copy = NULL;

			out.size = 0;
			pack_hand();
			copy = g_memdup2(out.data, out.size);
			memcpy(copy + (at < 3 ? counts + at * 4 : sizes + (at - 3) * 4), &claims[i], 4);
			ck_assert_msg(!unpack_hand(copy, out.size, &hand), "claim %zu at %zu", i, at);
			ck_assert_uint_le(seen_spans.sizes.room, 1 << 16);
		}
	}
}
END_TEST

/* Cut off anywhere, longer, or with any byte changed: it is refused, or what it says is within its bounds. */
START_TEST(a_broken_hand_is_harmless)
{
	struct hand hand;

	pack_hand();
	for (size_t size = 0; size < out.size; size++) {
		g_autofree uint8_t *copy = g_memdup2(out.data, size);

		ck_assert_msg(!unpack_hand(copy, size, &hand), "cut off at %zu", size);
	}
	for (size_t i = 0; i < out.size * 255; i++) {
		g_autofree uint8_t *copy = g_memdup2(out.data, out.size);

		copy[i / 255] ^= (uint8_t)(i % 255 + 1);
		if (unpack_hand(copy, out.size, &hand))
			assert_bounds(&hand, copy, copy + out.size);
	}
	buffer_put(&out, "x", 1);
	ck_assert(!unpack_hand(out.data, out.size, &hand));
}
END_TEST

START_TEST(buffers)
{
	struct user_buffers said = {.known = true, .heals = true}, heard = {0};
	struct unpacker from;

	for (uint64_t user = 0; user < USERBUFFERS_MAX + 2; user++) {
		userbuffers_add(&said, user, 10);
		userbuffers_add(&said, user, 20); /* programs of another word size */
	}
	ck_assert_uint_eq(said.count, USERBUFFERS_MAX);
	ck_assert_uint_eq(userbuffers_sum(&said), 30 * (USERBUFFERS_MAX + 2));
	buffers_pack(&out, &said);
	from = unpacker_of(out.data, out.size);
	ck_assert(buffers_unpack(&from, &heard));
	ck_assert(heard.known && heard.heals);
	ck_assert_uint_eq(userbuffers_sum(&heard), userbuffers_sum(&said));
	ck_assert_uint_eq(heard.of[USERBUFFERS_MAX - 1].user, USERBUFFERS_MAX - 1);
	for (size_t size = 0; size < out.size; size++) {
		from = unpacker_of(out.data, size);
		ck_assert(!buffers_unpack(&from, &heard));
	}
	said.count = USERBUFFERS_MAX;
	out.size = 0;
	buffers_pack(&out, &said);
	out.data[3 + 8 + 3]++; /* their number */
	from = unpacker_of(out.data, out.size);
	ck_assert(!buffers_unpack(&from, &heard));
}
END_TEST

START_TEST(omissions)
{
	struct omissions said = {{REASON_EVENTS_FILTER, "no"}, {REASON_NONE, ""}}, heard;
	struct unpacker from;

	out.size = 0;
	omissions_pack(&out, &said);
	from = unpacker_of(out.data, out.size);
	ck_assert(omissions_unpack(&from, &heard));
	ck_assert_int_eq(heard.events.reason, REASON_EVENTS_FILTER);
	ck_assert_str_eq(heard.events.text, "no");
	ck_assert_int_eq(heard.kernel.reason, REASON_NONE);
	for (size_t size = 0; size < out.size; size++) {
		from = unpacker_of(out.data, size);
		ck_assert(!omissions_unpack(&from, &heard));
	}
	out.data[0] = REASONS;
	from = unpacker_of(out.data, out.size);
	ck_assert(!omissions_unpack(&from, &heard));
}
END_TEST

START_TEST(misuses)
{
	struct misuse said = {true, 1000, "osd", "read", "span id 0"}, heard;
	enum misuse_kind kind;
	struct unpacker from;

	out.size = 0;
	misuse_pack(&out, MISUSE_ID, &said);
	from = unpacker_of(out.data, out.size);
	ck_assert(misuse_unpack(&from, &kind, &heard));
	ck_assert_int_eq(kind, MISUSE_ID);
	ck_assert(heard.has_user && heard.user == 1000);
	ck_assert_str_eq(heard.service, "osd");
	ck_assert_str_eq(heard.span, "read");
	ck_assert_str_eq(heard.what, "span id 0");
	for (size_t size = 0; size < out.size; size++) {
		from = unpacker_of(out.data, size);
		ck_assert(!misuse_unpack(&from, &kind, &heard));
	}
	out.data[0] = MISUSES;
	from = unpacker_of(out.data, out.size);
	ck_assert(!misuse_unpack(&from, &kind, &heard));
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
	struct orders given = {.lasting = true, .alone = true, .events = _i == 1, .files = 5, .number = 9},
		      taken;
	struct unpacker from;

	given.position = unpacker_of("here", 4);
	given.suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
	g_array_append_val(given.suspects, suspect);
	orders_pack(&out, &given);
	g_array_unref(given.suspects);
	from = unpacker_of(out.data, out.size);
	ck_assert(orders_unpack(&from, &taken));
	ck_assert(taken.lasting && taken.alone && !taken.holds && !taken.user);
	ck_assert_int_eq(taken.events, _i == 1);
	ck_assert_uint_eq(taken.number, 9);
	ck_assert_mem_eq(taken.position.at, "here", 4);
	ck_assert_uint_eq(taken.suspects->len, 1);
	ck_assert_uint_eq(g_array_index(taken.suspects, struct suspect, 0).user, 1001);
	ck_assert_int_eq(g_array_index(taken.suspects, struct suspect, 0).wait, 30);
	g_array_unref(taken.suspects);
}
END_TEST

START_TEST(settings)
{
	struct settings given = {.level = 3,
				.stop_timeout = 5,
				.linger = 6,
				.grace = 7,
				.max_pending = 8,
				.events = 1,
				.log_level = 2,
				.log_format = 1},
			taken;
	struct unpacker from;

	settings_pack(&out, &given);
	from = unpacker_of(out.data, out.size);
	ck_assert(settings_unpack(&from, &taken));
	ck_assert_uint_eq(taken.level, 3);
	ck_assert_int_eq(taken.stop_timeout, 5);
	ck_assert_int_eq(taken.linger, 6);
	ck_assert_int_eq(taken.grace, 7);
	ck_assert_uint_eq(taken.max_pending, 8);
	ck_assert_uint_eq(taken.events, 1);
	ck_assert_uint_eq(taken.log_level, 2);
	ck_assert_uint_eq(taken.log_format, 1);
	for (size_t size = 0; size < out.size; size++) {
		from = unpacker_of(out.data, size);
		ck_assert(!settings_unpack(&from, &taken));
	}
}
END_TEST

/* The ring */

static struct ring ring;
static uint64_t taken;

static void start_ring(void)
{
	ring_reset(&ring);
	taken = 0;
}

/* What is put comes out, in pieces of any size, many times around. */
START_TEST(around)
{
	uint8_t bytes[1000];
	uint32_t pattern = 1;

	start_ring();
	for (size_t i = 0; i < 5 * RING_BYTES / sizeof(bytes); i++) {
		size_t size = 1 + i * 37 % sizeof(bytes);

		for (size_t n = 0; n < size; n++)
			bytes[n] = (uint8_t)(pattern = pattern * 1103515245 + 12345);
		ck_assert_uint_eq(ring_put(&ring, bytes, size), size);
		out.size = 0;
		ck_assert(ring_take(&ring, &taken, RING_BYTES, &out));
		ck_assert_uint_eq(out.size, size);
		ck_assert_mem_eq(out.data, bytes, size);
	}
}
END_TEST

START_TEST(full)
{
	g_autofree uint8_t *bytes = g_malloc0(RING_BYTES);

	start_ring();
	ck_assert_uint_eq(ring_put(&ring, bytes, 100), 100);
	ck_assert_uint_eq(ring_put(&ring, bytes, RING_BYTES), RING_BYTES - 100);
	ck_assert_uint_eq(ring_put(&ring, bytes, 1), 0);
	ck_assert(ring_take(&ring, &taken, 1000, &out));
	ck_assert_uint_eq(out.size, 1000);
	ck_assert(!ring_is_empty(&ring, taken));
	ck_assert(ring_take(&ring, &taken, RING_BYTES, &out));
	ck_assert_uint_eq(out.size, RING_BYTES);
	ck_assert(ring_is_empty(&ring, taken));
	ck_assert_uint_eq(ring_put(&ring, bytes, 1), 1);
}
END_TEST

/* It is to be woken once each time that it sleeps, and not before there is what it waits for. */
START_TEST(waking)
{
	start_ring();
	ring_put(&ring, "a", 1);
	ck_assert(!ring_wakes(&ring));
	ck_assert(!ring_may_sleep(&ring, taken, 1));
	ck_assert(ring_take(&ring, &taken, RING_BYTES, &out));
	ck_assert(ring_may_sleep(&ring, taken, 2));
	ring_put(&ring, "b", 1);
	ck_assert(!ring_wakes(&ring));
	ring_put(&ring, "c", 1);
	ck_assert(ring_wakes(&ring));
	ck_assert(!ring_wakes(&ring));
}
END_TEST

/* A writer that lies is found out, whatever it writes where only the taker should. */
START_TEST(lies)
{
	start_ring();
	ring_put(&ring, "abc", 3);
	atomic_store(&ring.taken, 3);
	ck_assert(ring_take(&ring, &taken, RING_BYTES, &out));
	ck_assert_uint_eq(out.size, 3);
	atomic_store(&ring.written, taken + RING_BYTES + 1);
	ck_assert(!ring_take(&ring, &taken, RING_BYTES, &out));
	atomic_store(&ring.written, taken - 1);
	ck_assert(!ring_take(&ring, &taken, RING_BYTES, &out));
	ck_assert_uint_eq(out.size, 3);
}
END_TEST

/* The channel */

#define LARGE (3 << 20)

static struct channel reader, agent;

static void connect_ends(size_t max)
{
	int fds[2];

	start_ring();
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	channel_init(&reader, fds[0], &ring, max);
	channel_init(&agent, fds[1], &ring, max);
}

static void disconnect(void)
{
	channel_free(&reader);
	channel_free(&agent);
}

static struct buffer large(void)
{
	struct buffer buffer = {0};

	memset(buffer_reserve(&buffer, LARGE), 'x', LARGE);
	buffer.size = LARGE;
	return buffer;
}

/* A frame that the socket has no room for goes as the reader reads, and comes as a whole. */
START_TEST(frames_to_the_reader)
{
	struct buffer body = large();
	struct unpacker seen_body;
	enum frame_type type;
	int frames = 0;

	connect_ends(LARGE);
	channel_post(&agent, FRAME_START, &body);
	channel_post(&agent, FRAME_FINISH, NULL);
	ck_assert_uint_gt(agent.out.size, 0);
	while (frames < 2) {
		channel_flush(&agent);
		ck_assert(channel_receive(&reader));
		while (channel_next(&reader, &type, &seen_body)) {
			ck_assert_int_eq(type, frames ? FRAME_FINISH : FRAME_START);
			ck_assert_uint_eq((size_t)(seen_body.end - seen_body.at), frames ? 0 : LARGE);
			frames++;
		}
	}
	ck_assert_uint_eq(agent.out.size, 0);
	buffer_free(&body);
	disconnect();
}
END_TEST

static void *send_two(void *data)
{
	const struct buffer *body = data;
	const struct iovec pieces[2] = {{body->data, 7}, {body->data, body->size - 7}};
	bool sent = channel_send(&reader, FRAME_HAND, pieces, 2);

	return GINT_TO_POINTER(sent && channel_send(&reader, FRAME_ENDED, NULL, 0));
}

/* A frame that is larger than the ring goes as the agent takes it; the agent may sleep meanwhile. */
START_TEST(frames_to_the_agent)
{
	struct buffer body = large();
	struct unpacker seen_body;
	enum frame_type type;
	pthread_t sender;
	int frames = 0;
	void *sent;

	connect_ends(LARGE);
	ck_assert_int_eq(pthread_create(&sender, NULL, send_two, &body), 0);
	while (frames < 2) {
		struct pollfd fd = {.fd = agent.socket, .events = POLLIN};

		if (channel_may_sleep(&agent, 1))
			ck_assert_int_eq(poll(&fd, 1, 10000), 1);
		ck_assert(channel_collect(&agent));
		while (channel_next(&agent, &type, &seen_body)) {
			ck_assert_int_eq(type, frames ? FRAME_ENDED : FRAME_HAND);
			ck_assert_uint_eq((size_t)(seen_body.end - seen_body.at), frames ? 0 : LARGE);
			frames++;
		}
		ck_assert(!agent.wrong);
	}
	pthread_join(sender, &sent);
	ck_assert_ptr_nonnull(sent);
	buffer_free(&body);
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
	ck_assert_uint_eq(ring_put(&ring, &strange[_i], sizeof(strange[_i])), sizeof(strange[_i]));
	ck_assert(channel_collect(&agent));
	ck_assert(!channel_next(&agent, &type, &body));
	ck_assert(agent.wrong);
	disconnect();
}
END_TEST

/* The reader wakes the agent, and says nothing on the socket. */
START_TEST(chatter)
{
	const uint8_t words[100] = {0};

	connect_ends(1000);
	ck_assert_int_eq(write(reader.socket, words, 1), 1);
	ck_assert(channel_collect(&agent));
	ck_assert(!agent.wrong);
	ck_assert_int_eq(write(reader.socket, words, sizeof(words)), sizeof(words));
	ck_assert(channel_collect(&agent));
	ck_assert(agent.wrong);
	disconnect();
}
END_TEST

/* What it had said is there. */
START_TEST(the_reader_is_gone)
{
	const struct iovec piece = {"x", 1};
	struct unpacker body;
	enum frame_type type;

	connect_ends(1000);
	ck_assert(channel_send(&reader, FRAME_HELLO, &piece, 1));
	close(reader.socket);
	reader.socket = -1;
	ck_assert(!channel_collect(&agent));
	ck_assert(channel_next(&agent, &type, &body));
	ck_assert_int_eq(type, FRAME_HELLO);
	channel_post(&agent, FRAME_STOP, NULL);
	disconnect();
}
END_TEST

START_TEST(the_agent_is_gone)
{
	struct buffer body = large();
	const struct iovec piece = {body.data, body.size};

	connect_ends(1000);
	close(agent.socket);
	agent.socket = -1;
	ck_assert(!channel_send(&reader, FRAME_HAND, &piece, 1));
	ck_assert(!channel_receive(&reader));
	buffer_free(&body);
	disconnect();
}
END_TEST

/* What the reader's end of the channel is asked for */

static atomic_uint configured, stopped;

static void note_configure(void *data, const struct settings *given)
{
	(void)data, (void)given;
	atomic_fetch_add(&configured, 1);
}

static void note_stop(void *data, int64_t timeout)
{
	(void)data, (void)timeout;
	atomic_fetch_add(&stopped, 1);
}

static void post(enum frame_type type)
{
	const struct settings given = {0};

	out.size = 0;
	if (type == FRAME_CONFIGURE)
		settings_pack(&out, &given);
	else if (type == FRAME_STOP)
		pack_u64(&out, 1);
	channel_post(&agent, type, &out);
}

static void wait_for(atomic_uint *count, unsigned number)
{
	while (atomic_load(count) < number)
		g_usleep(1000);
}

/* What a reload changes is gone once the reader may end: then no reload reaches it. */
START_TEST(a_reload_at_the_end)
{
	const struct agent_link_asks asks = {.stop = note_stop, .configure = note_configure};
	struct orders given = {.position = unpacker_of("", 0), .reached = unpacker_of("", 0)};
	struct agent_link *link;

	connect_ends(1 << 20);
	given.suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
	orders_pack(&out, &given);
	g_array_unref(given.suspects);
	channel_post(&agent, FRAME_START, &out);
	link = agent_link_create(reader.socket, &ring, &given);
	ck_assert_ptr_nonnull(link);
	g_array_unref(given.suspects);
	ck_assert(agent_link_open(link, &asks));
	post(FRAME_CONFIGURE);
	wait_for(&configured, 1);
	post(FRAME_FINISH);
	post(FRAME_CONFIGURE);
	post(FRAME_STOP);
	wait_for(&stopped, 1);
	ck_assert_uint_eq(atomic_load(&configured), 1);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");
	tcase_set_timeout(cases, 30); /* a frame is broken at each of its bytes, under sanitizers */

	tcase_add_checked_fixture(cases, NULL, teardown);
	tcase_add_test(cases, a_hand_is_understood);
	tcase_add_test(cases, a_broken_hand_is_harmless);
	tcase_add_test(cases, a_hand_of_less);
	tcase_add_test(cases, a_hand_that_claims_more);
	tcase_add_test(cases, reports);
	tcase_add_test(cases, omissions);
	tcase_add_test(cases, buffers);
	tcase_add_test(cases, misuses);
	tcase_add_loop_test(cases, orders, 0, 2);
	tcase_add_test(cases, settings);
	tcase_add_test(cases, around);
	tcase_add_test(cases, full);
	tcase_add_test(cases, waking);
	tcase_add_test(cases, lies);
	tcase_add_test(cases, frames_to_the_reader);
	tcase_add_test(cases, frames_to_the_agent);
	tcase_add_loop_test(cases, no_frames, 0, G_N_ELEMENTS(strange));
	tcase_add_test(cases, chatter);
	tcase_add_test(cases, the_reader_is_gone);
	tcase_add_test(cases, the_agent_is_gone);
	tcase_add_test(cases, a_reload_at_the_end);
	return run_cases("handover", cases);
}
