/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line that events take: decoded events in, batches of encoded spans out. What a reader feeds.
 *
 * It belongs to the thread that reads. It keeps the ledger change of what it was fed, and posts it before any
 * batch is pushed, so that the uplink never acknowledges a span that the ledger does not know.
 */
#ifndef ASSEMBLE_PIPELINE_H
#define ASSEMBLE_PIPELINE_H

#include "config/config.h"
#include "core/event.h"
#include "queue/batch.h"

struct line;

/* Spans go to @queue, which is borrowed. */
struct line *line_create(const struct config *config, struct batch_queue *queue);
void line_destroy(struct line *line);

/* Counts from the next line_tick on: what @config says of spans and batches. Any thread. */
void line_configure(struct line *line, const struct config *config);

/* An event was read. @event is NULL for EVENT_FOREIGN and EVENT_MALFORMED. @now: CLOCK_MONOTONIC or event
 * time, ns. */
void line_event(struct line *line, enum event_type type, const struct event *event, int64_t now);

/* The event that comes next was read before, by a run that was killed. */
void line_event_again(struct line *line);

/* LTTng says that it had to discard events, or packets, before they were read. */
void line_lost_events(struct line *line, uint64_t events);
void line_lost_packets(struct line *line, uint64_t packets);

/* Time passes: emit the spans that are due, push the batch if it is old; if @idle, even if it is not. */
void line_tick(struct line *line, int64_t now, bool idle);

/*
 * Posts and pushes all that is made, and appends what is not, the spans in assembly, to @out: together that
 * is what came of the events so far. line_load takes such spans up again; false if they are damaged.
 */
void line_save(struct line *line, struct buffer *out);
bool line_load(struct line *line, struct unpacker from);

/* Posts to the ledger what it does not know yet. */
void line_post(struct line *line);

/* Nothing more comes: emit and push everything. */
void line_flush(struct line *line);

#endif
