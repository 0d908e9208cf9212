/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * HTTP/1 requests to a server, as their bytes come: no I/O, and nothing is trusted. A head takes 16 KiB at
 * most, and so do the lines in and behind a body in chunks; a body as much as the caller says. Memory is
 * taken as bytes come, whatever the head announces.
 *
 * httpchunks.h is not used: it wants a chunk in one piece, and forgives more than a server may.
 *
 * A request belongs to who declares it, zeroed, and to one thread at a time. To take what a connection has:
 *
 *     do {
 *             state = httprequest_feed(&request, data, size, &used), data += used, size -= used;
 *             HTTPREQUEST_HEAD: look at it; maybe say 100 Continue, or httprequest_skip
 *             HTTPREQUEST_WHOLE: answer, or keep request.body until it can be; httprequest_next
 *             HTTPREQUEST_BAD: answer request.status, and close
 *     } while (state != HTTPREQUEST_MORE);
 *
 * Several may come one after the other: what is behind a whole one is the next one's, and may wait.
 */
#ifndef NET_HTTPREQUEST_H
#define NET_HTTPREQUEST_H

#include "base/buffer.h"
#include "net/httphead.h"

#define HTTPREQUEST_HEAD_MAX (16 * 1024)

enum httprequest_state {
	HTTPREQUEST_MORE,  /* all was used */
	HTTPREQUEST_HEAD,  /* the head is there, and what follows is the body; said once */
	HTTPREQUEST_WHOLE, /* until httprequest_next */
	HTTPREQUEST_BAD    /* for good */
};

struct httprequest {
	size_t most;          /* of a body; the caller's to set, before the first byte */
	struct httphead head; /* from HTTPREQUEST_HEAD on */
	struct buffer body;   /* once it is whole; the caller may take it over, and leave zeroes */
	int status;           /* of one that is bad: 400, 413, 417, 431, 501, 505, */
	const char *why;      /* and what is wrong with it: a sentence about the peer, of static text */
	/* its own */
	struct buffer line; /* that is not whole */
	size_t lines;       /* bytes of lines so far */
	uint64_t left;      /* of the body, or of the chunk */
	uint64_t taken;     /* of the body */
	int step;
	bool skip;
};

/* Takes from the front of @data; *@used says how much. @size may be 0. */
enum httprequest_state httprequest_feed(
	struct httprequest *request, const uint8_t *data, size_t size, size_t *used);

/* At HTTPREQUEST_HEAD: whether the client waits for 100 Continue, and its body may come. */
bool httprequest_wants_continue(const struct httprequest *request);

/* At HTTPREQUEST_HEAD: the body is not kept, but the next request can be found behind it. */
void httprequest_skip(struct httprequest *request);

/* Another one may come. The body's memory is freed. */
void httprequest_next(struct httprequest *request);

/* Whether one has begun, and is not whole. */
bool httprequest_is_unfinished(const struct httprequest *request);

/* Memory that it has. */
static inline size_t httprequest_room(const struct httprequest *request)
{
	return request->line.room + request->body.room;
}

void httprequest_free(struct httprequest *request);

#endif
