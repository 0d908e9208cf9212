/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes to `blkin collect` over HTTP on one connection: the first byte says in which pieces. The answers
 * and the spans are the same as if it came at once.
 */
#include "fuzz.h"

#include <string.h>

#include "http/post.h"
#include "status/trace/span2.h"

struct outcome {
	GPtrArray *spans;
	struct buffer replies;
	size_t left; /* of what came */
	bool closed;
};

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

/* The status of the answer, behind what told a client to go on. */
static const char *status_of(const struct buffer *reply)
{
	const char *at = (const char *)reply->data;
	size_t before = sizeof(CONTINUE) - 1;

	if (reply->size > before && !memcmp(at, CONTINUE, before))
		at += before;
	fuzz_hold(at + 12 < (const char *)reply->data + reply->size && !memcmp(at, "HTTP/1.1 ", 9),
		"it is answered");
	return at + 9;
}

/* Answers what is whole, as a connection does. */
static void take(struct evbuffer *input, struct post *post, struct outcome *outcome)
{
	size_t before = evbuffer_get_length(input);

	while (!outcome->closed && post_take(input, post)) {
		size_t after = evbuffer_get_length(input);

		fuzz_hold(post->close || after < before, "a request takes some of what is there");
		fuzz_hold(!post_is_unfinished(post), "the next one begins at its beginning");
		fuzz_hold((*status_of(&post->reply) >= '4') == (*post->refused != '\0'),
			"as refused, if it is");
		buffer_put(&outcome->replies, post->reply.data, post->reply.size);
		outcome->closed = post->close;
		post->reply.size = 0;
		*post->refused = '\0';
		before = after;
	}
}

static struct outcome run(const uint8_t *data, size_t size, size_t step)
{
	struct outcome outcome = {.spans = g_ptr_array_new_with_free_func(span2_free)};
	struct evbuffer *input = evbuffer_new();
	struct post post;

	post_begin(&post);
	post.spans = outcome.spans;
	for (size_t at = 0; at < size && !outcome.closed; at += step) {
		evbuffer_add(input, data + at, MIN(step, size - at));
		take(input, &post, &outcome);
	}
	outcome.left = evbuffer_get_length(input);
	evbuffer_free(input);
	post_end(&post);
	return outcome;
}

static void end(struct outcome *outcome)
{
	g_ptr_array_unref(outcome->spans);
	buffer_free(&outcome->replies);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct outcome whole, pieces;

	if (size < 1)
		return 0;
	whole = run(data + 1, size - 1, size);
	pieces = run(data + 1, size - 1, 1 + (size_t)data[0] * 3);
	fuzz_hold(whole.replies.size == pieces.replies.size &&
			  (!whole.replies.size ||
				  !memcmp(whole.replies.data, pieces.replies.data, whole.replies.size)),
		"in pieces it is answered in the same way");
	fuzz_hold(whole.spans->len == pieces.spans->len, "and has as many spans");
	fuzz_hold(whole.closed == pieces.closed, "and ends the connection, or not");
	fuzz_hold(whole.closed || whole.left == pieces.left, "and leaves as much");
	end(&whole);
	end(&pieces);
	return 0;
}
