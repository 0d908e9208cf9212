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
 * How many of @count spans, one at least, whose bytes stand one after the other, are of the same trace as the
 * first one; its id is written to @key. What cannot be read has the id 0.
 */
uint32_t bytrace_run(
	uint8_t format, const uint8_t *spans, const uint32_t *sizes, uint32_t count, char key[BYTRACE_KEY]);

#endif
