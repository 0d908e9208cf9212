/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces that are still coming in: their spans are held until the trace has been quiet for a while, so that
 * it can be shown whole. What is held is bounded; the trace that has been quiet longest goes first.
 */
#ifndef FOREST_H
#define FOREST_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "span2.h"

struct forest_limits {
	int64_t quiet; /* µs without a new span after which a trace is complete */
	size_t traces; /* held, at most */
	size_t bytes;  /* the same */
};

struct forest;

/* @show gets the spans (of struct span2, borrowed) of a trace that is complete, or has to go. */
struct forest *forest_create(
	const struct forest_limits *limits, void (*show)(void *data, const GPtrArray *spans), void *data);

/* Frees what it holds without showing it. */
void forest_destroy(struct forest *forest);

/* Takes @span, which came at @now (a steady clock's µs). May show other traces to make room. */
void forest_take(struct forest *forest, struct span2 *span, int64_t now);

/* Shows what is quiet at @now. Returns the µs until the next will be, or -1 if nothing is held. */
int64_t forest_show_quiet(struct forest *forest, int64_t now);

/* Shows everything. */
void forest_show_all(struct forest *forest);

#endif
