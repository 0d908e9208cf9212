/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A growing array of bytes, owned by whoever declares it. Zero-initialised, it is empty; buffer_free ends it.
 */
#ifndef BASE_BUFFER_H
#define BASE_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buffer {
	uint8_t *data;
	size_t size;
	size_t room;
};

/* Makes it larger, so that @more bytes fit behind the end. */
void buffer_grow(struct buffer *buffer, size_t more);

/*
 * Makes room for @more bytes behind the end and returns their address; the caller adds what it wrote to size.
 */
static inline uint8_t *buffer_reserve(struct buffer *buffer, size_t more)
{
	if (more > buffer->room - buffer->size || !buffer->data)
		buffer_grow(buffer, more);
	return buffer->data + buffer->size;
}

void buffer_free(struct buffer *buffer);

/* Empties it. Its room is kept for the next time, unless that is more than @kept. */
void buffer_empty(struct buffer *buffer, size_t kept);

static inline void buffer_put(struct buffer *buffer, const void *data, size_t size)
{
	if (size) /* @data may be NULL if @size is 0 */
		memcpy(buffer_reserve(buffer, size), data, size);
	buffer->size += size;
}

/* Appends text, like printf. */
void buffer_printf(struct buffer *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
