/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who watches the spans as they come. The thread that hears the reader shows them; each watcher has a ring of
 * its own, which another thread empties. What does not fit into it is lost to that watcher, and counted: no
 * watcher holds up anybody. While nobody watches, this costs a look at one number.
 *
 * A watcher gets records: struct tail_record, and behind it the span as an item of its format.
 */
#ifndef SUPERVISE_AUDIENCE_H
#define SUPERVISE_AUDIENCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "queue/batch.h"
#include "stats/statistics.h"
#include "supervise/wish.h"

#define AUDIENCE_MAX 16

/* In the machine's order, as it goes no further than this node. */
struct tail_record {
	uint32_t size; /* of what follows the record */
	uint32_t kind;
};

enum {
	/* below, an enum batch_format of spans */
	TAIL_NEWS = 0x100 /* struct tail_news */
};

struct tail_news {
	uint64_t lost; /* spans that were wanted, since the watcher came */
};

struct audience;
struct watcher;

struct audience *audience_create(void);
void audience_destroy(struct audience *audience);

/* For the thread that hears the reader: shows the spans, which statistics_take has counted. */
void audience_show(struct audience *audience, const struct statistics *statistics, const struct items *spans);

/* For one other thread */

/* NULL: AUDIENCE_MAX watch already. */
struct watcher *audience_join(struct audience *audience, const struct wish *wish);

/* Ends and frees it; may wait for what is being shown at this moment. */
void audience_leave(struct audience *audience, struct watcher *watcher);

/* Appends what has come, @most bytes at most: pieces of records, in their order. */
void watcher_take(struct watcher *watcher, size_t most, struct buffer *to);

/* How many spans were lost to it. */
uint64_t watcher_lost(const struct watcher *watcher);

#endif
