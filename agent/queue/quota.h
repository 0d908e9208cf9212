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
#include <stdint.h>

#define QUOTA_ALL UINT64_MAX

struct quota {
	_Atomic uint64_t share;   /* that is kept now */
	_Atomic uint64_t offered; /* what senders are told of it; 0: that is not known yet */
	/* counts of spans */
	_Atomic uint64_t came;   /* of those that came, */
	_Atomic uint64_t kept;   /* those that are of a trace that is kept, */
	_Atomic uint64_t told;   /* and those whose senders told the share that they keep themselves; */
	_Atomic uint64_t before; /* these were so many before */
	/* what the server says */
	_Atomic uint64_t learned; /* the share that it keeps; 0: it says none */
};

void quota_init(struct quota *quota);

/* So many spans came whose sender keeps @share of the traces, which is not 0. */
void quota_tell(struct quota *quota, uint64_t spans, uint64_t share);

/* 0 to 1, and back. */
double quota_part(uint64_t share);
uint64_t quota_share(double part);

#endif
