/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A sweep: what an administrator gives up is deleted from the spool, in several commits, so that others have
 * their turn in between. How many spans that were is written with each commit, so that they are known after a
 * kill -9 too.
 *
 * A batch that is under way is with the uplink, which may be sending it: it is not deleted, but no longer
 * wanted. Once it has come back from the uplink, undelivered, spool_discard deletes it.
 */
#ifndef OUTPUT_SPOOL_SWEEP_H
#define OUTPUT_SPOOL_SWEEP_H

#include "output/spool/spool.h"

struct spool_sweep {
	int64_t before;         /* event times: batches that have a newer one stay; INT64_MAX: none does */
	int64_t upto;           /* the highest id: later batches stay */
	int64_t after;          /* the last one that was looked at */
	int64_t batches, spans; /* deleted so far */
	bool over;
};

/* Begins a sweep of what is there now. False if the spool cannot be opened. */
bool spool_begin_sweep(struct spool *spool, struct spool_sweep *sweep, int64_t before);

/* Does a part of it, in one commit; `over` says whether that was the last one. */
bool spool_sweep(struct spool *spool, struct spool_sweep *sweep);

/* Batches under way that are not wanted: their ids, int64_t, in order; the caller's. */
GArray *spool_unwanted(const struct spool *spool);

/* How many spans were ever discarded; its owner may know better, as the file may be another one. */
int64_t spool_discarded(const struct spool *spool);
bool spool_set_discarded(struct spool *spool, int64_t spans);

#endif
