/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline: decoded events in, batches of encoded spans out. What a reader feeds.
 *
 * It belongs to the thread that reads. It keeps the ledger change of what it was fed, and posts it before any
 * batch is pushed.
 */
#ifndef ASSEMBLE_PIPELINE_H
#define ASSEMBLE_PIPELINE_H

#include "assemble/assembler.h"
#include "config/config.h"
#include "core/event.h"
#include "queue/fanout.h"

struct pipeline;

/* What [spans] says. */
struct assembler_limits pipeline_limits(const struct config *config);

/* Spans go to @fanout, which is borrowed. */
struct pipeline *pipeline_create(const struct assembler_limits *limits, struct fanout *fanout);
void pipeline_destroy(struct pipeline *pipeline);

/* Other limits apply from the next pipeline_tick on. Any thread. */
void pipeline_configure(struct pipeline *pipeline, const struct assembler_limits *limits);

/* An event was read. @event is NULL for EVENT_FOREIGN and EVENT_MALFORMED. @now: CLOCK_MONOTONIC or event
 * time, ns. */
void pipeline_event(struct pipeline *pipeline, enum event_type type, const struct event *event, int64_t now);

/* The event that comes next was read before, by a run that was killed. */
void pipeline_event_again(struct pipeline *pipeline);

/* LTTng says that it had to discard events, or packets, before they were read. */
void pipeline_lost_events(struct pipeline *pipeline, uint64_t events);
void pipeline_lost_packets(struct pipeline *pipeline, uint64_t packets);

/* Time passes: emit the spans that are due, push the batches that are old; if @idle, even if they are not. */
void pipeline_tick(struct pipeline *pipeline, int64_t now, bool idle);

/*
 * Posts and pushes all that is made, and appends what is not, the spans in assembly, to @out: together that
 * is what came of the events so far. pipeline_load takes such spans up again; false if they are damaged.
 */
void pipeline_save(struct pipeline *pipeline, struct buffer *out);
bool pipeline_load(struct pipeline *pipeline, struct unpacker from);

/* Posts to the ledger what it does not know yet. */
void pipeline_post(struct pipeline *pipeline);

/* Nothing more comes: emit and push everything. */
void pipeline_flush(struct pipeline *pipeline);

#endif
