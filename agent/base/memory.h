/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocation for data that carries spans. It waits instead of failing.
 *
 * When the system has no memory, these functions wait and try again, so that no span is lost because of one
 * failure; limits elsewhere keep the requests small. A lasting shortage is logged; one that never ends trips
 * the watchdog.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* Returns @size zero bytes, which the caller frees with free(). Never NULL. */
void *memory_get(size_t size);

/* Resizes @data, which may be NULL, to @size bytes, like realloc. Never NULL. */
void *memory_resize(void *data, size_t size);

/*
 * Large blocks are mapped each for itself from now on, so that pages of them which nobody touches take no
 * memory. glibc gives that up for all sizes of which one was freed once, unless it is told not to. To be
 * called at the start.
 */
void memory_keep_large_apart(void);

/* Returns @size zero bytes of which only what is touched takes memory, whatever malloc keeps of others'.
 * Never NULL; memory_unmap. */
void *memory_map(size_t size);
void memory_unmap(void *data, size_t size);

/* What batches took is kept for the next ones, a few megabytes of it, rather than mapped again for each. To
 * be called at the start. */
void memory_keep_batches(void);

/* Gives what was freed back to the system: for when much of it was. */
void memory_give_back(void);

/* From now on a failure ends the process: for one that another takes over from. */
void memory_wait_not(void);

/* Makes libevent allocate from here too. Call it before libevent's first use. */
void memory_serve_libevent(void);

#endif
