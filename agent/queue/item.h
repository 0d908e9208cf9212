/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch's items of spans, whatever format they are in. No state. */
#ifndef QUEUE_ITEM_H
#define QUEUE_ITEM_H

#include "core/record.h"
#include "queue/batch.h"

/* The span, which borrows from @item and @memory; false if it is none. */
bool item_read(
	struct span *span, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory);

/* Writes its trait to @trait; all 0 if it is no span. */
void item_trait(
	struct trait *trait, uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory);

/* Those of all the batch's items, in @memory, which is emptied first. */
const struct trait *batch_traits(const struct batch *batch, struct buffer *memory);

#endif
