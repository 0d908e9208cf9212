/* SPDX-License-Identifier: BSD-2-Clause */
/* Which spans `blkin tail` shows: what the agent is asked for, and what only a look at the span can tell. */
#ifndef LOOK_WANTED_H
#define LOOK_WANTED_H

#include <stdbool.h>

#include <glib.h>

#include "status/trace/span2.h"
#include "supervise/tailfilter.h"

struct wanted {
	struct tail_filter filter;
	uint64_t trace_high; /* of a trace id of 128 bits */
	GPtrArray *tags;     /* of "key=value" or "key", borrowed: the span has all of them */
};

/* Takes a value; false, having said what it should be, if it is none. */
bool wanted_duration(const char *text, int64_t *ns);
bool wanted_trace(struct wanted *wanted, const char *text);

bool wanted_has_error(const struct span2 *span);

bool wanted_takes(const struct wanted *wanted, const struct span2 *span);

/* Whether any span is wanted. @data: a struct wanted. */
bool wanted_takes_any(const void *data, const GPtrArray *spans);

#endif
