/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where batches go: a list of the outputs' queues, and of what each wants to have. It never changes; when the
 * configuration does, whoever makes batches gets another list. Shared by count.
 */
#ifndef QUEUE_OUTLETS_H
#define QUEUE_OUTLETS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/keep.h"
#include "queue/queue.h"

/* How items become batches. Outputs that agree share them. */
struct batch_limits {
	enum kind kind;
	uint32_t spans;   /* in a batch, at most */
	size_t bytes;     /* of a batch's items: it is full once it has them. No item may be larger */
	int64_t delay_ns; /* that an item waits for its batch to fill, at most */
	const struct tagrules *rules; /* what becomes of its tags, interned; NULL: they stay, */
	bool otlp_names;              /* and of those that OTLP makes of a remote endpoint */
	struct keep keep;             /* what becomes an item at all */
};

bool batch_limits_agree(const struct batch_limits *one, const struct batch_limits *other);

struct outlet {
	struct queue *queue; /* one count of it is the list's */
	struct batch_limits limits;
};

struct outlets {
	atomic_uint owners;
	size_t count;
	struct outlet outlet[];
};

/* A list of @count outlets, copied; the queues are counted, and so is what they keep by (keep.wanted). */
struct outlets *outlets_create(const struct outlet *outlet, size_t count);
struct outlets *outlets_ref(struct outlets *outlets);
void outlets_unref(struct outlets *outlets);

/* Whether the list has the queue. */
bool outlets_have(const struct outlets *outlets, const struct queue *queue);

/* What fanout.h says of a fanout. */
void outlets_mark(const struct outlets *outlets);
size_t outlets_excess(const struct outlets *outlets);
bool outlets_admit(const struct outlets *outlets, enum kind kind, size_t bytes, bool safe);

#endif
