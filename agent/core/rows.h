/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger's rows, listed once: what each is called in a checkpoint, in the metrics, in `blkin status
 * --json`, and, if it is a loss, how `blkin status` tells of it.
 *
 * The rows of enum ledger_row are the node's; those of enum account_row each output has of its own.
 */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>

enum ledger_row {
	/* events */
	EVENTS_READ,
	EVENTS_LOST_RING, /* discarded by a full ring buffer, counted by LTTng */
	PACKETS_LOST, /* overwritten at the relay before they were read: LTTng does not tell how many events
		       */
	EVENTS_IN_SPANS,
	EVENTS_AS_JSON,
	EVENTS_REJECTED_MALFORMED, /* fields missing, of another type, or with a value that cannot be */
	EVENTS_REJECTED_ID,        /* trace or span id 0 */
	EVENTS_REJECTED_TIME,      /* a span that starts after it ends, or before there was a clock */
	EVENTS_IGNORED,            /* foreign: not of a span */
	EVENTS_READ_AGAIN, /* of those read: for the second time, after the run that read them first was
			      killed */
	/* spans */
	SPANS_MADE,
	SPANS_PENDING, /* gauge: being assembled */
	/* beside the rows that add up */
	SPANS_CUT_SHORT,  /* handed on before they ended: lingered out, or memory was short */
	STRINGS_REPAIRED, /* invalid UTF-8, replaced by U+FFFD */
	SESSIONS_CREATED,
	SESSIONS_LOST,   /* ended otherwise than by the agent: what was in their buffers is gone, uncounted */
	SESSIONS_MENDED, /* found stopped, or with something disabled, and set right */
	CLOCK_STEPS_SEEN, /* of the wall clock */
	LEDGER_ROWS
};

enum account_row {
	SPANS_TAKEN,     /* handed to the output */
	SPANS_RECOVERED, /* found in its spool when the agent started */
	SPANS_QUEUED,    /* gauge: encoded, not acknowledged yet */
	SPANS_SPOOLED,   /* gauge: on disk */
	SPANS_SENT,      /* acknowledged by the collector */
	SPANS_DROPPED_QUEUE_FULL,
	SPANS_DROPPED_REFUSED,       /* the collector answered with an exception */
	SPANS_DROPPED_OVERSIZE,      /* larger than a message may be */
	SPANS_DROPPED_SPOOL_FULL,    /* the oldest on disk, for newer ones */
	SPANS_DROPPED_SPOOL_CORRUPT, /* the disk did not keep them */
	SPANS_DROPPED_SHUTDOWN,      /* the collector did not take them in the time that a stop waits */
	/* beside the rows that add up */
	SPANS_SENT_AGAIN, /* sent a second time because the first got no answer: may arrive twice */
	OUTPUT_ERRORS_CONNECT,
	OUTPUT_ERRORS_TLS, /* the server's certificate, or ours, or no TLS at all */
	OUTPUT_ERRORS_TIMEOUT,
	OUTPUT_ERRORS_PROTOCOL, /* the peer's answer is no answer to a call */
	OUTPUT_ERRORS_CLOSED,   /* the peer closed the connection with calls open */
	OUTPUT_ERRORS_TRY_LATER,
	OUTPUT_ERRORS_REFUSED,
	ACCOUNT_ROWS
};

struct row_info {
	const char *name;   /* in a checkpoint: never to be changed */
	const char *json;   /* members of the status's objects, with dots between them */
	const char *metric; /* rows of one metric stand together */
	const char *label;  /* "reason=\"id\"", or NULL */
	const char *help;   /* of the metric, in its first row */
	const char *lost;   /* a loss: what `blkin status` says behind the number; NULL: it is none */
	bool gauge;
};

extern const struct row_info ledger_rows[LEDGER_ROWS];
extern const struct row_info account_rows[ACCOUNT_ROWS];

/* The row whose name is @name; @count if there is none. */
size_t row_find(const struct row_info *rows, size_t count, const char *name);

#endif
