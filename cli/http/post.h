/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers one HTTP request that brings spans: OTLP's, or one of Zipkin's. */
#ifndef HTTP_POST_H
#define HTTP_POST_H

#include <stdbool.h>

#include <event2/buffer.h>
#include <glib.h>

#include "base/buffer.h"
#include "net/httprequest.h"

/* What a connection brings over HTTP, one request after the other; zeroed but for post_begin. */
struct post {
	GPtrArray *spans;           /* of struct span2: what it brought; the caller's, appended to */
	struct buffer reply;        /* to be sent; the caller's to empty */
	char refused[256];          /* why it was answered with an error, or ""; the caller's to empty */
	bool close;                 /* the connection ends behind the answer */
	struct httprequest request; /* under way */
};

void post_begin(struct post *post);

/*
 * Takes what has come from the front of @input, up to a request's end; false while it is not whole. There may
 * be something to send all the same, for a client that waits for that before it goes on.
 */
bool post_take(struct evbuffer *input, struct post *post);

/* Whether a request has begun, and is not whole. */
bool post_is_unfinished(const struct post *post);

/* Frees what it has, but for the spans. */
void post_end(struct post *post);

#endif
