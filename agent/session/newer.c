/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/newer.h"

#include <stddef.h>

/*
 * How often the consumer daemon looks for events whose programs are gone, in µs. It is LTTng's own default
 * today: from that much later on, spans of the others come again, before the agent takes the stream for stuck
 * and replaces the session, after five seconds.
 */
#define WATCHDOG_US 2000000
/*
 * All memory of the rings is taken when they are made, and never given back. LTTng could do either later, but
 * a program that records into memory that is not there yet, while somebody has filled /dev/shm, is killed by
 * SIGBUS.
 */
#define PREALLOCATE 0

#define TRACE_FORMAT_CTF_1_8 1

/* The names are ours, as later headers do declare these. */
#define LATER(result, name, called, ...) extern result name(__VA_ARGS__) __asm__(called) __attribute__((weak))

LATER(int, set_trace_format, "lttng_session_descriptor_set_trace_format",
	struct lttng_session_descriptor *descriptor, unsigned format);
LATER(int, set_watchdog, "lttng_channel_set_watchdog_timer_interval", struct lttng_channel *channel,
	uint64_t period);
LATER(int, set_preallocation, "lttng_channel_set_preallocation_policy", struct lttng_channel *channel,
	unsigned policy);

bool newer_heals(void)
{
	return &set_watchdog != NULL;
}

void newer_write_ctf_1(struct lttng_session_descriptor *descriptor)
{
	if (&set_trace_format)
		set_trace_format(descriptor, TRACE_FORMAT_CTF_1_8);
}

void newer_tune(struct lttng_channel *channel)
{
	if (&set_watchdog)
		set_watchdog(channel, WATCHDOG_US);
	if (&set_preallocation)
		set_preallocation(channel, PREALLOCATE);
}
