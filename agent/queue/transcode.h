/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches in another format: for an output whose format was changed while batches of before wait, in memory
 * or on disk, or until the reader encodes for it.
 */
#ifndef QUEUE_TRANSCODE_H
#define QUEUE_TRANSCODE_H

#include <stdbool.h>

#include "encode/spanread.h"
#include "queue/batch.h"
#include "queue/queue.h"

/* Reads an item of any format, as encode/spanread.h does; false if it is none. */
bool transcode_read(
	struct span *span, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory);

/* The same items in @format, one for one, the caller's; NULL if one of them cannot be read. */
struct batch *transcode(const struct batch *batch, enum batch_format format);

/* Any format that is there; NULL: none is. */
const struct batch *transcode_any(const struct batches *items);

/*
 * The items in a format for which the producer does not encode yet, as an output was just added or changed.
 * The caller's; those that cannot be had are empty, and so are dropped.
 */
struct batch *transcode_missing(const struct batches *items, enum batch_format format);

/*
 * Makes an entry that was taken be in @format, and as its queue's rules have it (retag.h). Items that cannot
 * be read, as the spool may hold those of a newer version, are refused; if none is left, the entry is
 * released, and this is false.
 */
bool transcode_entry(struct queue *queue, struct entry *entry, enum batch_format format);

#endif
