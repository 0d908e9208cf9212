/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger's rows, listed once: the name of each in a checkpoint, in the metrics and in `blkin status
 * --json`, and, for a loss, its text in `blkin status`.
 *
 * The rows of enum ledger_row belong to the node; each output has its own rows of enum account_row.
 */
#ifndef CORE_ROWS_H
#define CORE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_row {
	/* events */
	EVENTS_READ,
	EVENTS_LOST_RING, /* discarded by a full ring buffer, counted by LTTng */
	PACKETS_LOST, /* overwritten at the relay before they were read: LTTng does not say how many events
			 they held */
	PACKETS_LOST_UNREADABLE, /* the same of those in which programs recorded what is no event */
	PACKETS_LOST_STUCK, /* ring buffers that a program held up: the same, of each at least one event */
	EVENTS_IN_SPANS,
	EVENTS_AS_JSON,
	EVENTS_REJECTED_MALFORMED, /* fields missing, of another type, or with an impossible value */
	EVENTS_REJECTED_ID,        /* trace or span id 0 */
	EVENTS_REJECTED_TIME,      /* a span that starts after it ends, or before there was a clock */
	EVENTS_IGNORED,            /* foreign: not an event of a span */
	EVENTS_READ_AGAIN, /* of those read: a second time, after the process that first read them died */
	/* messages that the inlet got; each is one span, or is in one of these rows */
	MESSAGES_RECEIVED,
	MESSAGES_TAKEN,             /* as they are, for the outputs that take messages */
	MESSAGES_REFUSED_CATEGORY,  /* of another category */
	MESSAGES_REFUSED_MALFORMED, /* cannot be read as spans */
	MESSAGES_REFUSED_ID,        /* trace or span id 0 */
	MESSAGES_REFUSED_OVERSIZE,  /* larger than a span may be */
	MESSAGES_PUT_OFF,           /* the sender was told to try later, before anything was taken */
	/* spans */
	SPANS_RECEIVED, /* by the inlet */
	SPANS_MADE,
	SPANS_PENDING, /* gauge: in assembly */
	/* not part of the sums */
	SPANS_DROPPED_WITH_OUTPUT, /* dropped at the end of an output that was removed, and taken out of its
				      account */
	SPANS_CUT_SHORT,           /* handed on before they ended: linger passed, or memory was short */
	SPANS_TRUNCATED,           /* without some of their pieces, which LTTng discarded, or were rejected */
	PAIRS_WITHOUT_EXIT,        /* of `spans` in [events]: an ENTER was given up, and so was cut short, */
	PAIRS_WITHOUT_ENTER,       /* an EXIT came that ends nothing, */
	PAIRS_MALFORMED,           /* or an event that does not say of what thread, or before its ENTER */
	STRINGS_REPAIRED,          /* invalid UTF-8, replaced by U+FFFD */
	SESSIONS_CREATED,
	SESSIONS_LOST,         /* not ended by the agent: what was in their buffers is lost, uncounted, */
	SESSIONS_LOST_SECONDS, /* and was recorded in that time at most */
	PROGRAMS_LOST,         /* LTTng gave them up, as they did not answer: what they record until they are
				  registered again is lost, uncounted */
	SESSIONS_MENDED,       /* found stopped or partly disabled, and restored */
	SESSIONS_REPLACED,     /* as a program was killed, or is stopped, in the middle of an event */
	CLOCK_STEPS_SEEN,      /* of the wall clock */
	INPUT_CALLS_LOOPED,    /* put off, as they come from this agent itself, by way of others */
	INPUT_CLOSED_GARBAGE,  /* connections of senders who do not speak the input's protocol, */
	INPUT_CLOSED_SILENT,   /* who did not go on in the middle of a call, or did not read the answers, */
	INPUT_CLOSED_SLOW,     /* whose call did not make progress, */
	INPUT_CLOSED_CROWDED,  /* or who had to make room for others */
	INPUT_TURNED_AWAY,     /* for whom there was no room when they came */
	TRACES_NOT_TOLD,       /* wanted whole, of which other agents were not told for want of room */
	READER_RESTARTS,       /* the reader's process ended before its time, and was started again */
	FLIGHT_KEPT,           /* late traces, with what the kernel did; */
	FLIGHT_REFUSED,        /* others, for which there was no room in a minute; */
	FLIGHT_FAILED,         /* those of which nothing could be kept */
	EVENTS_CANARY, /* the agent's own, beside those read: they tell that what is recorded arrives */
	LEDGER_ROWS
};

/* In the account of another kind of items, "spans" are these items. */
enum account_row {
	SPANS_TAKEN,       /* handed to the output */
	SPANS_RECOVERED,   /* found in its spool when the agent started */
	SPANS_QUEUED,      /* gauge: encoded, but not acknowledged yet */
	SPANS_HELD,        /* gauge: the same of what the inlet got; its sender waits for an OK */
	SPANS_ENTRUSTED,   /* gauge: the same of what nobody can send or read again: its sender has an OK, or
			      it waited for its trace */
	SPANS_SPOOLED,     /* gauge: on disk */
	SPANS_UNDECIDED,   /* gauge: left out, unless another span of their trace has them kept */
	SPANS_SENT,        /* acknowledged by the collector */
	SPANS_GIVEN_BACK,  /* held, and then no more: the sender got no OK, and sends them again */
	SPANS_SAMPLED_OUT, /* its `keep` leaves them out */
	/* these stand together, as they are summed up (account_dropped) */
	SPANS_DROPPED_QUEUE_FULL,
	SPANS_DROPPED_REFUSED,       /* rejected by the collector */
	SPANS_DROPPED_OVERSIZE,      /* larger than a batch may be */
	SPANS_DROPPED_SPOOL_FULL,    /* the oldest on disk, to make room for newer ones */
	SPANS_DROPPED_SPOOL_CORRUPT, /* the spool's file lost them */
	SPANS_DROPPED_DISCARDED,     /* given up by an administrator: `blkin spool discard` */
	SPANS_DROPPED_SHUTDOWN,      /* the stop, or the output's removal, could not wait for the collector */
	/* not part of the sums */
	SPANS_REMOVED,    /* of those sent, into a file that somebody removed or cut before it was finished */
	SPANS_LEFT_EARLY, /* of those sampled out, undecided for less than `keep-traces`, for want of memory
			   */
	SPANS_ASKED,      /* not sampled out, as another agent keeps their trace */
	SPANS_SENT_AGAIN, /* sent a second time because the first time got no answer: may arrive twice */
	OUTPUT_ERRORS_CONNECT,
	OUTPUT_ERRORS_TLS, /* the certificate of the server or the client was rejected, or the server does not
			      use TLS */
	OUTPUT_ERRORS_TIMEOUT,
	OUTPUT_ERRORS_PROTOCOL, /* the peer's answer does not match a call */
	OUTPUT_ERRORS_CLOSED,   /* the peer closed the connection with calls open */
	OUTPUT_ERRORS_TRY_LATER,
	OUTPUT_ERRORS_REFUSED,
	OUTPUT_ERRORS_FILE,
	OUTPUT_FILES_REMOVED, /* finished ones, because all were larger than `total-size` */
	OUTPUT_TAGS_DROPPED,  /* of its spans: left out, */
	OUTPUT_TAGS_RENAMED,  /* with another key, */
	OUTPUT_TAGS_REDACTED, /* without their value */
	ACCOUNT_ROWS
};

struct row_info {
	const char *name;   /* in a checkpoint; must never change */
	const char *json;   /* path of members in the status, separated by dots */
	const char *metric; /* rows of one metric are adjacent */
	const char *label;  /* "reason=\"id\"", or NULL */
	const char *help;   /* help text of the metric, in its first row */
	const char *lost;   /* text in `blkin status` after the number; NULL: not a loss */
	bool gauge;
	bool noted; /* when it grew is noted as with a loss, though it is none */
};

extern const struct row_info ledger_rows[LEDGER_ROWS];
extern const struct row_info account_rows[ACCOUNT_ROWS];

/* What an account has dropped, by its rows. */
int64_t account_dropped(const int64_t *row);

/* The index of the row named @name; @count if there is none. */
size_t row_find(const struct row_info *rows, size_t count, const char *name);

#endif
