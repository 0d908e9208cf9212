/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/backlog.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "queue/queue.h"

/* Refused spans that wait to be stored; of more, the first are kept. */
#define REFUSED_MAX 64
/* Of the collector's words so much is kept. */
#define WORDS_MAX 256

void backlog_init(struct batch_queue *queue)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&queue->work, &attr);
	pthread_cond_init(&queue->released, &attr);
	pthread_condattr_destroy(&attr);
	/* until the first try says otherwise */
	queue->delivering = true;
	queue->delivering_since = clock_monotonic();
	queue->replay_last = &queue->replay_first;
	queue->refused_last = &queue->refused;
	queue->replayed = g_array_new(FALSE, FALSE, sizeof(int64_t));
}

void backlog_free(struct batch_queue *queue)
{
	struct refused_span *refused;
	struct batch *batch;

	while ((batch = backlog_unlink(queue)))
		batch_free(batch);
	while ((refused = queue->refused)) {
		queue->refused = refused->next;
		g_free(refused);
	}
	g_array_unref(queue->replayed);
	pthread_cond_destroy(&queue->work);
	pthread_cond_destroy(&queue->released);
}

void backlog_attach(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->spooled = true;
	pthread_mutex_unlock(&queue->lock);
}

void backlog_set_storing(struct batch_queue *queue, bool storing)
{
	pthread_mutex_lock(&queue->lock);
	queue->storing = storing;
	if (!storing)
		pthread_cond_signal(&queue->released);
	pthread_mutex_unlock(&queue->lock);
}

void batch_set_delivering(struct batch_queue *queue, bool delivering)
{
	pthread_mutex_lock(&queue->lock);
	if (queue->delivering != delivering) {
		queue->delivering = delivering;
		queue->delivering_since = clock_monotonic();
		queue_poke(queue);
	}
	pthread_mutex_unlock(&queue->lock);
}

static void look(struct batch_queue *queue, struct backlog *backlog)
{
	*backlog = (struct backlog){
		.delivering = queue->delivering,
		.closed = queue->closed,
		.since = queue->delivering_since,
		.waiting_bytes = queue->waiting_bytes,
		.limit = queue->limits.queue_bytes,
		.fresh_released = queue->fresh_released,
		.replay_bytes = queue->replay_bytes,
		.replayed = queue->replayed->len,
		.refused = queue->refused_count,
	};
}

void backlog_look(struct batch_queue *queue, struct backlog *backlog)
{
	pthread_mutex_lock(&queue->lock);
	look(queue, backlog);
	pthread_mutex_unlock(&queue->lock);
}

void backlog_wait(struct batch_queue *queue, int64_t until, struct backlog *backlog)
{
	struct timespec time = {until / NS_PER_SECOND, until % NS_PER_SECOND};

	pthread_mutex_lock(&queue->lock);
	while (!queue->woken && until == INT64_MAX)
		pthread_cond_wait(&queue->work, &queue->lock);
	if (!queue->woken)
		pthread_cond_timedwait(&queue->work, &queue->lock, &time);
	queue->woken = false;
	look(queue, backlog);
	pthread_mutex_unlock(&queue->lock);
}

void backlog_wake(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue_poke(queue);
	pthread_mutex_unlock(&queue->lock);
}

struct batch *backlog_take(struct batch_queue *queue, size_t bytes)
{
	struct batch *list = NULL, **last = &list;
	size_t taken = 0;

	pthread_mutex_lock(&queue->lock);
	while (queue->first && (!list || taken + batch_bytes(queue->first) <= bytes)) {
		taken += batch_bytes(queue->first);
		*last = queue_unlink_first(queue);
		last = &(*last)->next;
	}
	pthread_mutex_unlock(&queue->lock);
	return list;
}

void backlog_stored(struct batch_queue *queue, struct batch *list)
{
	pthread_mutex_lock(&queue->lock);
	for (struct batch *batch = list; batch; batch = batch->next)
		queue_settle(queue, batch);
	pthread_cond_signal(&queue->released);
	pthread_mutex_unlock(&queue->lock);
	while (list) {
		struct batch *batch = list;

		list = batch->next;
		batch_free(batch);
	}
	queue->wake(queue->data); /* whoever waits for the queue to be empty should look */
}

static struct batch *reverse(struct batch *list)
{
	struct batch *reversed = NULL;

	while (list) {
		struct batch *batch = list;

		list = batch->next;
		batch->next = reversed;
		reversed = batch;
	}
	return reversed;
}

void backlog_put_back(struct batch_queue *queue, struct batch *list)
{
	list = reverse(list);
	pthread_mutex_lock(&queue->lock);
	while (list) {
		struct batch *batch = list;

		list = batch->next;
		queue_give_back(queue, batch);
	}
	pthread_mutex_unlock(&queue->lock);
	queue->wake(queue->data);
}

/* Replay */

struct batch *backlog_new_batch(void)
{
	return memory_get(sizeof(struct batch));
}

void backlog_free_batch(struct batch *batch)
{
	batch_free(batch);
}

void backlog_replay(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	batch->next = NULL;
	*queue->replay_last = batch;
	queue->replay_last = &batch->next;
	queue->replay_bytes += batch_bytes(batch);
	pthread_mutex_unlock(&queue->lock);
	queue->wake(queue->data);
}

struct batch *backlog_unlink(struct batch_queue *queue)
{
	struct batch *batch = queue->replay_first;

	if (batch) {
		queue->replay_first = batch->next;
		if (!queue->replay_first)
			queue->replay_last = &queue->replay_first;
		batch->next = NULL;
	}
	return batch;
}

void backlog_give_back(struct batch_queue *queue, struct batch *batch)
{
	if (!queue->replay_first)
		queue->replay_last = &batch->next;
	batch->next = queue->replay_first;
	queue->replay_first = batch;
}

void backlog_released(struct batch_queue *queue, const struct batch *batch)
{
	queue->replay_bytes -= batch_bytes(batch);
	g_array_append_val(queue->replayed, batch->spool_id);
	queue_poke(queue);
}

unsigned backlog_take_replayed(struct batch_queue *queue, int64_t *ids, unsigned max)
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

/* What was refused */

static struct refused_span *copy_refused(const struct batch *batch, uint32_t index, const char *words)
{
	const uint32_t *sizes = batch_sizes(batch);
	size_t kept = MIN(sizes[index], REFUSED_SPAN_BYTES), words_size = strnlen(words, WORDS_MAX), at = 0;
	struct refused_span *refused = g_malloc0(sizeof(*refused) + kept + words_size + 1);
	uint8_t *span = (uint8_t *)(refused + 1);

	for (uint32_t i = 0; i < index; i++)
		at += sizes[i];
	memcpy(span, batch->spans.data + at, kept);
	memcpy(span + kept, words, words_size);
	refused->event_time = batch_events(batch)[index];
	refused->size = sizes[index];
	refused->span = span;
	refused->words = (const char *)span + kept;
	return refused;
}

void batch_refuse(struct batch_queue *queue, const struct batch *batch, uint32_t span, const char *words)
{
	ledger_move(batch_row(batch), SPANS_DROPPED_REFUSED, 1);
	pthread_mutex_lock(&queue->lock);
	if (queue->spooled && queue->refused_count < REFUSED_MAX) {
		*queue->refused_last = copy_refused(batch, span, words);
		queue->refused_last = &(*queue->refused_last)->next;
		queue->refused_count++;
		queue_poke(queue);
	}
	pthread_mutex_unlock(&queue->lock);
}

struct refused_span *backlog_take_refused(struct batch_queue *queue)
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
