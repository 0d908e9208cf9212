/* SPDX-License-Identifier: BSD-2-Clause */
/* A batch in groups of spans of the same trace, for an output that sends each trace by itself. */
#ifndef QUEUE_BYTRACE_H
#define QUEUE_BYTRACE_H

#include "queue/queue.h"

/* A trace's id in lowercase hexadecimal, 16 digits or 32, and a NUL. */
#define BYTRACE_KEY 33

/* From now on the entry, which is taken, holds the same spans in groups, in the order in which the traces
 * come. */
void bytrace_group(struct queue *queue, struct entry *entry);

/*
 * How many of the batch's @count spans, one at least, from the one at @first on, are of the same trace as
 * that; its id is written to @key. What cannot be read has the id 0.
 */
uint32_t bytrace_run(const struct batch *batch, uint32_t first, uint32_t count, char key[BYTRACE_KEY]);

/* The same of one span. */
void bytrace_key(uint8_t format, const uint8_t *span, size_t size, char key[BYTRACE_KEY]);

#endif
