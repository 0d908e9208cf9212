/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans get the tags that an output's rules leave of theirs: before its queue and its spool; and once more as
 * they are sent, if they were made under other rules.
 *
 * Tags are a span's own, and those of its annotations, links, scope and resource. The text of a status is the
 * tag `error`. Where an output sends OTLP (@names), they are also those that OTLP makes of the remote
 * endpoint.
 */
#ifndef QUEUE_RETAG_H
#define QUEUE_RETAG_H

#include "queue/batch.h"
#include "queue/queue.h"

struct retag_counts {
	int64_t dropped, renamed, redacted;
};

/* What a span that was changed borrows from; zero it first. */
struct retag_memory {
	struct buffer tags;       /* of struct tag */
	struct buffer attributes; /* of struct attributes, and of struct span_link */
	struct span_more more;
	char port[8], address[48];
};

void retag_memory_free(struct retag_memory *memory);

/* Makes the span as the rules have it, and adds to @counts. Returns whether it has changed. */
bool retag_span(struct span *span, const struct tagrules *rules, bool names, struct retag_memory *memory,
	struct retag_counts *counts);

/*
 * The same items, one for one, as the rules have them, the caller's; one that is no span becomes empty. NULL:
 * they are so already. Adds to @counts.
 */
struct batch *retag(
	const struct batch *items, const struct tagrules *rules, bool names, struct retag_counts *counts);

/*
 * Makes an entry that was taken be as its queue's rules have it. Items that cannot be read are refused; if
 * none is left, the entry is released, and this is false.
 */
bool retag_entry(struct queue *queue, struct entry *entry);

#endif
