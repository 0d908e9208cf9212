/* SPDX-License-Identifier: BSD-2-Clause */
/* The chunks in which the body of an HTTP/1 message may come: no I/O, and nothing is trusted. */
#ifndef NET_HTTPCHUNKS_H
#define NET_HTTPCHUNKS_H

#include <stddef.h>
#include <stdint.h>

enum httpchunks {
	HTTPCHUNKS_MORE, /* it is not whole */
	HTTPCHUNKS_DATA, /* there is a chunk */
	HTTPCHUNKS_END,  /* there is the end of all, with the lines behind the last chunk */
	HTTPCHUNKS_BAD
};

struct httpchunk {
	const uint8_t *data; /* borrowed */
	size_t size;
	size_t used; /* what it takes of the message */
};

/* Reads what is at the front of @data. */
enum httpchunks httpchunks_read(const uint8_t *data, size_t size, struct httpchunk *chunk);

#endif
