/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/audience.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include "handover/ring.h"
#include "queue/keep.h"

/* A ring with less room is full, for who wants everything: it need not look at each span. */
#define LITTLE 4096

struct watcher {
	struct wish wish;
	bool any; /* it wants everything */
	struct judged {
		uint8_t verdict; /* an enum verdict, of the series while it has the name that it had then: */
		uint32_t era;
	} judged[STATISTICS_SERIES_MAX + 1];
	_Atomic uint64_t lost;
	uint64_t taken;
	struct ring ring;
};

enum verdict { NOT_LOOKED_AT, WANTED, NOT_WANTED };

struct audience {
	_Atomic unsigned watchers;
	_Atomic uint64_t shows; /* odd: one is under way */
	_Atomic(struct watcher *) watcher[AUDIENCE_MAX];
	struct buffer records; /* those of a show */
};

struct audience *audience_create(void)
{
	return g_new0(struct audience, 1);
}

void audience_destroy(struct audience *audience)
{
	if (!audience)
		return;
	for (int i = 0; i < AUDIENCE_MAX; i++)
		g_free(audience->watcher[i]);
	buffer_free(&audience->records);
	g_free(audience);
}

/* Showing */

/* By its service and name. Those beyond all series have none here: whoever reads the span will see. */
static bool is_wanted(
	struct watcher *watcher, const struct statistics *statistics, const struct items *spans, uint32_t i)
{
	const char *service, *name;
	uint32_t era, series = statistics_series_of(statistics, spans, i, &service, &name, &era);
	struct judged *judged = &watcher->judged[series];

	if (judged->verdict == NOT_LOOKED_AT || judged->era != era) {
		const struct wish *wish = &watcher->wish;
		bool wanted = !service || ((!*wish->service || wish_matches(wish->service, service)) &&
						  (!*wish->name || wish_matches(wish->name, name)));

		judged->verdict = wanted ? WANTED : NOT_WANTED;
		judged->era = era;
	}
	return judged->verdict == WANTED;
}

static bool suits(const struct wish *wish, const struct trait *trait)
{
	return (!wish->trace || trait->trace_id == wish->trace) && (!wish->errors || trait->error) &&
	       trait->duration >= (uint64_t)wish->min_duration;
}

static void lose(struct watcher *watcher, uint64_t spans)
{
	if (spans)
		atomic_store_explicit(&watcher->lost, watcher_lost(watcher) + spans, memory_order_relaxed);
}

/* All that is wanted goes into the ring at once, as far as there is room. */
static void show_to(struct audience *audience, struct watcher *watcher, const struct statistics *statistics,
	const struct items *spans)
{
	bool by_name = *watcher->wish.service || *watcher->wish.name;
	const struct batch *items = spans->batch;
	const uint8_t *at = items->spans.data;
	size_t room = ring_room(&watcher->ring);
	struct buffer *records = &audience->records;
	uint64_t lost = 0;

	if (room < LITTLE && watcher->any) {
		lose(watcher, items->count);
		return;
	}
	records->size = 0;
	for (uint32_t i = 0; i < items->count; at += batch_sizes(items)[i++]) {
		struct tail_record record = {batch_sizes(items)[i], items->format};

		if (!record.size || !suits(&watcher->wish, &spans->traits[i]) ||
			(by_name && !is_wanted(watcher, statistics, spans, i)))
			continue;
		if (room - records->size < sizeof(record) + record.size) {
			lost++;
			continue;
		}
		buffer_put(records, &record, sizeof(record));
		buffer_put(records, at, record.size);
	}
	ring_put(&watcher->ring, records->data, records->size);
	lose(watcher, lost);
}

void audience_show(struct audience *audience, const struct statistics *statistics, const struct items *spans)
{
	if (!atomic_load_explicit(&audience->watchers, memory_order_relaxed) || !items_count(spans))
		return;
	atomic_fetch_add(&audience->shows, 1);
	for (int i = 0; i < AUDIENCE_MAX; i++) {
		struct watcher *watcher = atomic_load(&audience->watcher[i]);

		if (watcher)
			show_to(audience, watcher, statistics, spans);
	}
	atomic_fetch_add(&audience->shows, 1);
}

/* Watching */

struct watcher *audience_join(struct audience *audience, const struct wish *wish)
{
	struct watcher *watcher;
	int i = 0;

	while (i < AUDIENCE_MAX && atomic_load(&audience->watcher[i]))
		i++;
	if (i == AUDIENCE_MAX)
		return NULL;
	watcher = g_new0(struct watcher, 1);
	watcher->wish = *wish;
	watcher->any =
		!*wish->service && !*wish->name && !wish->errors && !wish->trace && !wish->min_duration;
	ring_reset(&watcher->ring);
	atomic_store(&audience->watcher[i], watcher);
	atomic_fetch_add(&audience->watchers, 1);
	return watcher;
}

void audience_leave(struct audience *audience, struct watcher *watcher)
{
	uint64_t shows;

	atomic_fetch_sub(&audience->watchers, 1);
	for (int i = 0; i < AUDIENCE_MAX; i++)
		if (atomic_load(&audience->watcher[i]) == watcher)
			atomic_store(&audience->watcher[i], NULL);
	/* a show that began before may still use it; one that begins now finds it gone */
	shows = atomic_load(&audience->shows);
	while (shows % 2 && atomic_load(&audience->shows) == shows)
		sched_yield();
	g_free(watcher);
}

void watcher_take(struct watcher *watcher, size_t most, struct buffer *to)
{
	ring_take(&watcher->ring, &watcher->taken, most, to);
}

uint64_t watcher_lost(const struct watcher *watcher)
{
	return atomic_load_explicit(&watcher->lost, memory_order_relaxed);
}
