/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/channelsize.h"

#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/*
 * A ring has many small sub-buffers rather than few large ones. No event is larger than one, and an element
 * of a sequence costs the reader a hundred bytes; a packet is read in one piece, of which babeltrace2 keeps
 * 256 KiB for each stream; and each turn of the live timer takes one, however little is in it, so they are
 * what a ring has when the consumer daemon lags.
 *
 * But each packet costs LTTng's daemons a third of a millisecond, whatever its size, as they ask each other
 * for metadata and pass an index on. So spans' rings have larger ones, where there are many all the same.
 * With still larger ones a sequence in a forged event would cost the reader most of its memory.
 */
#define SUB_BUFFERS_MIN 8
#define SUB_BUFFER_MIN (64 * 1024)
#define SUB_BUFFER_MAX (256 * 1024)
#define SUB_BUFFERS_MANY 16
#define SUB_BUFFER_LARGE (512 * 1024)
/* Files of each stream at the relay. */
#define RELAY_FILES 8

static _Atomic uint64_t grown;

uint64_t channelsize_memory(const struct config *config)
{
	return MAX(config->memory, atomic_load_explicit(&grown, memory_order_relaxed));
}

void channelsize_grow(uint64_t memory)
{
	atomic_store_explicit(&grown, memory, memory_order_relaxed);
}

/* The largest power of two that is not above @size. */
static uint64_t power_of_two(uint64_t size)
{
	return UINT64_C(1) << (63 - __builtin_clzll(size));
}

uint64_t channelsize_cpus(void)
{
	static _Atomic uint64_t cpus; /* glibc reads it from a file, each time */
	uint64_t are = atomic_load_explicit(&cpus, memory_order_relaxed);

	if (!are) {
		are = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);
		atomic_store_explicit(&cpus, are, memory_order_relaxed);
	}
	return are;
}

/*
 * A user's memory and disk are shared by as many rings and streams as there are CPUs; spans and other events
 * have half of them each, so that the latter never push out the former. The kernel counts as one more user.
 */
static void size_channel(
	const struct config *config, uint64_t memory, const char *name, struct lttng_channel_attr *attr)
{
	uint64_t shares = channelsize_cpus() *
			  (config_records_events(config) && strcmp(name, KERNEL_CHANNEL) != 0 ? 2 : 1);
	uint64_t ring = power_of_two(MAX(memory / shares, SUB_BUFFERS_MIN * SUB_BUFFER_MIN));

	if (!strcmp(name, CHANNEL) && ring >= SUB_BUFFERS_MANY * SUB_BUFFER_LARGE)
		attr->subbuf_size = SUB_BUFFER_LARGE;
	else
		attr->subbuf_size = MIN(ring / SUB_BUFFERS_MIN, SUB_BUFFER_MAX);
	attr->num_subbuf = ring / attr->subbuf_size;
	attr->tracefile_count = RELAY_FILES;
	attr->tracefile_size = MAX(config->disk / shares / RELAY_FILES, attr->subbuf_size);
}

void channelsize_of(const struct config *config, const char *name, struct lttng_channel_attr *attr)
{
	size_channel(config, strcmp(name, KERNEL_CHANNEL) != 0 ? channelsize_memory(config) : config->memory,
		name, attr);
}

static uint64_t sum_of(const struct config *config, uint64_t memory, const char *name)
{
	struct lttng_channel_attr attr = {0};

	size_channel(config, memory, name, &attr);
	return channelsize_cpus() * attr.subbuf_size * attr.num_subbuf;
}

uint64_t channelsize_sum(const struct config *config, uint64_t memory)
{
	return sum_of(config, memory, CHANNEL) +
	       (config_records_events(config) ? sum_of(config, memory, EVENTS_CHANNEL) : 0);
}
