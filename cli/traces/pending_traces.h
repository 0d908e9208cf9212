/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces whose spans still arrive: a trace is held until no span of it has arrived for a while, so that it
 * can be shown completely. The number is bounded: the trace that has been quiet longest is shown first.
 */
#ifndef TRACES_PENDING_TRACES_H
#define TRACES_PENDING_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "status/trace/span2.h"

struct pending_limits {
	int64_t quiet; /* µs without a new span after which a trace is complete */
	size_t traces; /* held, at most */
	size_t bytes;  /* the same */
};

struct pending_traces;

/* @show gets the spans (of struct span2, borrowed) of a trace that is complete, or must make room. */
struct pending_traces *pending_traces_create(
	const struct pending_limits *limits, void (*show)(void *data, const GPtrArray *spans), void *data);

/* Frees what it holds without showing it. */
void pending_traces_destroy(struct pending_traces *traces);

/* Takes over @span, which arrived at @now (µs of a monotonic clock). May show other traces to make room. */
void pending_traces_add(struct pending_traces *traces, struct span2 *span, int64_t now);

/* Shows what is quiet at @now. Returns the µs until the next will be, or -1 if nothing is held. */
int64_t pending_traces_show_quiet(struct pending_traces *traces, int64_t now);

/* Shows everything. */
void pending_traces_show_all(struct pending_traces *traces);

#endif
