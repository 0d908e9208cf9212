/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <event2/event.h>
#include <malloc.h>

#include "base/log.h"

/* The time between two tries, and the number of tries after which the shortage is logged. */
#define PAUSE_NS 1000000
#define TRIES_UNTIL_SAID 1000
/* What babeltrace2 has for each stream of a live session, most of it never touched. */
#define LARGE (256 * 1024)
/* What may be kept for the next batches: those of a burst, which are half a megabyte each. */
#define KEPT (4 * 1024 * 1024)

static bool wait_not;

void memory_wait_not(void)
{
	wait_not = true;
}

/* Waits a little before the next try. */
static void wait_for_memory(unsigned tries)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (wait_not)
		abort();
	if (tries == TRIES_UNTIL_SAID)
		log_warning("out of memory: waiting until the system has more");
	nanosleep(&pause, NULL);
}

void *memory_resize(void *data, size_t size)
{
	void *resized;

	if (size == 0)
		size = 1;
	for (unsigned tries = 1; !(resized = realloc(data, size)); tries++)
		wait_for_memory(tries);
	return resized;
}

void *memory_get(size_t size)
{
	return memset(memory_resize(NULL, size), 0, size);
}

void *memory_map(size_t size)
{
	void *data;

	for (unsigned tries = 1; (data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
					  -1, 0)) == MAP_FAILED;
		tries++)
		wait_for_memory(tries);
	return data;
}

void memory_unmap(void *data, size_t size)
{
	munmap(data, size);
}

static void *get_for_libevent(size_t size)
{
	return memory_resize(NULL, size);
}

void memory_serve_libevent(void)
{
	event_set_mem_functions(get_for_libevent, memory_resize, free);
}

void memory_keep_large_apart(void)
{
	mallopt(M_MMAP_THRESHOLD, LARGE);
}

void memory_keep_batches(void)
{
	mallopt(M_MMAP_THRESHOLD, KEPT);
	mallopt(M_TRIM_THRESHOLD, KEPT);
}

void memory_give_back(void)
{
	malloc_trim(0);
}
