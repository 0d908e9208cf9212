/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTP/1 message that answers a POST. Everything in it is untrusted; of its body the beginning is kept. */
#ifndef NET_HTTPMESSAGE_H
#define NET_HTTPMESSAGE_H

#include "net/wire.h"

struct httpmessage {
	int minor, status;
	bool chunked, has_length, close, keep;
	bool html; /* its Content-Type says so */
	uint64_t length;
	int64_t wait_ns; /* of Retry-After */
	char reason[64], location[128], accepts[64];
	const uint8_t *body; /* borrowed from the answer; of one in several chunks, the beginning */
	size_t body_size;
	uint8_t joined[1024]; /* where that is then */
};

/*
 * Reads one message from the front of the bytes: REPLY_GOOD if it is whole, whatever it says, REPLY_PARTIAL
 * or REPLY_GARBAGE. What it says of the connection is in @reply. When nothing more comes, its head is enough:
 * what the server did with the call is said there.
 */
enum reply_kind httpmessage_read(
	const uint8_t *data, size_t size, struct reply *reply, struct httpmessage *message);

#endif
