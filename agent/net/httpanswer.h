/* SPDX-License-Identifier: BSD-2-Clause */
/* A server's answers in HTTP/1.1. */
#ifndef NET_HTTPANSWER_H
#define NET_HTTPANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "net/httphead.h"

struct httpanswer {
	int status;
	const char *type; /* of the body; NULL if there is none */
	const void *body; /* borrowed */
	size_t size;
	unsigned retry_after; /* seconds; 0: it does not say */
	const char *more;     /* header lines, each with its end; NULL: none */
	bool close;           /* nothing follows, whatever the client asked for */
};

/* Appends the answer to a request with this head. One that is bad is the connection's last. */
void httpanswer_put(struct buffer *out, const struct httphead *head, const struct httpanswer *answer);

/* Appends 100 Continue. */
void httpanswer_put_continue(struct buffer *out);

#endif
