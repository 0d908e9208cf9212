/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/backlog.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "queue/inner.h"

/* The most refused spans that wait to be stored; further ones are not kept. */
#define REFUSED_MAX 64
/* How much of the collector's message is kept. */
#define WORDS_MAX 256

void backlog_init(struct queue *queue)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->work, &attr);
	pthread_cond_init(&queue->released, &attr);
	pthread_condattr_destroy(&attr);
	/* assumed until the first try */
	queue->delivering = true;
	queue->delivering_since = clock_monotonic();
	line_init(&queue->replay);
	queue->refused_last = &queue->refused;
	queue->replayed = g_array_new(FALSE, FALSE, sizeof(int64_t));
}

void backlog_free(struct queue *queue)
{
	struct refused_span *refused;
	struct entry *entry;

	while ((entry = backlog_unlink(queue)))
		entry_destroy(entry);
	while ((refused = queue->refused)) {
		queue->refused = refused->next;
		g_free(refused);
	}
	g_array_unref(queue->replayed);
	pthread_cond_destroy(&queue->work);
	pthread_cond_destroy(&queue->released);
}

void backlog_attach(struct queue *queue, uint64_t replay_floor)
{
	pthread_mutex_lock(&queue->lock);
	queue->replay_floor = replay_floor;
	queue->spooled = true;
	pthread_mutex_unlock(&queue->lock);
}

void backlog_detach(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->spooled = false;
	pthread_mutex_unlock(&queue->lock);
}

void backlog_set_storing(struct queue *queue, bool storing)
{
	pthread_mutex_lock(&queue->lock);
	queue->storing = storing;
	if (!storing)
		queue_has_room(queue);
	pthread_mutex_unlock(&queue->lock);
}

void backlog_set_room(struct queue *queue, size_t bytes)
{
	pthread_mutex_lock(&queue->lock);
	queue->spool_room = bytes;
	pthread_mutex_unlock(&queue->lock);
}

static void set_delivering(struct queue *queue, bool delivering, bool busy)
{
	pthread_mutex_lock(&queue->lock);
	if (queue->delivering != delivering) {
		queue->delivering_since = clock_monotonic();
		queue->proven = false;
		queue->trough = (struct trough){0};
	}
	if (delivering && !queue->delivering && !queue->busy)
		queue->returns++;
	if (queue->delivering != delivering || queue->busy != busy)
		queue_poke(queue);
	queue->delivering = delivering;
	queue->busy = busy;
	if (busy)
		queue->busy_at = clock_monotonic();
	pthread_mutex_unlock(&queue->lock);
}

void queue_set_delivering(struct queue *queue, bool delivering)
{
	set_delivering(queue, delivering, false);
}

void queue_set_busy(struct queue *queue)
{
	set_delivering(queue, false, true);
}

uint64_t queue_came(struct queue *queue, uint64_t *replay_floor)
{
	uint64_t came;

	pthread_mutex_lock(&queue->lock);
	came = queue->came;
	*replay_floor = queue->replay_floor;
	pthread_mutex_unlock(&queue->lock);
	return came;
}

void queue_want_replay(struct queue *queue, double items)
{
	pthread_mutex_lock(&queue->lock);
	queue->replay_pace = items;
	pthread_mutex_unlock(&queue->lock);
}

/* While suspects are few, others are handed over as if they were not there: one may be what the server takes.
 */
static size_t too_many_suspects(const struct queue *queue)
{
	return queue->suspect_bytes > queue->limits.bytes / 8 ? queue->suspect_bytes : 0;
}

static void look(struct queue *queue, struct backlog *backlog)
{
	*backlog = (struct backlog){
		.delivering = queue->delivering,
		.busy = queue->busy,
		.closed = queue->closed,
		.since = queue->delivering_since,
		.waiting_bytes = queue->waiting_bytes,
		.oldest = queue->fresh.first ? queue->fresh.first->came : 0,
		.busy_at = queue->busy_at,
		.returns = queue->returns,
		.unsettled = queue->unsettled > 0,
		.limit = queue->limits.bytes,
		.fresh_released = queue->fresh_released,
		.replay_bytes = queue->replay_bytes + too_many_suspects(queue),
		.replay_pace = queue->replay_pace,
		.replayed = queue->replayed->len,
		.refused = queue->refused_count,
		.suspects = aside_count_fresh(queue),
	};
}

void backlog_look(struct queue *queue, struct backlog *backlog)
{
	pthread_mutex_lock(&queue->lock);
	look(queue, backlog);
	pthread_mutex_unlock(&queue->lock);
}

void backlog_wait(struct queue *queue, int64_t until, struct backlog *backlog)
{
	struct timespec time = clock_timespec(until);

	pthread_mutex_lock(&queue->lock);
	while (!queue->woken && until == INT64_MAX)
		pthread_cond_wait(&queue->work, &queue->lock);
	if (!queue->woken)
		pthread_cond_timedwait(&queue->work, &queue->lock, &time);
	queue->woken = false;
	look(queue, backlog);
	pthread_mutex_unlock(&queue->lock);
}

void backlog_wake(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue_poke(queue);
	pthread_mutex_unlock(&queue->lock);
}

struct entry *backlog_take(struct queue *queue, size_t bytes)
{
	struct entry *list = NULL, **last = &list;
	size_t taken = 0;

	pthread_mutex_lock(&queue->lock);
	while (queue->fresh.first && (!list || taken + entry_bytes(queue->fresh.first) <= bytes)) {
		taken += entry_bytes(queue->fresh.first);
		*last = queue_unlink_first(queue);
		last = &(*last)->next;
	}
	pthread_mutex_unlock(&queue->lock);
	return list;
}

void backlog_stored(struct queue *queue, struct entry *list)
{
	pthread_mutex_lock(&queue->lock);
	for (struct entry *entry = list; entry; entry = entry->next)
		queue_settle(queue, entry);
	queue_has_room(queue);
	queue_wake(queue); /* wakes who waits for the queue to be empty */
	pthread_mutex_unlock(&queue->lock);
	while (list) {
		struct entry *entry = list;

		list = entry->next;
		entry_settle(entry, true);
		entry_destroy(entry);
	}
}

void backlog_spool_is_full(struct queue *queue, struct entry *list)
{
	pthread_mutex_lock(&queue->lock);
	while (list) {
		struct entry *entry = list;

		list = entry->next;
		queue_drop(queue, entry, SPANS_DROPPED_SPOOL_FULL);
	}
	queue_has_room(queue);
	queue_wake(queue); /* wakes who waits for the queue to be empty */
	pthread_mutex_unlock(&queue->lock);
}

static struct entry *reverse(struct entry *list)
{
	struct entry *reversed = NULL;

	while (list) {
		struct entry *entry = list;

		list = entry->next;
		entry->next = reversed;
		reversed = entry;
	}
	return reversed;
}

void backlog_put_back(struct queue *queue, struct entry *list)
{
	list = reverse(list);
	pthread_mutex_lock(&queue->lock);
	while (list) {
		struct entry *entry = list;

		list = entry->next;
		if (entry->aside)
			aside_add(queue, entry);
		else
			queue_put_back(queue, entry);
	}
	queue_wake(queue);
	pthread_mutex_unlock(&queue->lock);
}

/* Replay */

void backlog_replay(struct queue *queue, struct entry *entry)
{
	pthread_mutex_lock(&queue->lock);
	if (entry_is_suspect(entry)) {
		aside_add(queue, entry);
	} else {
		line_insert(&queue->replay, queue->replay.end, entry);
		queue->replay_bytes += entry_bytes(entry);
	}
	queue_wake(queue);
	pthread_mutex_unlock(&queue->lock);
}

static struct entry *unlink_at(struct queue *queue, struct entry **at)
{
	struct entry *entry = line_unlink(&queue->replay, at);

	if (entry_is_suspect(entry)) {
		queue->suspect_bytes -= entry_bytes(entry);
		queue->replay_bytes += entry_bytes(entry);
	}
	return entry;
}

struct entry *backlog_unlink(struct queue *queue)
{
	return queue->replay.first ? unlink_at(queue, &queue->replay.first) : NULL;
}

struct entry *backlog_unlink_suspect(struct queue *queue)
{
	struct entry *entry = unlink_at(queue, queue->replay.end);

	queue->replay_bytes -= entry_bytes(entry);
	return entry;
}

/* Behind a suspect, the spooler hands over another one. */
void backlog_put_back_one(struct queue *queue, struct entry *entry)
{
	line_put_back(&queue->replay, entry);
	if (!entry_is_suspect(entry))
		return;
	queue->suspect_bytes += entry_bytes(entry);
	queue->replay_bytes -= entry_bytes(entry);
	queue_poke(queue);
}

void backlog_released(struct queue *queue, const struct entry *entry)
{
	if (!entry->aside)
		queue->replay_bytes -= entry_bytes(entry);
	g_array_append_val(queue->replayed, entry->spool_id);
	if (entry->more_ids)
		g_array_append_vals(queue->replayed, entry->more_ids->data, entry->more_ids->len);
	queue_poke(queue);
}

static bool has_id(const int64_t *ids, unsigned count, int64_t id)
{
	unsigned from = 0, to = count;

	while (from < to) {
		unsigned middle = from + (to - from) / 2;

		if (ids[middle] < id)
			from = middle + 1;
		else
			to = middle;
	}
	return from < count && ids[from] == id;
}

/* Of one that has the items of several rows, all of them. */
bool backlog_is_among(const struct entry *entry, const int64_t *ids, unsigned count)
{
	bool among = has_id(ids, count, entry->spool_id);

	for (guint i = 0; among && entry->more_ids && i < entry->more_ids->len; i++)
		among = has_id(ids, count, g_array_index(entry->more_ids, int64_t, i));
	return among;
}

struct entry *backlog_recall(struct queue *queue, const int64_t *ids, unsigned count)
{
	struct entry *list = NULL, **last = &list, **at = &queue->replay.first;

	pthread_mutex_lock(&queue->lock);
	while (*at) {
		if (!backlog_is_among(*at, ids, count)) {
			at = &(*at)->next;
			continue;
		}
		*last = unlink_at(queue, at);
		queue->replay_bytes -= entry_bytes(*last);
		last = &(*last)->next;
	}
	while ((*last = aside_recall(queue, ids, count)))
		last = &(*last)->next;
	pthread_mutex_unlock(&queue->lock);
	return list;
}

struct entry *backlog_recall_all(struct queue *queue)
{
	struct entry *list = NULL, **last = &list;

	pthread_mutex_lock(&queue->lock);
	while ((*last = backlog_unlink(queue))) {
		queue->replay_bytes -= entry_bytes(*last);
		last = &(*last)->next;
	}
	while ((*last = aside_unlink_replayed(queue)))
		last = &(*last)->next;
	pthread_mutex_unlock(&queue->lock);
	return list;
}

unsigned backlog_take_replayed(struct queue *queue, int64_t *ids, unsigned max)
{
	unsigned count;

	pthread_mutex_lock(&queue->lock);
	count = MIN(queue->replayed->len, max);
	if (count) {
		memcpy(ids, queue->replayed->data, count * sizeof(*ids));
		g_array_remove_range(queue->replayed, 0, count);
	}
	pthread_mutex_unlock(&queue->lock);
	return count;
}

/* Refused spans */

static struct refused_span *copy_refused(const struct entry *entry, uint32_t index, const char *words)
{
	const uint32_t *sizes = batch_sizes(entry->batch);
	size_t kept = MIN(sizes[index], REFUSED_SPAN_BYTES), words_size = strnlen(words, WORDS_MAX), at = 0;
	struct refused_span *refused = g_malloc0(sizeof(*refused) + kept + words_size + 1);
	uint8_t *span = (uint8_t *)(refused + 1);

	for (uint32_t i = 0; i < index; i++)
		at += sizes[i];
	memcpy(span, entry->batch->spans.data + at, kept);
	memcpy(span + kept, words, words_size);
	refused->event_time = batch_events(entry->batch)[index];
	refused->size = sizes[index];
	refused->span = span;
	refused->words = (const char *)span + kept;
	return refused;
}

void queue_refuse(struct queue *queue, const struct entry *entry, uint32_t index, const char *words)
{
	account_move(queue->account, entry_row(entry), SPANS_DROPPED_REFUSED, 1);
	pthread_mutex_lock(&queue->lock);
	if (queue->spooled && queue->refused_count < REFUSED_MAX) {
		*queue->refused_last = copy_refused(entry, index, words);
		queue->refused_last = &(*queue->refused_last)->next;
		queue->refused_count++;
		queue_poke(queue);
	}
	pthread_mutex_unlock(&queue->lock);
}

struct refused_span *backlog_take_refused(struct queue *queue)
{
	struct refused_span *list;

	pthread_mutex_lock(&queue->lock);
	list = queue->refused;
	queue->refused = NULL;
	queue->refused_last = &queue->refused;
	queue->refused_count = 0;
	pthread_mutex_unlock(&queue->lock);
	return list;
}
