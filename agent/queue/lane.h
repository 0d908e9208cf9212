/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the fanout: the batch that is filled for the outputs that agree on its limits. */
#ifndef QUEUE_LANE_H
#define QUEUE_LANE_H

#include "queue/outlets.h"
#include "queue/rare.h"
#include "queue/retag.h"

struct lane {
	struct batch_limits limits;
	struct undecided *undecided; /* what waits for its trace; NULL: its `keep` asks for no such thing */
	struct rare *rare;           /* services of which little is kept; NULL: its share is fixed */
	struct buffer marked;        /* traits of the items, with what is rare */
	struct batch *open;          /* NULL: none is begun */
	struct batch *other;         /* the same for what waited for its trace (lane_switch) */
	uint32_t last_count;         /* what the last one held, as the next is likely to */
	size_t last_bytes;
	/* while items are handed: */
	const struct trait *traits;     /* of those of its kind */
	const struct batch *items;      /* those that it gets; NULL: none, */
	struct batch *own, *whole;      /* if they are its alone; if it may keep their batch, */
	uint32_t handed;                /* of how many they were chosen, */
	uint32_t sampled_out, oversize; /* how many are left out of them, and are too large, */
	int64_t undecided_more;         /* how many more wait than before, */
	uint32_t early;                 /* and how many did not wait for their time, */
	uint32_t asked;                 /* or are kept as another agent asked for their trace, */
	struct retag_counts retagged;   /* what was done to their tags, */
	uint32_t next;                  /* and which of them comes next, */
	const uint8_t *at;              /* where it is */
};

/* One without items; lane_end frees what it has. */
struct lane lane_begin(const struct batch_limits *limits);
void lane_end(struct lane *lane);

/* Whether it asks for the traits of items of its kind. */
bool lane_asks_traits(const struct lane *lane);

/* Items are handed: looks at those of its kind, and counts them. Comes before what follows. */
void lane_look(struct lane *lane, const struct items *items, int64_t now);

/* Chooses the items that it gets: those of its kind that it keeps, with the tags that it leaves. */
void lane_choose(struct lane *lane, const struct items *items, int64_t now);

/* Chooses those instead that waited for their trace, which is kept since one of these came, or another agent
 * asked for it; false: none. */
bool lane_choose_waiting(struct lane *lane, const struct items *items, int64_t now);

/* Leaves all out that wait. */
void lane_decide(struct lane *lane);

void lane_unchoose(struct lane *lane);

/* What waited for its trace is in batches of its own: goes over to these, and back. */
void lane_switch(struct lane *lane);

/* Whether its batch is to be pushed. */
bool lane_is_full(const struct lane *lane);

/* Adds items that were chosen to its batch; true if that is full, or else all are added. */
bool lane_fill(struct lane *lane, struct receipt *receipt, int64_t now);

#endif
