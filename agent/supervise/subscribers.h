/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who watches the spans as they come. The threads that hear the reader and the inputs show them; each
 * subscriber has a ring of its own, which another thread empties. What does not fit into it is lost to that
 * subscriber, and counted: no subscriber holds up anybody. While nobody watches, this costs a look at one
 * number.
 *
 * A subscriber gets records: struct tail_record, and behind it the span as an item of its format.
 */
#ifndef SUPERVISE_SUBSCRIBERS_H
#define SUPERVISE_SUBSCRIBERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "queue/batch.h"
#include "stats/statistics.h"
#include "supervise/tailfilter.h"

#define SUBSCRIBERS_MAX 16

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
	uint64_t lost; /* spans that were wanted, since the subscriber came */
};

struct subscribers;
struct subscriber;

struct subscribers *subscribers_create(void);
void subscribers_destroy(struct subscribers *subscribers);

/* Any thread: shows the spans. @namer: whose names they have, who holds the statistics and has just had them
 * counted; NULL: they are counted nowhere. */
void subscribers_show(struct subscribers *subscribers, const struct namer *namer, const struct items *spans);

/* For one thread */

/* NULL: SUBSCRIBERS_MAX watch already. */
struct subscriber *subscribers_join(struct subscribers *subscribers, const struct tail_filter *filter);

/* Ends and frees it; may wait for what is being shown at this moment. */
void subscribers_leave(struct subscribers *subscribers, struct subscriber *subscriber);

/* Appends what has come, @most bytes at most: pieces of records, in their order. */
void subscriber_take(struct subscriber *subscriber, size_t most, struct buffer *to);

/* How many spans were lost to it. */
uint64_t subscriber_lost(const struct subscriber *subscriber);

#endif
