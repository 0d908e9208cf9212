/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans a subscriber wants to see, and how it asks for them: as the query of a URI. What cannot be told
 * without reading the span (its tags) is left to the command, which looks at all of this again.
 */
#ifndef SUPERVISE_TAILFILTER_H
#define SUPERVISE_TAILFILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define TAIL_FILTER_TEXT_MAX 256

struct tail_filter {
	char service[TAIL_FILTER_TEXT_MAX],
		name[TAIL_FILTER_TEXT_MAX]; /* patterns with * and ?, in any case; "": any */
	int64_t min_duration;               /* ns */
	bool errors;                        /* only those with the tag `error` */
	uint64_t trace;                     /* the 64 low bits of its trace's id; 0: any */
};

/* Appends it as a query, without the question mark. */
void tail_filter_put(struct buffer *query, const struct tail_filter *filter);

/* Reads one; returns NULL, or what is wrong with it, as a sentence without an end. @query may be NULL. */
const char *tail_filter_get(const char *query, struct tail_filter *filter);

/* Whether the text matches a pattern. */
bool tail_filter_matches(const char *pattern, const char *text);

#endif
