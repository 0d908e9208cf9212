/* SPDX-License-Identifier: BSD-2-Clause */
/* Which format an output's batches are in, and how a span becomes an item of one. */
#ifndef QUEUE_FORMAT_H
#define QUEUE_FORMAT_H

#include "base/buffer.h"
#include "config/config.h"
#include "core/span.h"
#include "queue/batch.h"

/* The format in which the output sends items of the kind. */
enum batch_format format_of(const struct output_config *output, enum kind kind);

/* A bit for each enum batch_format that an output wants; one of spans at least. */
unsigned formats_of(const struct config *config);

/* Appends the span to @out; returns how many of its texts were repaired, or -1 if it is too large. */
int format_encode(uint8_t format, struct buffer *out, const struct span *span);

#endif
