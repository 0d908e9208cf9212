/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A payload: a run of spans as one document, which a POST or a message of Kafka carries. There are two kinds:
 * Zipkin's lists (zipkinlist.c) and OTLP's request (otlprequest.c).
 */
#ifndef NET_PAYLOAD_H
#define NET_PAYLOAD_H

#include "net/squeeze.h"
#include "net/wire.h"

#define PAYLOAD_PIECES 2

struct payload {
	/* Puts the document into @pieces, and returns how many there are. They borrow from @run, and are
	 * valid until the next call. */
	size_t (*put)(
		struct payload *payload, const struct run *run, struct squeeze_piece pieces[PAYLOAD_PIECES]);

	void (*destroy)(struct payload *payload);

	const char *content_type; /* what follows "application/" */
};

/* Appends the document to @out. */
static inline void payload_append(struct payload *payload, const struct run *run, struct buffer *out)
{
	struct squeeze_piece pieces[PAYLOAD_PIECES];
	size_t count = payload->put(payload, run, pieces);

	for (size_t i = 0; i < count; i++)
		buffer_put(out, pieces[i].data, pieces[i].size);
}

#endif
