/* SPDX-License-Identifier: BSD-2-Clause */
/* HTTP/1.1 requests as they come from a client: no I/O, and nothing is trusted. */
#ifndef HTTP_REQUEST_H
#define HTTP_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* More is no request of a program that sends spans. */
#define REQUEST_HEAD_MAX (16 * 1024)
#define REQUEST_BODY_MAX (15 * 1024 * 1024)

struct request {
	char method[16], path[256]; /* without a query */
	char type[64];     /* Content-Type, in lower case and without parameters; "" if there is none */
	char encoding[16]; /* Content-Encoding, the same */
	uint64_t length;   /* of the body, */
	bool sized;        /* which the head says */
	bool chunked;      /* then the length is not known */
	bool close;        /* the client asks for no other call on this connection */
};

enum request_state { REQUEST_MORE, REQUEST_WHOLE, REQUEST_BAD };

/* Reads a head from the front of @data; once it is whole, *@used is its size. */
enum request_state request_read(struct request *request, const uint8_t *data, size_t size, size_t *used);

/* Goes on over the chunks at the front of @data, of which *@walked bytes are known: 0 at first. */
enum request_state request_walk(const uint8_t *data, size_t size, size_t *walked);

/* Appends to @body what is in the chunks, once they are whole. */
void request_join(struct buffer *body, const uint8_t *data, size_t size);

#endif
