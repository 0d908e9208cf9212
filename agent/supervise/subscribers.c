/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/subscribers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include "handover/ring.h"
#include "queue/keep.h"

/* A ring with less room is full, for who wants everything: it need not look at each span. */
#define LITTLE 4096

struct subscriber {
	struct tail_filter filter;
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

struct subscribers {
	_Atomic unsigned subscribers;
	pthread_mutex_t lock; /* guards what follows: spans are shown by one thread at a time */
	struct subscriber *subscriber[SUBSCRIBERS_MAX];
	struct buffer records; /* those of a show */
};

struct subscribers *subscribers_create(void)
{
	struct subscribers *subscribers = g_new0(struct subscribers, 1);

	pthread_mutex_init(&subscribers->lock, NULL);
	return subscribers;
}

void subscribers_destroy(struct subscribers *subscribers)
{
	if (!subscribers)
		return;
	for (int i = 0; i < SUBSCRIBERS_MAX; i++)
		g_free(subscribers->subscriber[i]);
	buffer_free(&subscribers->records);
	pthread_mutex_destroy(&subscribers->lock);
	g_free(subscribers);
}

/* Showing */

/* By its service and name. Those beyond all series, and those of other nodes, have none here: whoever reads
 * the span will see. */
static bool is_wanted(
	struct subscriber *subscriber, const struct namer *namer, const struct items *spans, uint32_t i)
{
	const char *service, *name;
	uint32_t era, series = statistics_series_of(namer, spans, i, &service, &name, &era);
	struct judged *judged = &subscriber->judged[series];

	if (judged->verdict == NOT_LOOKED_AT || judged->era != era) {
		const struct tail_filter *filter = &subscriber->filter;
		bool wanted =
			!service || ((!*filter->service || tail_filter_matches(filter->service, service)) &&
					    (!*filter->name || tail_filter_matches(filter->name, name)));

		judged->verdict = wanted ? WANTED : NOT_WANTED;
		judged->era = era;
	}
	return judged->verdict == WANTED;
}

static bool suits(const struct tail_filter *filter, const struct trait *trait)
{
	return (!filter->trace || trait->trace_id == filter->trace) && (!filter->errors || trait->error) &&
	       trait->duration >= (uint64_t)filter->min_duration;
}

static void lose(struct subscriber *subscriber, uint64_t spans)
{
	if (spans)
		atomic_store_explicit(
			&subscriber->lost, subscriber_lost(subscriber) + spans, memory_order_relaxed);
}

/* All that is wanted goes into the ring at once, as far as there is room. */
static void show_to(struct subscribers *subscribers, struct subscriber *subscriber, const struct namer *namer,
	const struct items *spans)
{
	bool by_name = *subscriber->filter.service || *subscriber->filter.name;
	const struct batch *items = spans->batch;
	const uint8_t *at = items->spans.data;
	size_t room = ring_room(&subscriber->ring);
	struct buffer *records = &subscribers->records;
	uint64_t lost = 0;

	if (room < LITTLE && subscriber->any) {
		lose(subscriber, items->count);
		return;
	}
	records->size = 0;
	for (uint32_t i = 0; i < items->count; at += batch_sizes(items)[i++]) {
		struct tail_record record = {batch_sizes(items)[i], items->format};

		if (!record.size || !suits(&subscriber->filter, &spans->traits[i]) ||
			(by_name && namer && !is_wanted(subscriber, namer, spans, i)))
			continue;
		if (room - records->size < sizeof(record) + record.size) {
			lost++;
			continue;
		}
		buffer_put(records, &record, sizeof(record));
		buffer_put(records, at, record.size);
	}
	ring_put(&subscriber->ring, records->data, records->size);
	lose(subscriber, lost);
}

void subscribers_show(struct subscribers *subscribers, const struct namer *namer, const struct items *spans)
{
	if (!atomic_load_explicit(&subscribers->subscribers, memory_order_relaxed) || !items_count(spans))
		return;
	pthread_mutex_lock(&subscribers->lock);
	for (int i = 0; i < SUBSCRIBERS_MAX; i++)
		if (subscribers->subscriber[i])
			show_to(subscribers, subscribers->subscriber[i], namer, spans);
	pthread_mutex_unlock(&subscribers->lock);
}

/* Watching */

static bool enter(struct subscribers *subscribers, struct subscriber *subscriber)
{
	int i = 0;

	pthread_mutex_lock(&subscribers->lock);
	while (i < SUBSCRIBERS_MAX && subscribers->subscriber[i])
		i++;
	if (i < SUBSCRIBERS_MAX) {
		subscribers->subscriber[i] = subscriber;
		atomic_fetch_add(&subscribers->subscribers, 1);
	}
	pthread_mutex_unlock(&subscribers->lock);
	return i < SUBSCRIBERS_MAX;
}

struct subscriber *subscribers_join(struct subscribers *subscribers, const struct tail_filter *filter)
{
	struct subscriber *subscriber = g_new0(struct subscriber, 1);

	subscriber->filter = *filter;
	subscriber->any = !*filter->service && !*filter->name && !filter->errors && !filter->trace &&
			  !filter->min_duration;
	ring_reset(&subscriber->ring);
	if (enter(subscribers, subscriber))
		return subscriber;
	g_free(subscriber);
	return NULL;
}

void subscribers_leave(struct subscribers *subscribers, struct subscriber *subscriber)
{
	pthread_mutex_lock(&subscribers->lock);
	atomic_fetch_sub(&subscribers->subscribers, 1);
	for (int i = 0; i < SUBSCRIBERS_MAX; i++)
		if (subscribers->subscriber[i] == subscriber)
			subscribers->subscriber[i] = NULL;
	pthread_mutex_unlock(&subscribers->lock);
	g_free(subscriber);
}

void subscriber_take(struct subscriber *subscriber, size_t most, struct buffer *to)
{
	ring_take(&subscriber->ring, &subscriber->taken, most, to);
}

uint64_t subscriber_lost(const struct subscriber *subscriber)
{
	return atomic_load_explicit(&subscriber->lost, memory_order_relaxed);
}
