/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/outlets.h"

#include <glib.h>

struct outlets *outlets_create(const struct outlet *outlet, size_t count)
{
	struct outlets *outlets = g_malloc0(sizeof(*outlets) + count * sizeof(*outlet));

	atomic_init(&outlets->owners, 1);
	outlets->count = count;
	for (size_t i = 0; i < count; i++) {
		outlets->outlet[i] = outlet[i];
		queue_ref(outlet[i].queue);
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
	for (size_t i = 0; i < outlets->count; i++)
		queue_unref(outlets->outlet[i].queue);
	g_free(outlets);
}

bool outlets_have(const struct outlets *outlets, const struct queue *queue)
{
	for (size_t i = 0; i < outlets->count; i++)
		if (outlets->outlet[i].queue == queue)
			return true;
	return false;
}
