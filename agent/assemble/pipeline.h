/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline: a reader puts decoded events in, batches of encoded spans come out.
 *
 * Only the thread that reads uses it. It collects the ledger change of its input, and posts it before any
 * batch is pushed.
 */
#ifndef ASSEMBLE_PIPELINE_H
#define ASSEMBLE_PIPELINE_H

#include "assemble/assembler.h"
#include "config/config.h"
#include "core/event.h"
#include "queue/fanout.h"

struct pipeline;

/* The settings of [spans]. */
struct assembler_limits pipeline_limits(const struct config *config);

/* Spans go to @fanout, which is borrowed. */
struct pipeline *pipeline_create(const struct assembler_limits *limits, struct fanout *fanout);
void pipeline_destroy(struct pipeline *pipeline);

/* Changes the limits, from the next pipeline_tick on. Any thread. */
void pipeline_configure(struct pipeline *pipeline, const struct assembler_limits *limits);

/* An event was read. @event is NULL for EVENT_FOREIGN and EVENT_MALFORMED. @now: CLOCK_MONOTONIC or event
 * time, ns. */
void pipeline_event(struct pipeline *pipeline, enum event_type type, const struct event *event, int64_t now);

/* The next event was read before, by a run that was killed. */
void pipeline_event_again(struct pipeline *pipeline);

/* LTTng reports that it discarded events, or packets, before they were read. */
void pipeline_lost_events(struct pipeline *pipeline, uint64_t events);
void pipeline_lost_packets(struct pipeline *pipeline, uint64_t packets);

/*
 * To be called regularly: emits the spans that are due, and pushes the batches that are old; if @idle, all
 * batches.
 */
void pipeline_tick(struct pipeline *pipeline, int64_t now, bool idle);

/*
 * Posts and pushes everything that is complete, and appends the spans in assembly to @out: together, this is
 * the result of all events so far. pipeline_load loads such spans; it returns false if they are damaged.
 */
void pipeline_save(struct pipeline *pipeline, struct buffer *out);
bool pipeline_load(struct pipeline *pipeline, struct unpacker from);

/* Posts the collected change to the ledger. */
void pipeline_post(struct pipeline *pipeline);

/* The input has ended: emits and pushes everything. */
void pipeline_flush(struct pipeline *pipeline);

#endif
