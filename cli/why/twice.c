/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/twice.h"

#include <string.h>

#include <glib.h>

/* At one moment: more than processors record then. */
#define EVENTS_MAX 1024

struct twice {
	int64_t time;
	GArray *events; /* of that time: struct seen */
};

/* What tells an event from others of its processor and its time. Contexts are not among it: of two sessions
 * one may have fewer. */
struct seen {
	int64_t cpu, kind;
	int64_t prev, next, prev_state, other, target, number;
	uint64_t name;
};

struct twice *twice_create(void)
{
	struct twice *twice = g_new0(struct twice, 1);

	twice->time = INT64_MIN;
	twice->events = g_array_new(FALSE, FALSE, sizeof(struct seen));
	return twice;
}

void twice_destroy(struct twice *twice)
{
	g_array_unref(twice->events);
	g_free(twice);
}

/* FNV-1a */
static uint64_t hash(struct text text)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < text.size; i++)
		sum = (sum ^ (uint8_t)text.data[i]) * UINT64_C(0x100000001b3);
	return sum;
}

bool twice_has(struct twice *twice, const struct kernel_event *event)
{
	const struct seen seen = {event->cpu, event->kind, event->prev, event->next, event->prev_state,
		event->other, event->target, event->number, hash(event->name)};

	if (event->time != twice->time)
		g_array_set_size(twice->events, 0);
	twice->time = event->time;
	for (guint i = 0; i < twice->events->len; i++)
		if (!memcmp(&g_array_index(twice->events, struct seen, i), &seen, sizeof(seen)))
			return true;
	if (twice->events->len < EVENTS_MAX)
		g_array_append_val(twice->events, seen);
	return false;
}
