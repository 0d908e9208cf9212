/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All outputs, with a lane for each kind of items that they take: what holds for each of these at a start, a
 * reload and a stop. Lanes come by the order of the outputs, and of the kinds.
 *
 * All calls are the main thread's. What makes batches gets to know them as outlets, by value.
 */
#ifndef OUTPUT_OUTPUTS_H
#define OUTPUT_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>

#include "config/config.h"
#include "output/output.h"

struct outputs;

/*
 * Starts those of @config whose type is not none; NULL, having logged why, if one cannot be. @patient as in
 * output_manner. @config is borrowed for the call.
 */
struct outputs *outputs_create(struct event_base *base, const struct config *config, bool patient);

/* Starts their spools: see output_start_spool. */
bool outputs_start_spools(struct outputs *outputs, const struct config *config);

/* Whether all spans go to one output of @config, as they were made: then who makes them may encode them at
 * once, in @format. */
bool outputs_sole_format(const struct config *config, enum batch_format *format);

/* What a producer has to know of them; the caller's count. */
struct outlets *outputs_outlets(const struct outputs *outputs);

/* A reload */

struct outputs_change;

/*
 * What it takes to go over from @config to @fresh: outputs added, changed, taken away. Nothing is changed
 * yet; NULL, having logged why, if it cannot be done.
 */
struct outputs_change *outputs_prepare(
	struct outputs *outputs, const struct config *config, const struct config *fresh);
void outputs_abandon(struct outputs_change *change);

/*
 * Does it; producers have to be given the new outlets then. An output that is taken away gets what was made
 * before, and @grace_ns to deliver it; what is left goes to its spool, which stays on disk, or is dropped and
 * counted.
 */
void outputs_commit(struct outputs_change *change, int64_t grace_ns);

/* The part of the traces that an output with `keep = auto` keeps at the moment: more than 0, up to 1. */
double outputs_part(const struct outputs *outputs, const char *name);

/* The state */

/* Of lanes. */
size_t outputs_count(const struct outputs *outputs);

/* How many lanes of outputs there are, and how many were removed and still deliver what they had. */
struct outputs_counts {
	size_t on, leaving;
};

/* The ledger, and the states of the outputs that are on, then of those that leave, all as of one moment; no
 * more than @max. */
struct outputs_counts outputs_read(
	const struct outputs *outputs, struct ledger *rows, struct output_state *states, size_t max);

/*
 * Orders that what waits in the spool of the lane @name is given up, or, without an @order, only reads how
 * that goes. An output that leaves is asked too.
 */
enum outputs_answer { OUTPUTS_DONE, OUTPUTS_NO_OUTPUT, OUTPUTS_NO_SPOOL, OUTPUTS_BUSY };

struct outputs_order {
	int64_t before; /* see discard_order */
	unsigned user;
};

enum outputs_answer outputs_discard(const struct outputs *outputs, const char *name,
	const struct outputs_order *order, struct discard_state *state);

/* A stop */

/* No producer pushes any more: calls @done with @data once all outputs have delivered what there is. */
void outputs_drain(struct outputs *outputs, void (*done)(void *data), void *data);

/* Ends all uplinks, and stores what waits where there is a spool. */
void outputs_end(struct outputs *outputs);

/* Enters what still waits as dropped, or if not @all, what of it cannot be read again; after outputs_end. */
void outputs_drop(struct outputs *outputs, bool all);

/* After outputs_end. */
void outputs_destroy(struct outputs *outputs);

#endif
