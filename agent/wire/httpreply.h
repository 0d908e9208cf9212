/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector's HTTP answer to a POST of spans. Everything in it is untrusted; of its body only
 * what fits in a log line is read.
 *
 *     2xx                      it took the spans
 *     400, 413, 422            it does not take these
 *     408, 425, 429, 5xx       not now; Retry-After is honoured; 408 also ends the connection
 *     any other                it takes nothing here: wrong path, no permission, another kind of server, or
 * not in this form (415; a 400 that says so of the encoding)
 */
#ifndef WIRE_HTTPREPLY_H
#define WIRE_HTTPREPLY_H

#include "wire/wire.h"

/* Of an answer, what struct reply does not have. */
struct httpreply {
	int status;
	char reason[64], location[128], accepts[64];
	const uint8_t *body; /* borrowed from the answer; of one in several chunks, the beginning */
	size_t body_size;
	uint8_t joined[1024]; /* where that is then */
};

/* As a wire's get_reply. */
enum reply_kind httpreply_read(const uint8_t *data, size_t size, struct reply *reply);

/* The same without the words; and the words, which end with @text of @size bytes. */
enum reply_kind httpreply_parse(
	const uint8_t *data, size_t size, struct reply *reply, struct httpreply *http);
void httpreply_say(struct reply *reply, const struct httpreply *http, const uint8_t *text, size_t size);

#endif
