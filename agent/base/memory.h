/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Memory for what carries spans, with patience.
 *
 * When the system has none to give, these wait and ask again: a span that is held is not lost because of one
 * refusal, and bounds elsewhere keep what we ask for small. A shortage that lasts is logged; one that never
 * ends is the watchdog's.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Returns @size bytes of zeros, the caller's until free(). Never NULL. */
void *memory_get(size_t size);

/* Makes @data (or NULL) @size bytes large, as realloc. Never NULL. */
void *memory_resize(void *data, size_t size);

/* Lets libevent take its memory from here too; before its first use. */
void memory_serve_libevent(void);

#endif
