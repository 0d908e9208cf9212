/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a server sends: the first byte says whether it is Scribe or HTTP, and in which pieces it comes. The
 * replies are the same as if it came at once, and each takes some of it.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "net/httpreply.h"
#include "net/scribecall.h"
#include "net/scribereply.h"

static enum reply_kind read_one(bool http, const uint8_t *data, size_t size, struct reply *reply)
{
	/* A copy of its own, so that the sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size ? size : 1);
	enum reply_kind kind;

	memcpy(copy, data, size);
	memset(reply, 0, sizeof(*reply));
	kind = http ? httpreply_read(copy, size, reply) : scribereply_read(copy, size, reply);
	for (uint32_t i = 0; i < reply->wanted_count; i++)
		scribecall_wanted(reply->wanted, i);
	fuzz_hold(reply->hears || !reply->wanted_count, "only who says so names traces");
	free(copy);
	fuzz_hold(memchr(reply->words, '\0', sizeof(reply->words)) != NULL, "words end");
	fuzz_hold(fuzz_is_printable(reply->words), "words are printable");
	fuzz_hold(reply->wait_ns >= 0, "a wait is not negative");
	if (kind != REPLY_PARTIAL && kind != REPLY_GARBAGE)
		fuzz_hold(reply->used > 0 && reply->used <= size, "a reply takes some of what is there");
	return kind;
}

/* Lets @step bytes more come at a time, as a connection does; returns the first reply that is there. */
static enum reply_kind read_slowly(
	bool http, const uint8_t *data, size_t size, size_t step, struct reply *reply)
{
	enum reply_kind kind = REPLY_PARTIAL;

	for (size_t have = step; kind == REPLY_PARTIAL && have < size; have += step)
		kind = read_one(http, data, have, reply);
	return kind == REPLY_PARTIAL ? read_one(http, data, size, reply) : kind;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reply whole, slow;
	enum reply_kind kind, slow_kind;
	bool http;
	size_t step;

	if (size < 1)
		return 0;
	http = data[0] & 1;
	step = 1 + data[0] / 2 * 3;
	data++;
	size--;
	while (size > 0) {
		kind = read_one(http, data, size, &whole);
		slow_kind = read_slowly(http, data, size, step, &slow);
		if (kind == REPLY_PARTIAL || kind == REPLY_GARBAGE)
			return 0;
		/* One without a length lasts to the end of what is there. */
		fuzz_hold(whole.last || slow_kind == kind, "a reply in pieces is the same");
		fuzz_hold(whole.last || slow.used == whole.used, "a reply in pieces is as long");
		if (whole.last)
			return 0;
		data += whole.used;
		size -= whole.used;
	}
	return 0;
}
