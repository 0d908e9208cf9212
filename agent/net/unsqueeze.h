/* SPDX-License-Identifier: BSD-2-Clause */
/* Bodies that others compressed by gzip, which may be damaged, or bombs: the reverse of squeeze.h. */
#ifndef NET_UNSQUEEZE_H
#define NET_UNSQUEEZE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* 90 KB of memory for one body after the other, of any connection; used by one thread at a time. */
struct unsqueeze;

struct unsqueeze *unsqueeze_create(void);
void unsqueeze_destroy(struct unsqueeze *unsqueeze);

enum unsqueezed {
	UNSQUEEZED,
	UNSQUEEZED_DAMAGED, /* or not whole, or with something behind it, or far longer than its meaning */
	UNSQUEEZED_LARGE    /* it is more than @most bytes */
};

/*
 * Appends to @out what @size bytes mean: the members of a gzip file (RFC 1952), one or several, and nothing
 * else. Of one that is bad nothing is appended; what it took to find that out is no more than @most.
 */
enum unsqueezed unsqueeze_gzip(
	struct unsqueeze *unsqueeze, const uint8_t *data, size_t size, size_t most, struct buffer *out);

#endif
