/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LTTng's tracepoints, with one look-up of the thread's RCU reader for each event: in a library, that is a
 * call, and the inlined RCU would make four. To be included before any other header of LTTng or of urcu.
 */
#ifndef READER_H
#define READER_H

#include <urcu/tls-compat.h>

#if defined(CONFIG_RCU_TLS) && defined(_LGPL_SOURCE)
struct lttng_ust_urcu_reader;
/* The address is the same throughout an event, which the attribute says. */
static struct lttng_ust_urcu_reader **address_of_lttng_ust_urcu_reader(void)
	__attribute__((const, noinline, unused));
#undef URCU_TLS
#define URCU_TLS(name) (*address_of_##name())
#include <lttng/tracepoint.h>
#undef URCU_TLS
#define URCU_TLS(name) (name)

static struct lttng_ust_urcu_reader **address_of_lttng_ust_urcu_reader(void)
{
	return &URCU_TLS(lttng_ust_urcu_reader);
}
#endif

#endif
