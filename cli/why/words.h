/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: what was found out, in words. Names that programs chose are made safe for a terminal. */
#ifndef WHY_WORDS_H
#define WHY_WORDS_H

#include "base/buffer.h"
#include "why/collect.h"

/* The events that tell all of it, as [kernel] has them. */
#define WORDS_EVENTS                                                                                         \
	"sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*, timer_hrtimer_expire_*"

/* "holder (4312)", "virtio2-req.0 (interrupt 27)", "an interrupt". Returns false, and appends nothing, if
 * nothing is known. */
bool words_whom(struct buffer *out, const struct whom *whom);

/* "80.1 ms", to the µs. */
void words_time(struct buffer *out, int64_t ns);

/* "mostly waiting for a lock: futex, 80 ms of 95 ms; woken by holder (4312)" */
void words_cause(struct buffer *out, const struct why_span *span, const struct why *why);

/* What the traces do not tell, and what has to be recorded for that, a sentence each: calls @put for each. */
void words_missing(const struct why *why, void (*put)(void *data, const char *sentence), void *data);

#endif
