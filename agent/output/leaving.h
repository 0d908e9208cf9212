/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Outputs that a reload has taken away. Each goes on delivering what was made for it, for a while; then what
 * is left goes to its spool, or is dropped and counted.
 */
#ifndef OUTPUT_LEAVING_H
#define OUTPUT_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "output/output.h"

struct leaving;

struct leaving *leaving_create(struct event_base *base);

/* Takes @output over; it ends once it has delivered everything, or after @grace_ns. */
void leaving_add(struct leaving *leaving, struct output *output, int64_t grace_ns);

/* The output of that name, if it is leaving. */
struct output *leaving_find(const struct leaving *leaving, const char *name);

/* How many are leaving; leaving_get returns one of them by its number. */
size_t leaving_count(const struct leaving *leaving);
const struct output *leaving_get(const struct leaving *leaving, size_t index);

/* A stop: no producer pushes any more. Calls @done with @data, from the loop or at once, when all have ended.
 */
void leaving_drain(struct leaving *leaving, void (*done)(void *data), void *data);

/* Ends them now; leaving_drain's @done is not called. */
void leaving_end_all(struct leaving *leaving);

/* The same, and frees @leaving. */
void leaving_destroy(struct leaving *leaving);

#endif
