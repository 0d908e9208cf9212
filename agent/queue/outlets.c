/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/outlets.h"

#include <glib.h>

bool batch_limits_agree(const struct batch_limits *one, const struct batch_limits *other)
{
	return one->kind == other->kind && one->spans == other->spans && one->bytes == other->bytes &&
	       one->delay_ns == other->delay_ns && one->rules == other->rules &&
	       one->otlp_names == other->otlp_names && keep_is_equal(&one->keep, &other->keep);
}

struct outlets *outlets_create(const struct outlet *outlet, size_t count)
{
	struct outlets *outlets = g_malloc0(sizeof(*outlets) + count * sizeof(*outlet));

	atomic_init(&outlets->owners, 1);
	outlets->count = count;
	for (size_t i = 0; i < count; i++) {
		outlets->outlet[i] = outlet[i];
		queue_ref(outlet[i].queue);
		wanted_ref(outlet[i].limits.keep.wanted);
	}
	return outlets;
}

struct outlets *outlets_ref(struct outlets *outlets)
{
	atomic_fetch_add_explicit(&outlets->owners, 1, memory_order_relaxed);
	return outlets;
}

void outlets_unref(struct outlets *outlets)
{
	if (!outlets || atomic_fetch_sub_explicit(&outlets->owners, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < outlets->count; i++) {
		queue_unref(outlets->outlet[i].queue);
		wanted_unref(outlets->outlet[i].limits.keep.wanted);
	}
	g_free(outlets);
}

bool outlets_have(const struct outlets *outlets, const struct queue *queue)
{
	for (size_t i = 0; i < outlets->count; i++)
		if (outlets->outlet[i].queue == queue)
			return true;
	return false;
}

void outlets_mark(const struct outlets *outlets)
{
	for (size_t i = 0; i < outlets->count; i++)
		queue_mark(outlets->outlet[i].queue);
}

size_t outlets_excess(const struct outlets *outlets)
{
	size_t excess = 0;

	for (size_t i = 0; i < outlets->count; i++) {
		struct queue *queue = outlets->outlet[i].queue;
		size_t bytes = queue_bytes(queue), half = queue_limit(queue) / 2;

		excess += bytes > half ? bytes - half : 0;
	}
	return excess;
}

bool outlets_admit(const struct outlets *outlets, enum kind kind, size_t bytes, bool safe)
{
	bool any = false;

	for (size_t i = 0; i < outlets->count; i++) {
		const struct outlet *outlet = &outlets->outlet[i];

		if (outlet->limits.kind != kind)
			continue;
		if (!queue_admits(outlet->queue, bytes, safe))
			return false;
		any = true;
	}
	return any;
}
