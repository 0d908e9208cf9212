/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/aside.h"

#include "queue/inner.h"

/* With the lock held */

bool aside_has_room(const struct queue *queue, const struct entry *entry)
{
	return queue->aside_count < ASIDE_MAX &&
	       (!queue->aside_count || queue->aside_bytes + entry_bytes(entry) <= queue->limits.bytes / 4);
}

void aside_add(struct queue *queue, struct entry *entry)
{
	struct entry **last = &queue->aside;

	while (*last)
		last = &(*last)->next;
	*last = entry;
	entry->next = NULL;
	entry->aside = true;
	queue->aside_count++;
	queue->aside_bytes += entry_bytes(entry);
	if (!entry->spool_id && queue->spooled)
		queue_poke(queue);
	queue_wake(queue);
}

static struct entry *unlink_at(struct queue *queue, struct entry **at)
{
	struct entry *entry = *at;

	*at = entry->next;
	entry->next = NULL;
	queue->aside_count--;
	queue->aside_bytes -= entry_bytes(entry);
	return entry;
}

struct entry *aside_unlink_fresh(struct queue *queue, bool handed)
{
	struct entry **at = &queue->aside;

	while (*at && ((*at)->spool_id || (handed && !(*at)->receipt)))
		at = &(*at)->next;
	return *at ? unlink_at(queue, at) : NULL;
}

struct entry *aside_recall(struct queue *queue, const int64_t *ids, unsigned count)
{
	struct entry **at = &queue->aside;

	for (; *at; at = &(*at)->next)
		if ((*at)->spool_id && backlog_is_among(*at, ids, count))
			return unlink_at(queue, at);
	return NULL;
}

struct entry *aside_unlink_replayed(struct queue *queue)
{
	struct entry **at = &queue->aside;

	while (*at && !(*at)->spool_id)
		at = &(*at)->next;
	return *at ? unlink_at(queue, at) : NULL;
}

unsigned aside_count_fresh(const struct queue *queue)
{
	unsigned count = 0;

	for (const struct entry *entry = queue->aside; entry; entry = entry->next)
		count += !entry->spool_id;
	return count;
}

void aside_free(struct queue *queue)
{
	while (queue->aside)
		entry_destroy(unlink_at(queue, &queue->aside));
}

/* Suspects that wait for a place get one. */
static void fill(struct queue *queue)
{
	while (*queue->replay.end && aside_has_room(queue, *queue->replay.end))
		aside_add(queue, backlog_unlink_suspect(queue));
	while (*queue->fresh.end && aside_has_room(queue, *queue->fresh.end))
		aside_add(queue, queue_unlink_suspect(queue));
}

/* Without */

struct entry *aside_take(struct queue *queue)
{
	struct entry *entry = NULL, **at = &queue->aside;

	pthread_mutex_lock(&queue->lock);
	fill(queue);
	while (*at && !(*at)->spool_id && queue->spooled && queue->storing)
		at = &(*at)->next;
	if (*at)
		entry = unlink_at(queue, at);
	pthread_mutex_unlock(&queue->lock);
	return entry;
}

struct entry *aside_take_fresh(struct queue *queue)
{
	struct entry *list = NULL, **last = &list;

	pthread_mutex_lock(&queue->lock);
	while ((*last = aside_unlink_fresh(queue, false)))
		last = &(*last)->next;
	pthread_mutex_unlock(&queue->lock);
	return list;
}

uint64_t aside_spans(struct queue *queue)
{
	uint64_t spans = 0;

	pthread_mutex_lock(&queue->lock);
	for (const struct entry *entry = queue->aside; entry; entry = entry->next)
		spans += entry->batch->count;
	pthread_mutex_unlock(&queue->lock);
	return spans;
}
