/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The pipeline: a reader puts decoded events in, spans come out, as records.
 *
 * Only the thread that reads uses it. It collects spans for a moment, and hands them over together with the
 * change of the ledger that goes with them: never in the middle of an event.
 */
#ifndef READER_ASSEMBLE_PIPELINE_H
#define READER_ASSEMBLE_PIPELINE_H

#include "config/config.h"
#include "config/pairrules.h"
#include "core/event.h"
#include "queue/batch.h"
#include "reader/assemble/assembler.h"
#include "reader/pair/pairs.h"

struct pipeline;

/* The settings of [spans]. */
struct assembler_limits pipeline_limits(const struct config *config);

/* What was made since the last time. */
struct pipeline_output {
	struct items spans, events; /* each may be none */
	/* Of the change's EVENTS_LOST_RING and PACKETS_LOST, what is known to be the kernel's; only where no
	 * positions are kept. */
	uint64_t kernel_events_lost, kernel_packets_lost;
	bool kernel_gap;          /* some of the kernel's are missing from here on, */
	int64_t kernel_gap_until; /* until then: ns since the epoch */
};

/* Where spans and events go. */
struct pipeline_sink {
	/* Takes @change, which is to be emptied, and @made; @at_once: nothing more is to come at the moment.
	 */
	void (*hand)(void *data, struct ledger *change, const struct pipeline_output *made, int64_t now,
		bool at_once);
	void *data;
	/* It gets so many spans, or bytes, at a time: a whole batch, which then need not be copied. 0: what
	 * is there soon. */
	uint32_t spans;
	size_t bytes;
	/* How a span is packed, as record_put does it, and what that is: for who sends all spans in one
	 * format, and has no other use for them. NULL: as records. */
	int (*pack)(uint8_t format, struct buffer *out, const struct span *span);
	enum batch_format format;
	bool nameless; /* nobody counts spans by their names: struct items has none */
};

/* @events: those that are no part of a span are wanted, too. */
struct pipeline *pipeline_create(
	const struct assembler_limits *limits, bool events, struct pipeline_sink sink);
void pipeline_destroy(struct pipeline *pipeline);

/* Which events become spans, two by two. */
struct pairing {
	struct pair_rules rules;
	char **names; /* patterns of the programs' events that are wanted as they are, too; NULL: all are */
	bool by_event_time; /* a pair is as old as its events say */
};

/* To be called once, before the first event: pairs as `spans` in [events] has them, if it has any. @live:
 * what is read was recorded for this configuration, and is read as it comes. */
void pipeline_make_pairs(struct pipeline *pipeline, const struct config *config, bool live);

/* NULL: there are none. */
const struct pairing *pipeline_pairing(const struct pipeline *pipeline);

/* Changes these, from the next pipeline_tick on. Any thread. */
void pipeline_configure(struct pipeline *pipeline, const struct assembler_limits *limits, bool events);

/* An event was read; of EVENT_FOREIGN and EVENT_MALFORMED only the type and the user are set. @now:
 * CLOCK_MONOTONIC or event time, ns. */
void pipeline_event(struct pipeline *pipeline, const struct event *event, int64_t now);

/* How far it has come: so many events that become spans, or go out as they are; the time of the last of them,
 * ns since the epoch: that may be before others', as clocks are set, and programs write what they like. */
struct pipeline_far {
	uint64_t events;
	int64_t last;
};

struct pipeline_far pipeline_far(const struct pipeline *pipeline);

/* Whether events that are no part of a span are wanted: if not, who reads need not pack any, as they are
 * ignored. */
bool pipeline_wants_events(const struct pipeline *pipeline);

/* Such an event was read; @record is one of core/eventrecord.h, or empty if that is too large. @time: its
 * own, ns since the epoch. */
void pipeline_foreign(struct pipeline *pipeline, const struct buffer *record, int64_t time, int64_t now);

/* The next event was recorded by this thread; -1: it is not known. To be told only if pairs are made. */
void pipeline_thread(struct pipeline *pipeline, int64_t tid);

/* An event was read that is half of a pair, and perhaps of more. Returns the row that it belongs to, if it
 * goes nowhere else; then pipeline_paired is to be called, and otherwise pipeline_foreign. */
enum ledger_row pipeline_pair(struct pipeline *pipeline, const struct pair_event *event, int64_t now);
void pipeline_paired(struct pipeline *pipeline, enum ledger_row row, int64_t time, int64_t now);

/* The next event was read before, by a run that was killed. */
void pipeline_event_again(struct pipeline *pipeline);

/* An event of the agent's own came back. */
void pipeline_canary(struct pipeline *pipeline);

/* LTTng reports that it discarded events, or packets, before they were read. @kernel: they are
 * known to be the kernel's. */
void pipeline_lost_events(struct pipeline *pipeline, uint64_t events, bool kernel);
void pipeline_lost_packets(struct pipeline *pipeline, uint64_t packets, bool kernel);

/* Behind the last event some of the kernel's are missing, @until then, ns since the epoch. */
void pipeline_kernel_gap(struct pipeline *pipeline, int64_t until);

/* How many events of programs it has discarded, as far as this pipeline was told. */
uint64_t pipeline_discarded(const struct pipeline *pipeline);

/* Packets cannot be read, because of what is recorded in them. */
void pipeline_unreadable_packets(struct pipeline *pipeline, uint64_t packets);

/* Packets of @user have times that cannot be. */
void pipeline_odd_packets(struct pipeline *pipeline, uint64_t user);

/* What programs have recorded wrongly, by kind: for the caller to take. */
struct misuses *pipeline_misuses(struct pipeline *pipeline);

/*
 * To be called regularly: emits the spans that are due, and hands over what is old; if @idle, all.
 */
void pipeline_tick(struct pipeline *pipeline, int64_t now, bool idle);

/*
 * Hands over everything that is complete, and appends the spans in assembly to @out: together, this is
 * the result of all events so far. Returns whether some of them will be complete soon, without another event.
 * pipeline_load loads such spans; it returns false if they are damaged.
 */
bool pipeline_save(struct pipeline *pipeline, struct buffer *out);
bool pipeline_load(struct pipeline *pipeline, struct unpacker from);

/* Hands over everything that is complete. */
void pipeline_post(struct pipeline *pipeline);

/* The input has ended: emits and hands over everything. */
void pipeline_flush(struct pipeline *pipeline);

#endif
