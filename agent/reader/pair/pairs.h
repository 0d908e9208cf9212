/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Two events of a thread become one span (`spans` in [events]): ENTER is kept until EXIT comes.
 *
 * Each thread has a stack of what it has entered, so a pair within another one is its child. The innermost
 * pair of the same two events is the one that EXIT ends; what was entered within and has not come to its end
 * is nobody's parent any more, and may still end. A span that is over is held for a moment, if programs of
 * its user record spans of their own: the span of that thread in which it lies is its parent, and comes
 * later, as it is recorded when it ends.
 *
 * What is kept is bounded: an ENTER by PAIR_WAIT_NS, a thread's by PAIR_DEPTH_MAX, all by a number of bytes,
 * where the user who has most has to give first. An ENTER that is given up becomes a span without a duration,
 * with the tag PAIR_UNFINISHED.
 *
 * Ids are made of when and where ENTER was recorded: read again, it gets the same ones.
 *
 * Only the thread that reads uses it. All that comes in is untrusted.
 */
#ifndef READER_PAIR_PAIRS_H
#define READER_PAIR_PAIRS_H

#include "base/clock.h"
#include "base/pack.h"
#include "core/eventrecord.h"
#include "core/ledger.h"
#include "core/span.h"

/* An ENTER waits so long for its EXIT, by the caller's clock. */
#define PAIR_WAIT_NS (600 * NS_PER_SECOND)
/* So many pairs of a thread may be open; of more, the outermost is given up. */
#define PAIR_DEPTH_MAX 1024
/* Fields of one event that take more are left out, which the tag `blkin.truncated` says. */
#define PAIR_FIELDS_MAX (64 * 1024)
/* What is held takes so many bytes at most. */
#define PAIR_HELD_MAX (1024 * 1024)

struct pairs_limits {
	int64_t hold_ns;  /* a span that is over may be held for so long */
	size_t max_bytes; /* of all that is kept */
};

/* One of the two events; all is borrowed for the call. */
struct pair_event {
	bool exits;
	bool kernel;   /* the kernel recorded it */
	bool is_cut;   /* its fields were too large */
	uint64_t exit; /* pair_name_number of EXIT's name, of either; and of ENTER only, that of */
	uint64_t number;
	struct text pair;             /* "ENTER/EXIT", this itself, */
	struct text name;             /* and the span's */
	int64_t time;                 /* ns since the epoch */
	int64_t traced;               /* the same as the trace dates it, of which durations are made */
	uint64_t moment;              /* a number of it on the trace's clock, of which ids are made */
	bool has_user;                /* whose programs' events are recorded apart: */
	uint32_t user;                /* that */
	struct known_number pid, tid, /* -2 - N: the thread 0 of processor N of the kernel */
		space;                /* the process, the thread, and of what namespace these numbers are */
	struct text host, program;
	struct text fields; /* its tags, as pair_fields_put has them */
};

struct pairs;

/* @emit is called with @data for each span; to @change is added what becomes of events and spans. */
struct pairs *pairs_create(const struct pairs_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data);
void pairs_destroy(struct pairs *pairs);

/* Changes the limits, @now: what is held waits no longer than what comes now. */
void pairs_configure(struct pairs *pairs, const struct pairs_limits *limits, int64_t now);

/*
 * Takes an event; @now is the caller's clock, ns. Returns the row of the event, if it goes nowhere else: it
 * is in a span, or belongs to none, or says what cannot be.
 */
enum ledger_row pairs_take(struct pairs *pairs, const struct pair_event *event, int64_t now);

/* A program's own span @span was emitted, which the thread @tid recorded, or -1: what is held and lies in it
 * are its children, and are emitted. */
void pairs_adopt(struct pairs *pairs, const struct span *span, int64_t tid, int64_t now);

/* Whether anything is held. */
bool pairs_hold(const struct pairs *pairs);

/* Emits what was held, and gives up what was open, for long enough; pairs_flush all of it. */
void pairs_expire(struct pairs *pairs, int64_t now);
void pairs_flush(struct pairs *pairs);

/* Appends what is kept at @now, for a checkpoint; nothing, if there is none. pairs_load loads it, to @now; it
 * returns false, having loaded nothing, if it is damaged. */
void pairs_save(const struct pairs *pairs, int64_t now, struct buffer *out);
bool pairs_load(struct pairs *pairs, struct unpacker from, int64_t now);

/* How many bytes are kept. */
size_t pairs_bytes(const struct pairs *pairs);

#endif
