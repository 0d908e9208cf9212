/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A POST over HTTP/1.1, as bytes: what the wires over HTTP have in common. Their bodies differ.
 *
 * libevent's own HTTP client is not used: it keeps the socket to itself, so look-ups, addresses, TLS and what
 * was written of a call would all be done twice, and it sends one request at a time.
 */
#ifndef WIRE_HTTPPOST_H
#define WIRE_HTTPPOST_H

#include <stdbool.h>

#include "base/address.h"
#include "base/buffer.h"
#include "wire/squeeze.h"

struct httppost_options {
	const struct address *server;  /* for the Host header */
	const char *path;              /* as /api/v1/spans */
	const char *content_type;      /* of the body before it is compressed */
	const char *headers_file;      /* as in httpheaders.h; "" for none */
	enum squeeze_kind compression; /* of bodies */
};

struct httppost {
	struct buffer head;    /* of each request, to the headers of the file */
	struct buffer headers; /* of the file */
	char *headers_file;    /* NULL: none */
	struct squeeze *squeeze;
};

/* What @options refers to is copied. */
void httppost_init(struct httppost *post, const struct httppost_options *options);
void httppost_free(struct httppost *post);

/*
 * Reads the headers' file, as it may have changed. False if it does not do, with one sentence in @why, of
 * @size bytes. Due before the first call on each connection.
 */
bool httppost_ready(struct httppost *post, char *why, size_t size);

/* Appends a request to @out, whose body is the @count pieces one after the other. */
void httppost_put(
	struct httppost *post, const struct squeeze_piece *pieces, size_t count, struct buffer *out);

#endif
