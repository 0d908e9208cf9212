/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fanout's tests share: two outputs' queues, with an account each. */
#ifndef FANOUT_RIG_H
#define FANOUT_RIG_H

#include "queue_rig.h"

struct side {
	struct account *account;
	struct queue *queue;
};

extern struct side one, other;

/* A queue of 1 MiB for each; and both gone, having added up. */
void open_sides(void);
void close_sides(void);
void open_side(struct side *side, const char *name);
void close_side(struct side *side);

/* Batches of @spans or @bytes, or 100 ns old. */
struct outlet outlet_of(struct side *side, uint32_t spans, size_t bytes);
struct outlets *outlets_of(struct outlet first, struct outlet second);

void flush_of(struct fanout *to, int64_t now, bool force);

void assert_rows(struct side *side, int64_t taken, int64_t queued, int64_t oversize);

#endif
