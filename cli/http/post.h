/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers one HTTP request that brings spans: OTLP's, or one of Zipkin's. */
#ifndef HTTP_POST_H
#define HTTP_POST_H

#include <stdbool.h>

#include <event2/buffer.h>
#include <glib.h>

#include "base/buffer.h"

struct post {
	GPtrArray *spans;    /* of struct span2: what it brought; the caller's, appended to */
	struct buffer reply; /* the answer; the caller's, appended to */
	char refused[256];   /* why it was answered with an error, or "" */
	bool close;          /* the connection ends behind the answer */
	size_t walked; /* of a request that is not whole: what is known of its chunks; the caller's to keep, 0
			  at first */
};

/* Takes a request from the front of @input; false, having taken nothing, while it is not whole. */
bool post_take(struct evbuffer *input, struct post *post);

#endif
