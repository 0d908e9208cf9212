/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What clients of gRPC send, in frames of HTTP/2: the first byte says in which pieces it comes, the second
 * one how calls are answered, and whether the preface is there already. Whatever it is, what is held is
 * bounded, and each call is answered once.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "net/grpcserver.h"

#define CALLS 4
#define MESSAGE_MAX 70000
/* What one call's may take while they come: five frames. */
#define HEADERS (2 * 5 * 16384)

static const char *const methods[] = {GRPCSERVER_OTLP_TRACES, GRPCSERVER_OTLP_LOGS};
static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";

struct run {
	struct grpcserver *server;
	GArray *waiting; /* of uint32_t: calls to be answered */
	bool later;
};

static void answer(struct run *run, uint32_t call)
{
	static const struct grpcserver_answer answers[] = {
		{.status = GRPCSERVER_OK, .message = "abc", .size = 3},
		{.status = GRPCSERVER_OK},
		{.status = GRPCSERVER_RESOURCE_EXHAUSTED, .words = "100 % full", .retry_after = 1500},
		{.status = GRPCSERVER_UNAVAILABLE, .words = "later"},
	};

	grpcserver_answer(run->server, call, &answers[call / 2 % G_N_ELEMENTS(answers)]);
}

static void on_call(void *data, uint32_t call, size_t method, struct buffer *message)
{
	struct run *run = data;

	fuzz_hold(method < G_N_ELEMENTS(methods) && message->size <= MESSAGE_MAX, "a call is one");
	fuzz_hold(grpcserver_state(run->server).unanswered <= CALLS, "calls are bounded");
	if (call & 2)
		buffer_free(message);
	if (run->later)
		g_array_append_val(run->waiting, call);
	else
		answer(run, call);
}

static void on_refused(void *data, size_t method, const char *why)
{
	(void)data;
	fuzz_hold(method <= G_N_ELEMENTS(methods) && fuzz_is_printable(why), "a refusal has a reason");
}

static void answer_all(struct run *run)
{
	while (run->waiting->len) {
		answer(run, g_array_index(run->waiting, uint32_t, 0));
		g_array_remove_index(run->waiting, 0);
	}
}

static void listen(struct run *run)
{
	struct buffer out = {0};

	grpcserver_take_output(run->server, &out, SIZE_MAX);
	buffer_free(&out);
}

static void feed(struct run *run, const uint8_t *data, size_t size, int64_t now)
{
	/* A copy of its own, so that the sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size ? size : 1);
	struct grpcserver_state state;

	memcpy(copy, data, size);
	grpcserver_feed(run->server, copy, size, now);
	free(copy);
	state = grpcserver_state(run->server);
	fuzz_hold(state.bytes <= CALLS * 2 * GRPCSERVER_WINDOW + 2 * MESSAGE_MAX + CALLS * 1536 + HEADERS,
		"memory is bounded");
	fuzz_hold(state.unfinished + state.unanswered <= CALLS, "calls are bounded");
	fuzz_hold(state.unanswered == run->waiting->len, "each call waits for its answer");
	if (grpcserver_why(run->server))
		fuzz_hold(fuzz_is_printable(grpcserver_why(run->server)), "words are printable");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct run run = {0};
	struct unsqueeze *unsqueeze = unsqueeze_create();
	struct grpcserver_options options = {.methods = methods,
		.method_count = G_N_ELEMENTS(methods),
		.unknown = "unknown",
		.calls = CALLS,
		.message_max = MESSAGE_MAX,
		.unsqueeze = unsqueeze,
		.on_call = on_call,
		.on_refused = on_refused,
		.data = &run};
	int64_t now = NS_PER_SECOND;

	if (size >= 2) {
		size_t step = data[0] == 255 ? size : 1 + (size_t)data[0];

		run = (struct run){grpcserver_create(&options), g_array_new(FALSE, FALSE, sizeof(uint32_t)),
			data[1] & 1};
		if (!(data[1] & 2))
			feed(&run, (const uint8_t *)preface, sizeof(preface) - 1, now);
		for (size_t at = 2; at < size; at += step, now += NS_PER_MS) {
			feed(&run, data + at, MIN(step, size - at), now);
			if (data[1] & 4 && at % 3 == 0)
				answer_all(&run);
			listen(&run);
		}
		if (data[1] & 8)
			grpcserver_stop(run.server);
		if (!(data[1] & 16))
			answer_all(&run);
		listen(&run);
		grpcserver_destroy(run.server);
		g_array_unref(run.waiting);
	}
	unsqueeze_destroy(unsqueeze);
	return 0;
}
