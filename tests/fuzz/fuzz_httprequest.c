/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What clients send over HTTP/1: the first byte says in which pieces it comes. The requests are the same as
 * if it came at once, and take no more memory than they may.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "net/httpanswer.h"
#include "net/httprequest.h"

#define MOST 300

static void check_memory(const struct httprequest *request)
{
	fuzz_hold(request->line.size <= HTTPREQUEST_HEAD_MAX && request->body.size <= MOST,
		"memory is bounded");
}

static void tell_end(GString *told, const struct httprequest *request, enum httprequest_state state)
{
	if (state == HTTPREQUEST_BAD) {
		fuzz_hold(request->status >= 400 && request->status < 600 && fuzz_is_printable(request->why),
			"what is bad has a reason");
		fuzz_hold(request->head.close, "and is the last one");
		g_string_append_printf(told, "! %d %s\n", request->status, request->why);
		return;
	}
	fuzz_hold(!(request->head.chunked && request->head.has_length), "a body has one end");
	g_string_append_printf(told, "%s %s %s %s %d %d ", request->head.method, request->head.path,
		request->head.type, request->head.encoding, request->head.close, request->head.keep);
	g_string_append_len(
		told, request->body.data ? (const char *)request->body.data : "", (gssize)request->body.size);
}

static void put_answer(struct buffer *out, const struct httprequest *request)
{
	const struct httpanswer answer = {.status = request->status ? request->status : 200,
		.type = "text/plain",
		.body = "ok\n",
		.size = 3,
		.retry_after = (unsigned)request->body.size};

	httpanswer_put(out, &request->head, &answer);
}

/* Takes a piece; false if nothing more is taken. */
static bool take(
	struct httprequest *request, const uint8_t *data, size_t size, GString *told, struct buffer *out)
{
	/* A copy of its own, so that the sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size ? size : 1), *at = copy;
	enum httprequest_state state;
	size_t used;

	memcpy(copy, data, size);
	do {
		state = httprequest_feed(request, at, size, &used);
		fuzz_hold(used <= size, "no more is used than is there");
		fuzz_hold(used == size || state != HTTPREQUEST_MORE, "all is used, if more is wanted");
		at += used;
		size -= used;
		check_memory(request);
		if (state == HTTPREQUEST_HEAD && request->head.path[0] == '-')
			httprequest_skip(request);
		if (state == HTTPREQUEST_WHOLE || state == HTTPREQUEST_BAD) {
			tell_end(told, request, state);
			put_answer(out, request);
		}
		if (state == HTTPREQUEST_WHOLE)
			httprequest_next(request);
	} while (state == HTTPREQUEST_HEAD || state == HTTPREQUEST_WHOLE);
	free(copy);
	return state != HTTPREQUEST_BAD;
}

static GString *take_all(const uint8_t *data, size_t size, size_t step)
{
	struct httprequest request = {.most = MOST};
	GString *told = g_string_new("");
	struct buffer out = {0};

	for (size_t at = 0; at < size; at += step)
		if (!take(&request, data + at, MIN(step, size - at), told, &out))
			break;
	httprequest_free(&request);
	buffer_free(&out);
	return told;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	GString *whole, *slow;

	if (size < 2)
		return 0;
	whole = take_all(data + 1, size - 1, size - 1);
	slow = take_all(data + 1, size - 1, 1 + data[0]);
	fuzz_hold(g_string_equal(whole, slow), "requests in pieces are the same");
	g_string_free(whole, TRUE);
	g_string_free(slow, TRUE);
	return 0;
}
