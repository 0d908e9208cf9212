/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reader/decode/spareclock.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#include <babeltrace2/babeltrace.h>

#include "base/clock.h"

/* LTTng counts its stream classes from 0. */
#define NO_STREAM_CLASS UINT64_MAX

static _Thread_local bool lends;
/* The clock class that was made last, of this trace or of another one of the session; owned. */
static _Thread_local bt_clock_class *newest;
/* The trace class that was made last, and who made it; borrowed. */
static _Thread_local const bt_trace_class *made;
static _Thread_local bt_self_component *maker;

void spareclock_lend(void)
{
	lends = true;
	BT_CLOCK_CLASS_PUT_REF_AND_RESET(newest); /* another session's has another offset */
}

bt_clock_class *bt_clock_class_create(bt_self_component *component)
{
	bt_clock_class *(*create)(bt_self_component * component);
	bt_clock_class *clock;

	*(void **)&create = dlsym(RTLD_NEXT, "bt_clock_class_create");
	clock = create(component);
	if (lends && clock) {
		BT_CLOCK_CLASS_PUT_REF_AND_RESET(newest);
		bt_clock_class_get_ref(clock);
		newest = clock;
	}
	return clock;
}

bt_trace_class *bt_trace_class_create(bt_self_component *component)
{
	bt_trace_class *(*create)(bt_self_component * component);
	bt_trace_class *trace_class;

	*(void **)&create = dlsym(RTLD_NEXT, "bt_trace_class_create");
	trace_class = create(component);
	made = trace_class;
	maker = component;
	return trace_class;
}

/* LTTng's clock, as near as can be told without its metadata. */
static void make_clock(void)
{
	int64_t offset = clock_wall() - clock_monotonic();
	bt_clock_class *clock = bt_clock_class_create(maker);

	if (!clock)
		return;
	bt_clock_class_set_offset(clock, offset / NS_PER_SECOND, (uint64_t)(offset % NS_PER_SECOND));
	bt_clock_class_put_ref(clock);
}

static void add_clock(bt_trace_class *trace_class)
{
	bt_stream_class *stream_class;

	if (!newest && made == trace_class)
		make_clock();
	stream_class = newest ? bt_stream_class_create_with_id(trace_class, NO_STREAM_CLASS) : NULL;
	if (stream_class)
		bt_stream_class_set_default_clock_class(stream_class, newest);
	bt_stream_class_put_ref(stream_class);
}

bt_trace *bt_trace_create(bt_trace_class *trace_class)
{
	bt_trace *(*create)(bt_trace_class * trace_class);

	*(void **)&create = dlsym(RTLD_NEXT, "bt_trace_create");
	if (lends && !bt_trace_class_assigns_automatic_stream_class_id(trace_class) &&
		bt_trace_class_get_stream_class_count(trace_class) == 0)
		add_clock(trace_class);
	return create(trace_class);
}
