/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A clock plugin for LTTng (LTTNG_UST_CLOCK_PLUGIN) whose clock goes back by a second, five times in two
 * seconds. Apart from that it is LTTng's own. Built with -DAHEAD, it is $AHEAD ns ahead instead; with
 * -DSTILL, it stays at what it was when it was read first.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <lttng/ust-clock.h>

#define NS_PER_SECOND UINT64_C(1000000000)
#define TURN_NS UINT64_C(200000000)

__attribute__((visibility("default"))) void lttng_ust_clock_plugin_init(void);

#ifdef STILL
static uint64_t stand_still(uint64_t now)
{
	static _Atomic uint64_t first;
	uint64_t none = 0;

	return atomic_compare_exchange_strong(&first, &none, now) ? now : none;
}
#endif

static uint64_t read_clock(void)
{
	struct timespec time;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &time);
	now = (uint64_t)time.tv_sec * NS_PER_SECOND + (uint64_t)time.tv_nsec;
#ifdef AHEAD
	return now + strtoull(getenv("AHEAD"), NULL, 10);
#endif
#ifdef STILL
	return stand_still(now);
#endif
	return now / TURN_NS % 2 ? now - NS_PER_SECOND : now;
}

static uint64_t frequency(void)
{
	return NS_PER_SECOND;
}

static const char *name(void)
{
	return "monotonic";
}

/* LTTng takes nothing less than all of these. */
void lttng_ust_clock_plugin_init(void)
{
	if (lttng_ust_trace_clock_set_read64_cb(read_clock) != 0 ||
		lttng_ust_trace_clock_set_freq_cb(frequency) != 0 ||
		lttng_ust_trace_clock_set_name_cb(name) != 0 ||
		lttng_ust_trace_clock_set_description_cb(name) != 0 ||
		lttng_ust_enable_trace_clock_override() != 0)
		abort();
}
