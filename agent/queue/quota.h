/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of what comes an output wants, where that is found out while the agent runs: the share of the
 * traces that `keep = auto` keeps, and what senders are told. Whoever makes batches counts here what comes;
 * the output looks at that once a second, and at what its server says (output/sharing.h). A queue has one of
 * these, which lives as long as it.
 *
 * A share is the largest hash (keep_hash) of the traces that are kept, so that a smaller one is a part of a
 * larger one, on every node.
 *
 * Any thread.
 */
#ifndef QUEUE_QUOTA_H
#define QUEUE_QUOTA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define QUOTA_ALL UINT64_MAX

struct quota {
	_Atomic uint64_t share;   /* that is kept now */
	_Atomic uint64_t offered; /* what senders are told of it; 0: that is not known yet */
	/* counts of spans */
	_Atomic uint64_t came;     /* of those that came, */
	_Atomic uint64_t kept;     /* those that are of a trace that is kept, */
	_Atomic uint64_t told;     /* and those whose senders told the share that they keep themselves; */
	_Atomic uint64_t before;   /* these were so many before */
	_Atomic uint64_t replayed; /* and those that have waited on their senders' disks */
	/* senders who replay: what each may send a second, 0: any number; */
	_Atomic uint64_t grant;
	_Atomic uint64_t turn;                        /* in this time, and in the one before, */
	_Atomic uint64_t replayers, replayers_before; /* there were so many */
	/* what the server says */
	_Atomic uint64_t learned; /* the share that it keeps; 0: it says none */
};

void quota_init(struct quota *quota);

/* So many spans came whose sender says that it keeps @share of the traces, which is not 0. What is far
 * smaller than what senders are told is not believed. */
void quota_tell(struct quota *quota, uint64_t spans, uint64_t share);

/* The time of @now (CLOCK_MONOTONIC ns) in which senders are counted: whoever replays is heard in each. Never
 * 0.
 */
uint64_t quota_turn(int64_t now);

/* So many spans came from a disk, in that time, of a sender of whom nothing came in it before, if @is_new.
 * One thread. */
void quota_replay(struct quota *quota, uint64_t spans, uint64_t turn, bool is_new);

/* So many senders replay at that time. */
uint64_t quota_replayers(struct quota *quota, uint64_t turn);

/* 0 to 1, and back. */
double quota_part(uint64_t share);
uint64_t quota_share(double part);

#endif
