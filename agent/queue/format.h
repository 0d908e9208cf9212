/* SPDX-License-Identifier: BSD-2-Clause */
/* How a span becomes an item of a format. */
#ifndef QUEUE_FORMAT_H
#define QUEUE_FORMAT_H

#include "base/buffer.h"
#include "config/config.h"
#include "core/span.h"
#include "queue/batch.h"

/* Appends the span to @out, as an item of a format of spans; returns how many of its texts were repaired, or
 * -1 if it is too large. */
int format_encode(uint8_t format, struct buffer *out, const struct span *span);

/* The same of a span that was read of @item, of the same format, and changed since: what the item says
 * besides the span stays. False if it is too large. */
bool format_again(
	uint8_t format, struct buffer *out, const struct span *span, const uint8_t *item, size_t size);

#endif
