/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A page that the reader and the agent share: where the reader is at this moment, which costs it a store
 * rather than a message, and which is still there when it has died; and the ring through which it hands over.
 * The agent believes none of it, and neither can make it smaller.
 */
#ifndef HANDOVER_PAGE_H
#define HANDOVER_PAGE_H

#include <stdatomic.h>
#include <stdint.h>

#include "handover/ring.h"

struct page {
	_Atomic int64_t moved; /* when the reader last came back from a call or a pause; CLOCK_MONOTONIC ns */
	_Atomic uint32_t called;       /* an enum lttng_daemon, which has not come back yet */
	_Atomic uint32_t live;         /* whether it reads the session live */
	_Atomic uint64_t alone;        /* the user whose trace is read alone, plus 1; 0: none is */
	_Atomic size_t excess;         /* the agent's: bytes that are more than half of the outputs' queues */
	_Atomic uint64_t canary_first; /* the agent's: the number of the canary's first event, */
	_Atomic uint64_t canary_last;  /* and that of the last one that came back to the reader, */
	_Atomic int64_t canary_came;   /* and when it did; CLOCK_MONOTONIC ns */
	struct ring ring;
};

/* Makes one; its descriptor goes to @fd. NULL, with errno, if none can be had. */
struct page *page_create(int *fd);

/* So many events of the canary's there are at most. */
#define CANARY_MAX (UINT64_C(1) << 32)

/* The reader's: an event came back that may be the canary's. Its numbers are the agent's secret, so that no
 * program can pass for it. */
void page_beat(struct page *page, uint64_t number);

/* Maps that of a descriptor; NULL if it is none. */
struct page *page_map(int fd);
void page_unmap(struct page *page);

#endif
