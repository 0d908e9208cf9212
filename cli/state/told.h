/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent has told, JSON, looked up by the paths of its members: "spool.bytes", "servers.0.error".
 * What is missing, or of another type, is as zero, and noted: who has looked up all that he needs sees then
 * whether it was there.
 */
#ifndef STATE_TOLD_H
#define STATE_TOLD_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

struct telling {
	char *room;
	GStringChunk *texts; /* that were looked up */
	bool wrong;
};

/* A value: from here to there in the JSON. */
struct told {
	const char *at, *end;
	struct telling *of;
};

/* The JSON is borrowed until told_close, which says whether nothing was wrong. */
struct told told_open(struct telling *telling, const char *json);
bool told_close(struct telling *telling);

struct told told_at(struct told in, const char *path);

/* Goes to the next element of a list; from a zeroed one to the first. False at the end. */
bool told_next(struct told list, struct told *element);

bool told_is_null(struct told in, const char *path);
/* Neither null, nor false, 0 or "". */
bool told_has(struct told in, const char *path);
/* Also of a list, how many there are in it, and of an object, the sum of the numbers in it. */
int64_t told_number(struct told in, const char *path);
double told_real(struct told in, const char *path);
const char *told_text(struct told in, const char *path); /* until told_close */
bool told_is(struct told in, const char *path, const char *text);

/*
 * Appends the format with what was told in the place of "{path}", harmless for a terminal; "{path|as}" has it
 * in another form: |size and |time in the units that people use, |age the same of a time that has passed, in
 * whole seconds, |rate, |s for a plural's letter.
 */
void told_put(struct buffer *out, struct told in, const char *format);

/* The same if told_has(in, path). */
void told_put_if(struct buffer *out, struct told in, const char *path, const char *format);

/* The same with the format that goes with the text that is there; the list ends with an empty one. */
struct told_words {
	const char *is, *format;
};
void told_put_by(struct buffer *out, struct told in, const char *path, const struct told_words *words);

#endif
