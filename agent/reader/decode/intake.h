/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intake: babeltrace2's messages, in their order, into the pipeline.
 *
 * Where positions are kept, it keeps them: an event that is done already is left out, so that the same
 * packets can be read from relayd's files and then come live again; packets that are missing are counted;
 * and events are dated by the wall clock's steps. It belongs to one reader.
 */
#ifndef READER_DECODE_INTAKE_H
#define READER_DECODE_INTAKE_H

#include <stdbool.h>

#include "core/clocksteps.h"
#include "handover/page.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/overlap.h"
#include "session/position.h"

/* Where messages go; all borrowed. */
struct intake_options {
	struct pipeline *pipeline;
	bool by_event_time;          /* the pipeline's clock is that of the events */
	struct positions *positions; /* NULL: everything is new */
	struct clock_steps *steps;   /* NULL: events are dated as the trace dates them */
	bool one_offset;             /* without @steps: a clock has one, wherever the wall clock was set */
	char *const *events;         /* patterns of the names of foreign events that are wanted; NULL: all */
	/* Looks up the packet of a stream that begins at @begin; NULL if there is no index. */
	bool (*locate)(void *data, const struct stream_key *key, uint64_t begin, struct packet_info *info);
	/* Told of each event of a span, and of the thread that recorded it and its processor, or -1; NULL:
	 * nobody wants to know. */
	void (*seen)(void *data, const struct event *event, int64_t tid, int64_t cpu);
	void *data;
	uint64_t *heard; /* is set to when streams were idle last, by the trace's clock; NULL: nobody asks */
	struct overlap *overlap; /* knows what another session had before; NULL: nothing is */
	struct page *page; /* where it is noted that the canary's events came; NULL: nobody waits for them */
};

struct bt_message;
struct intake;

struct intake *intake_create(const struct intake_options *options);
void intake_destroy(struct intake *intake);

/* Takes a message; it stays the caller's. */
void intake_message(struct intake *intake, const struct bt_message *message);

/* Time passes; @idle if there is nothing to read at the moment. */
void intake_tick(struct intake *intake, bool idle);

/* How many traces have sent packets, and whether that of stream @key has. */
unsigned intake_traces(const struct intake *intake);
bool intake_has_trace(const struct intake *intake, const struct stream_key *key);

/* How many streams have begun, and how many of them have come to their end. */
unsigned intake_streams(const struct intake *intake);
unsigned intake_ended_streams(const struct intake *intake);

#endif
