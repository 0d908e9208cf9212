/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The wire of POSTs over HTTP/1.1. What they carry differs, and how the answers are read.
 *
 * libevent's own HTTP client is not used: it keeps the socket to itself, so look-ups, addresses, TLS and what
 * was written of a call would all be done twice, and it sends one request at a time.
 */
#ifndef NET_HTTPPOST_H
#define NET_HTTPPOST_H

#include "base/address.h"
#include "net/payload.h"
#include "net/squeeze.h"
#include "net/wire.h"

struct httppost_options {
	const struct address *server;  /* for the Host header */
	const char *path;              /* as /api/v1/spans */
	const char *headers_file;      /* as in httpheaders.h, read for each connection; "" for none */
	const char *proxy;             /* where the connection ends; NULL or "" if it is the server */
	const char *proxy_secret_file; /* of its password; "" for none */
	enum squeeze_kind compression; /* of bodies */
	bool tells_via;                /* each request has the numbers of core/via.h */
};

/* How an answer is read: as a wire's get_reply. */
typedef enum reply_kind httppost_reader(const uint8_t *data, size_t size, struct reply *reply);

/* What @options refers to is copied; takes over @payload. */
struct wire *httppost_create(
	const struct httppost_options *options, struct payload *payload, httppost_reader *read_reply);

#endif
