/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traces that are wanted whole, as somebody says who has a span of them with an error, or a slow one: an
 * output here (`keep-traces`), the agent above that an output delivers to, or an agent below that sends to
 * this one. Each of these is told of what the others said, and nobody of what he said himself, so that in a
 * tree of agents all get to know it. An agent has one of these sets.
 *
 * Whoever says it may lie. The set is bounded in number and time, and each second it takes so many, in which
 * all who say any have the same share (beside those from above). What there is no room for is counted
 * (TRACES_NOT_TOLD).
 *
 * Any thread. Times are CLOCK_MONOTONIC ns.
 */
#ifndef QUEUE_WANTED_H
#define QUEUE_WANTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/traceid.h"

/* So many are told at most in one call, or in the answer to it. */
#define WANTED_TOLD_MAX 1024
/* So many are taken in a second, of all who say any together; */
#define WANTED_SECOND_MAX 1024
/* and so many are remembered, the latest. */
#define WANTED_MAX 16384

struct wanted;

struct wanted *wanted_create(void);
struct wanted *wanted_ref(struct wanted *wanted); /* @wanted may be NULL, as for the next */
void wanted_unref(struct wanted *wanted);

/* A number that nobody has had before: of an output, or of a sender. Never 0. */
uint64_t wanted_number(struct wanted *wanted);

/* To whom it counts what somebody says who is known by these bytes. */
uint64_t wanted_sharer(const struct wanted *wanted, const void *who, size_t size);

enum wanted_by {
	WANTED_HERE,  /* an output's own rules */
	WANTED_ABOVE, /* the server of an output */
	WANTED_BELOW  /* a sender */
};

struct wanted_place {
	enum wanted_by by;
	uint64_t number; /* the output's, or the sender's */
};

/* That place says it of the trace @id. @sharer: to whom it counts, as a sender may have many connections.
 * False if it is not taken: for want of room, which is counted here, or as it is there already. */
bool wanted_add(struct wanted *wanted, const struct trace_id *id, const struct wanted_place *place,
	uint64_t sharer, int64_t now);

/* So many that somebody said were not even looked at: they are too many for one call. */
void wanted_add_untold(uint64_t count);

/* Who is told, and how far he is: from `next` on, which is 0 at first. */
struct wanted_reader {
	struct wanted_place place; /* HERE: an output's choice; ABOVE: what its server is told; BELOW: what a
				      sender is told */
	uint64_t next;
};

/* The next of what the reader is to be told, which are @max at most, in @ids, with who said it in @by, unless
 * that is NULL. Returns how many; less than @max: that is all. */
uint32_t wanted_read(struct wanted *wanted, struct wanted_reader *reader, struct trace_id *ids,
	enum wanted_by *by, uint32_t max, int64_t now);

/* Whether there may be something that the reader is to be told. */
bool wanted_has_more(const struct wanted *wanted, const struct wanted_reader *reader);

/* At @now spans wait here for such a word (HERE), or a sender wants to hear of it (BELOW); and whether that
 * was so a moment ago, so that it is worth asking the server above. */
void wanted_note(struct wanted *wanted, enum wanted_by who, int64_t now);
bool wanted_is_noted(struct wanted *wanted, enum wanted_by who, int64_t now);

#endif
