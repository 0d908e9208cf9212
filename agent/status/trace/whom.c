/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/whom.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

void whom_name(struct whom *whom, struct text text)
{
	size_t size = MIN(text.size, sizeof(whom->name) - 1);

	memcpy(whom->name, text.data ? text.data : "", size);
	memset(whom->name + size, 0, sizeof(whom->name) - size);
}

const char *whom_kind_name(enum whom_kind kind)
{
	static const char *const names[WHOM_KINDS] = {[WHOM_UNKNOWN] = "unknown",
		[WHOM_THREAD] = "thread",
		[WHOM_IDLE] = "idle",
		[WHOM_INTERRUPT] = "interrupt",
		[WHOM_SOFTIRQ] = "softirq",
		[WHOM_TIMER] = "timer",
		[WHOM_OTHERS] = "others"};

	return names[kind];
}

/* The vectors, as <linux/interrupt.h> has them. */
static const char *softirq_name(int64_t vector)
{
	static const char *const names[] = {
		"hi", "timer", "net_tx", "net_rx", "block", "irq_poll", "tasklet", "sched", "hrtimer", "rcu"};

	return vector >= 0 && vector < (int64_t)G_N_ELEMENTS(names) ? names[vector] : "?";
}

bool whom_put(
	struct buffer *out, const struct whom *whom, void (*put_name)(struct buffer *out, const char *name))
{
	switch (whom->kind) {
	case WHOM_UNKNOWN:
	case WHOM_KINDS:
		return false;
	case WHOM_THREAD:
		put_name(out, *whom->name ? whom->name : "a thread");
		if (whom->number != WHOM_NO_NUMBER)
			buffer_printf(out, " (%" PRId64 ")", whom->number);
		break;
	case WHOM_IDLE:
		buffer_printf(out, "nobody");
		break;
	case WHOM_INTERRUPT:
		if (whom->number == WHOM_NO_NUMBER) {
			buffer_printf(out, "an interrupt");
			break;
		}
		put_name(out, *whom->name ? whom->name : "a device");
		buffer_printf(out, " (interrupt %" PRId64 ")", whom->number);
		break;
	case WHOM_SOFTIRQ:
		buffer_printf(out, "a softirq (%s)", softirq_name(whom->number));
		break;
	case WHOM_TIMER:
		buffer_printf(out, "a timer");
		break;
	case WHOM_OTHERS:
		buffer_printf(out, "others");
		break;
	}
	return true;
}
