/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compression of HTTP's bodies, at the quickest level: spans are so alike that the others gain little and
 * take long.
 */
#ifndef NET_SQUEEZE_H
#define NET_SQUEEZE_H

#include <stddef.h>

#include "base/buffer.h"

enum squeeze_kind { SQUEEZE_NONE, SQUEEZE_GZIP, SQUEEZE_ZSTD };

struct squeeze_piece {
	const void *data; /* may be NULL if @size is 0 */
	size_t size;
};

struct squeeze;

struct squeeze *squeeze_create(enum squeeze_kind kind);
void squeeze_destroy(struct squeeze *squeeze);

/* HTTP's name of it, for Content-Encoding; NULL for SQUEEZE_NONE. */
const char *squeeze_encoding(const struct squeeze *squeeze);

/* Appends to @out the body that consists of the pieces, compressed. Each body stands alone. */
void squeeze_put(
	struct squeeze *squeeze, const struct squeeze_piece *pieces, size_t count, struct buffer *out);

#endif
