/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: the spans that are meant, and where their time went, out of traces that are read twice. */
#ifndef WHY_COLLECT_H
#define WHY_COLLECT_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "import/aroundspans.h"
#include "import/guard.h"
#include "import/kernelevent.h"
#include "status/trace/span2.h"
#include "why/tally.h"

/* Of more spans the first are looked at. */
#define WHY_SPANS_MAX 1000

/* A span, or one program's half of it. */
struct why_span {
	const struct around_span *at; /* which thread it was on, and when */
	const struct span2 *whole;
	enum why_thread { THREAD_KNOWN, THREAD_UNKNOWN, THREAD_AMBIGUOUS } thread;
	struct tally tally; /* adds up to its duration, to the nanosecond */
};

/* ns */
static inline int64_t why_duration(const struct why_span *span)
{
	return span->at->end - span->at->start;
}

/* Where and when something was recorded of the spans: ns since the epoch. */
struct why_record {
	int64_t cpu, time;
};

/* From when to when there are events of the kernel of a processor. */
struct why_heard {
	int64_t cpu, first, last;
};

struct why {
	uint64_t id;
	bool of_span; /* it is a span's id, and no trace's */
	struct around_spans *in_trace, *alone;
	uint64_t first,
		last; /* when all of them were, on the tracing clock; the other way round: there are none */
	GPtrArray *whole;            /* of struct span2 */
	GArray *spans;               /* of struct why_span, by their starts */
	uint64_t refused;            /* more of these than can be kept */
	uint64_t left_out;           /* spans that are too many */
	bool recorded[KERNEL_KINDS]; /* whether there are such events */
	bool any_kernel;
	bool all_calls;                    /* every system call is recorded */
	uint64_t discarded, overwritten;   /* events, and packets, of the kernel, as LTTng counts them */
	int64_t kernel_first, kernel_last; /* when its events were, if there are any */
	bool wrong;                        /* a thread ran where the events say that it did not */
	int64_t silent;    /* a processor where a span was recorded, without events then; or KERNEL_UNKNOWN */
	GArray *records;   /* of struct why_record */
	GHashTable *heard; /* struct why_heard by the processor's number */
	bool unread;       /* a trace that cannot be read may be the kernel's */
	bool flies;        /* the kernel's events are elsewhere: in the flight recorder */
	bool spread;       /* the spans are of several machines */
	char *foreign;     /* the host of a kernel's trace that is not used, as its clock is another one */
	char *host, *other; /* of the kernel's events; of several hosts two */
	struct numbers *numbers;
	struct machine *machine;
	struct twice *twice; /* with several of the kernel's traces; otherwise NULL */
	unsigned kernels;    /* the kernel's traces */
};

void why_init(struct why *why, uint64_t id);
void why_free(struct why *why);

/* Reads the @traces (of char *) that are of one machine (fitting.h), and counts steps of @guard. Returns
 * whether all was read; if not, @error says why. Without any span, there are none. */
bool why_collect(struct why *why, const struct config *config, const GPtrArray *traces, struct guard *guard,
	char *error, size_t error_size);

/* Reads the spans alone. */
bool why_read_spans(struct why *why, const struct config *config, const GPtrArray *traces,
	struct guard *guard, char *error, size_t error_size);

#endif
