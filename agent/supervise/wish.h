/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which spans a watcher wants to see, and how it asks for them: as the query of a URI. What cannot be told
 * without reading the span (its tags) is left to the command, which looks at all of this again.
 */
#ifndef SUPERVISE_WISH_H
#define SUPERVISE_WISH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

#define WISH_TEXT_MAX 256

struct wish {
	char service[WISH_TEXT_MAX], name[WISH_TEXT_MAX]; /* patterns with * and ?, in any case; "": any */
	int64_t min_duration;                             /* ns */
	bool errors;                                      /* only those with the tag `error` */
	uint64_t trace;                                   /* the 64 low bits of its trace's id; 0: any */
};

/* Appends it as a query, without the question mark. */
void wish_put(struct buffer *query, const struct wish *wish);

/* Reads one; returns NULL, or what is wrong with it, as a sentence without an end. @query may be NULL. */
const char *wish_get(const char *query, struct wish *wish);

/* Whether the text matches a pattern. */
bool wish_matches(const char *pattern, const char *text);

#endif
