/* SPDX-License-Identifier: BSD-2-Clause */
/* A growing run of bytes. Owned by whoever declares it; zero-initialised is empty; buffer_free ends it. */
#ifndef BUFFER_H
#define BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buffer {
	uint8_t *data;
	size_t size;
	size_t room;
};

/* Makes room for @more bytes behind the end and returns where they go; the caller raises size by what it
 * wrote. */
uint8_t *buffer_reserve(struct buffer *buffer, size_t more);

void buffer_free(struct buffer *buffer);

static inline void buffer_put(struct buffer *buffer, const void *data, size_t size)
{
	if (size) /* @data may be NULL for none */
		memcpy(buffer_reserve(buffer, size), data, size);
	buffer->size += size;
}

/* Appends text, as printf. */
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
