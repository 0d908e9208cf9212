/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/buffer.h"

#include <stdarg.h>
#include <stdlib.h>

#include <glib.h>

#include "base/memory.h"

void buffer_grow(struct buffer *buffer, size_t more)
{
	size_t need = buffer->size + more, room = buffer->room ? buffer->room : 256;

	while (room < need)
		room *= 2;
	buffer->data = memory_resize(buffer->data, room);
	buffer->room = room;
}

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	memset(buffer, 0, sizeof(*buffer));
}

void buffer_empty(struct buffer *buffer, size_t kept)
{
	buffer->size = 0;
	if (buffer->room > kept)
		buffer_free(buffer);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	buffer_put(buffer, text, strlen(text));
	g_free(text);
}
