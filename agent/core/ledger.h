/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger: every event that a program logged stands in exactly one row, and every span made of them too.
 *
 *     events logged = read - read again + lost in ring buffers + lost in relay
 *     read          = in spans + json + rejected + ignored
 *     spans         = made + recovered = pending + queued + sent + spooled + dropped
 *
 * It outlives the agent: a checkpoint has a snapshot of it, of the moment up to which events had been
 * *reached*, and beside it an older moment up to which they are *done*, with the spans that were pending
 * then. The next run takes the snapshot up, but not the spans that were pending or queued in it: the pending
 * ones of the older moment are made again, and the rest come of the events between the two moments, which are
 * read, and counted, again. What the run that was killed did after its snapshot is in no row, and is all done
 * again. So the rows go on adding up.
 *
 * A room that moves something from row to row does it in one ledger_post, so that a snapshot always adds up.
 */
#ifndef CORE_LEDGER_H
#define CORE_LEDGER_H

#include <stdint.h>

#include "base/pack.h"

enum ledger_row {
	/* events */
	EVENTS_READ,
	EVENTS_LOST_RING, /* discarded by a full ring buffer, counted by LTTng */
	PACKETS_LOST, /* overwritten at the relay before they were read: how many events, LTTng does not tell
		       */
	EVENTS_IN_SPANS,
	EVENTS_AS_JSON,
	EVENTS_REJECTED_MALFORMED, /* fields missing, of another type, or with a value that cannot be */
	EVENTS_REJECTED_ID,        /* trace or span id 0 */
	EVENTS_REJECTED_TIME,      /* a span that starts after it ends, or before there was a clock */
	EVENTS_IGNORED,            /* foreign: not of a span */
	EVENTS_READ_AGAIN, /* of those read: for the second time, as the run that read them first was killed
			    */
	/* spans */
	SPANS_MADE,
	SPANS_RECOVERED, /* found on disk, from an agent before */
	SPANS_PENDING,   /* gauge: being assembled */
	SPANS_QUEUED,    /* gauge: encoded, not acknowledged yet */
	SPANS_SPOOLED,   /* gauge: on disk */
	SPANS_SENT,      /* acknowledged by the collector */
	SPANS_DROPPED_QUEUE_FULL,
	SPANS_DROPPED_REFUSED,       /* the collector answered with an exception */
	SPANS_DROPPED_OVERSIZE,      /* larger than a message may be */
	SPANS_DROPPED_SPOOL_FULL,    /* the oldest on disk, for newer ones */
	SPANS_DROPPED_SPOOL_CORRUPT, /* the disk did not keep them */
	SPANS_DROPPED_SHUTDOWN,      /* the collector did not take them in the time that a stop waits */
	/* beside the rows */
	SPANS_SENT_AGAIN, /* sent a second time because the first got no answer: may arrive twice */
	SPANS_CUT_SHORT,  /* sent before they ended: lingered out, or memory was short */
	STRINGS_REPAIRED, /* invalid UTF-8, replaced by U+FFFD */
	SESSIONS_CREATED,
	SESSIONS_LOST,   /* ended otherwise than by the agent: what was in their buffers is gone, uncounted */
	SESSIONS_MENDED, /* found stopped, or with something disabled, and set right */
	CLOCK_STEPS_SEEN, /* of the wall clock */
	OUTPUT_ERRORS_CONNECT,
	OUTPUT_ERRORS_TLS, /* the server's certificate, or ours, or no TLS at all */
	OUTPUT_ERRORS_TIMEOUT,
	OUTPUT_ERRORS_PROTOCOL, /* the peer's answer is no answer to Log() */
	OUTPUT_ERRORS_CLOSED,   /* the peer closed the connection with calls open */
	OUTPUT_ERRORS_TRY_LATER,
	OUTPUT_ERRORS_REFUSED,
	LEDGER_ROWS
};

/* Amounts by row: a change to post, or a snapshot. */
struct ledger {
	int64_t row[LEDGER_ROWS];
};

/* Delivery latency: spans by the time from their last event to the acknowledgement. */
#define LEDGER_BUCKETS 14
extern const double
	ledger_bucket_seconds[LEDGER_BUCKETS]; /* upper bounds; one more bucket holds what is beyond */

struct ledger_latency {
	uint64_t bucket[LEDGER_BUCKETS + 1]; /* not cumulative */
	double sum;                          /* seconds */
};

/* Adds @change to the rows, all at once for whoever looks. Any thread. */
void ledger_post(const struct ledger *change);

/* The same for one row. */
void ledger_add(enum ledger_row row, int64_t amount);

/* Moves @amount from one row to another. */
void ledger_move(enum ledger_row from, enum ledger_row to, int64_t amount);

/* Appends a snapshot of the rows, for a checkpoint: by their names, so that other versions can read it. */
void ledger_save(struct buffer *out);

/* Goes on from such a snapshot, as told above; false, having changed nothing, if it is damaged. */
bool ledger_load(struct unpacker from);

/*
 * Enters what the spool holds when it is opened first, and what it has lost; after ledger_load. What is more
 * than stands there already counts as recovered. What is less was sent by a run that was killed after its
 * snapshot; or, if the spool cannot tell what it ought to hold (@unknown), lost with it. Returns how many
 * spans were lost in all.
 */
int64_t ledger_enter_spool(int64_t spooled, int64_t lost, bool unknown);

/* Adds delivered spans to the latency histogram: @events are their event times, ns since the epoch. */
void ledger_delivered(const int64_t *events, uint32_t count, int64_t now);

/* Copies the rows, and if @latency is not NULL the histogram, as of one moment. Any thread. */
void ledger_read(struct ledger *rows, struct ledger_latency *latency);

#endif
