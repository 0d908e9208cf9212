/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The head of an HTTP/1 request, line by line: no I/O, and nothing is trusted. It is as strict as RFC 9112
 * lets a server be, so that nobody before this server can have read another request in the same bytes.
 */
#ifndef NET_HTTPHEAD_H
#define NET_HTTPHEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header by which agents tell each other the numbers of core/via.h, in hexadecimal; and so many of them.
 */
#define HTTPHEAD_VIA "Blkin-Via"
#define HTTPHEAD_VIA_MAX 32

struct httphead {
	char method[16];
	char path[128];    /* as it came, but without a query, and without a server before it */
	char type[64];     /* Content-Type in lower case, without parameters; "" if there is none */
	char encoding[32]; /* Content-Encoding, the same */
	uint64_t via[HTTPHEAD_VIA_MAX]; /* of Blkin-Via: core/via.h */
	unsigned via_count;
	int minor;       /* 0 or 1: HTTP/1.0 or HTTP/1.1 */
	uint64_t length; /* of the body, */
	bool has_length; /* if the head says it */
	bool chunked;    /* the body says where it ends */
	bool expects;    /* 100 Continue, before it sends the body */
	bool close;      /* the client's last request on this connection */
	bool keep;       /* it is HTTP/1.0, and yet there may be another */
	/* its own */
	bool begun, asks_close, asks_keep;
	unsigned seen; /* headers that may come once */
	const char *why;
};

/*
 * Takes a line, without its end; the first one into a zeroed @head. Returns 0, or the status that refuses the
 * request, with a sentence in head->why. The connection has to be closed then.
 */
int httphead_take(struct httphead *head, const char *line, size_t size);

/* The empty line has come; returns as above. */
int httphead_finish(struct httphead *head);

/* Whether it is a line as headers are, also behind a body. */
bool httphead_is_header(const char *line, size_t size);

#endif
