/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs record that cannot be delivered as it is, and whose programs these are: the last case of each
 * kind, with its user, service and span. The ledger counts all of them.
 *
 * It is noted by the thread that reads, which must not work for each of a million such events: while a note
 * has not been taken, no other of its kind is written.
 */
#ifndef CORE_MISUSE_H
#define CORE_MISUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"

enum misuse_kind {
	MISUSE_MALFORMED, /* rejected: an event is not laid out as it should be */
	MISUSE_ID,        /* rejected: trace or span id 0 */
	MISUSE_TIME,      /* rejected: times that cannot be */
	MISUSE_CLOCK, /* packets end before they begin, by two clocks, or begin together: they may not come */
	MISUSE_TRUNCATED, /* a span came without some of its annotations or tags */
	MISUSES
};

struct misuse {
	bool has_user; /* it is known */
	uint32_t user;
	char service[64], span[64]; /* "" if unknown */
	char what[128];             /* it is, as the end of a sentence about the span */
};

struct misuses {
	unsigned fresh; /* a bit for each kind that is noted, and not taken */
	struct misuse of[MISUSES];
};

/* Notes a case; @event's user is known, and of its other members none is read. */
void misuse_note(struct misuses *misuses, enum misuse_kind kind, const struct event *event,
	struct text service, struct text span, const char *what, ...) __attribute__((format(printf, 6, 7)));

/* Whether a note of that kind would be written: if finding out more is work. */
static inline bool misuse_wanted(const struct misuses *misuses, enum misuse_kind kind)
{
	return !(misuses->fresh >> kind & 1);
}

/* One of them as others see it. */
struct misuse_state {
	int64_t at; /* when the last one was noted, CLOCK_MONOTONIC ns; 0: none was */
	struct misuse is;
};

#endif
