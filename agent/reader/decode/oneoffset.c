/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reader/decode/oneoffset.h"

#include <dlfcn.h>

#include <babeltrace2/babeltrace.h>

static _Thread_local struct clock_offsets *offsets;

void oneoffset_use(struct clock_offsets *table)
{
	offsets = table;
}

/* In ns; false if that is more than a number holds. */
static bool read_offset(const bt_clock_class *clock, int64_t *offset)
{
	int64_t seconds;
	uint64_t cycles; /* less than a second's */

	bt_clock_class_get_offset(clock, &seconds, &cycles);
	return !__builtin_mul_overflow(seconds, NS_PER_SECOND, offset) &&
	       !__builtin_add_overflow(*offset, (int64_t)cycles, offset);
}

static void write_offset(bt_clock_class *clock, int64_t offset)
{
	int64_t seconds = offset / NS_PER_SECOND, rest = offset % NS_PER_SECOND;

	if (rest < 0) {
		seconds--;
		rest += NS_PER_SECOND;
	}
	bt_clock_class_set_offset(clock, seconds, (uint64_t)rest);
}

/* A clock without a uuid may be any; and what counts something else than nanoseconds is not LTTng's. */
static void settle(bt_clock_class *clock)
{
	bt_uuid uuid = bt_clock_class_get_uuid(clock);
	int64_t said, is;

	if (!offsets || !uuid || bt_clock_class_get_frequency(clock) != (uint64_t)NS_PER_SECOND ||
		!read_offset(clock, &said))
		return;
	is = clock_offsets_take(offsets, uuid, said);
	if (is != said)
		write_offset(clock, is);
}

bt_stream_class_set_default_clock_class_status bt_stream_class_set_default_clock_class(
	bt_stream_class *stream_class, bt_clock_class *clock)
{
	bt_stream_class_set_default_clock_class_status (*set)(bt_stream_class *, bt_clock_class *);

	*(void **)&set = dlsym(RTLD_NEXT, "bt_stream_class_set_default_clock_class");
	settle(clock);
	return set(stream_class, clock);
}
