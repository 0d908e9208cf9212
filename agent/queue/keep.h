/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans an output keeps: one trace in so many, by a hash of the trace's id alone, so that each node
 * keeps the same traces; and of the rest, spans with an error, slow ones, and those of rare services.
 */
#ifndef QUEUE_KEEP_H
#define QUEUE_KEEP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/record.h"
#include "queue/batch.h"
#include "queue/quota.h"
#include "queue/wanted.h"

struct keep {
	uint64_t one_in;     /* traces; 0 and 1: all are kept */
	struct quota *quota; /* which says the share instead of that; NULL: none; borrowed */
	bool errors;         /* of the rest: spans with the tag `error` */
	int64_t slower;      /* and those that took so long at least, ns; 0: none, */
	int64_t traces_ns;   /* with what else of their traces comes so long before and after; 0: alone */
	size_t traces_bytes; /* that may wait for it */
	/* with which other agents are told, and say, which traces are kept; NULL: none are; borrowed */
	struct wanted *wanted;
	uint64_t output; /* the output's number there; 0: it does not keep whole traces */
};

bool keep_is_equal(const struct keep *one, const struct keep *other);

/* Whether it leaves nothing out, and never will. */
bool keep_is_all(const struct keep *keep);

/* Spread over all numbers. */
uint64_t keep_hash(uint64_t id);

/* Whether a span is kept: as one of the share of the traces, for what it is, or for either. */
bool keep_takes_trace(const struct keep *keep, const struct trait *trait);
bool keep_takes_span(const struct keep *keep, const struct trait *trait);
bool keep_takes(const struct keep *keep, const struct trait *trait);

/* Whether it is kept for its error, or as it is slow, so that what others have of its trace is wanted. */
bool keep_wants_trace(const struct keep *keep, const struct trait *trait);

/* The items that are kept, the caller's; NULL: all are. @traits: one for each item. */
struct batch *keep_select(const struct keep *keep, const struct batch *items, const struct trait *traits);

#endif
