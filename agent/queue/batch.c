/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/batch.h"

#include <pthread.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "queue/backlog.h"
#include "queue/queue.h"

/*
 * So long the reader waits for the disk rather than drop a batch: what it does not read meanwhile is kept by
 * the relay, whose files hold more than the queue.
 */
#define STORE_WAIT_NS (2 * NS_PER_SECOND)

size_t batch_bytes(const struct batch *batch)
{
	return sizeof(*batch) + batch->spans.room + batch->sizes.room + batch->events.room;
}

void batch_free(struct batch *batch)
{
	if (!batch)
		return;
	buffer_free(&batch->spans);
	buffer_free(&batch->sizes);
	buffer_free(&batch->events);
	free(batch);
}

struct batch_queue *batch_queue_create(
	const struct batch_limits *limits, void (*wake)(void *data), void *data)
{
	struct batch_queue *queue = g_new0(struct batch_queue, 1);

	queue->limits = *limits;
	queue->wake = wake;
	queue->data = data;
	queue->last = &queue->first;
	pthread_mutex_init(&queue->lock, NULL);
	backlog_init(queue);
	return queue;
}

void batch_configure(struct batch_queue *queue, const struct batch_limits *limits)
{
	pthread_mutex_lock(&queue->lock);
	queue->limits = *limits;
	pthread_mutex_unlock(&queue->lock);
}

/* Unlinks the oldest batch that waits; the lock is held. */
struct batch *queue_unlink_first(struct batch_queue *queue)
{
	struct batch *batch = queue->first;

	if (batch) {
		queue->first = batch->next;
		if (!queue->first)
			queue->last = &queue->first;
		batch->next = NULL;
		queue->waiting_bytes -= batch_bytes(batch);
	}
	return batch;
}

/* A fresh batch is released, dropped or on disk; the lock is held. */
void queue_settle(struct batch_queue *queue, const struct batch *batch)
{
	queue->bytes -= batch_bytes(batch);
	queue->live--;
	if (batch->number <= queue->marked)
		queue->unsettled--;
}

void batch_queue_destroy(struct batch_queue *queue)
{
	struct batch *batch;

	while ((batch = queue_unlink_first(queue)))
		batch_free(batch);
	batch_free(queue->open);
	batch_free(queue->spare);
	backlog_free(queue);
	pthread_mutex_destroy(&queue->lock);
	g_free(queue);
}

static struct batch *open_batch(struct batch_queue *queue, int64_t now)
{
	struct batch *batch;

	pthread_mutex_lock(&queue->lock);
	batch = queue->spare;
	queue->spare = NULL;
	pthread_mutex_unlock(&queue->lock);
	if (!batch) {
		batch = memory_get(sizeof(*batch));
		buffer_reserve(&batch->spans, queue->last_bytes);
		buffer_reserve(&batch->sizes, queue->last_count * sizeof(uint32_t));
		buffer_reserve(&batch->events, queue->last_count * sizeof(int64_t));
	}
	batch->born = now;
	return batch;
}

/* Waits for a batch to go, if that is worth it: returns false if one has to be dropped. The lock is held. */
static bool wait_for_room(struct batch_queue *queue, int64_t *until)
{
	struct timespec time;

	if (queue->limits.wait_when_full)
		return pthread_cond_wait(&queue->released, &queue->lock) == 0;
	if (!queue->storing)
		return false;
	if (!*until)
		*until = clock_monotonic() + STORE_WAIT_NS;
	time = (struct timespec){*until / NS_PER_SECOND, *until % NS_PER_SECOND};
	queue_poke(queue);
	return pthread_cond_timedwait(&queue->released, &queue->lock, &time) == 0;
}

/* Makes room for @need bytes by waiting, or by dropping the oldest that wait; the lock is held. */
static void make_room(struct batch_queue *queue, size_t need)
{
	int64_t until = 0;

	while (queue->bytes && queue->bytes + need > queue->limits.queue_bytes) {
		struct batch *oldest;

		if (wait_for_room(queue, &until))
			continue;
		oldest = queue_unlink_first(queue);
		if (!oldest)
			break;
		queue_settle(queue, oldest);
		ledger_move(SPANS_QUEUED, SPANS_DROPPED_QUEUE_FULL, oldest->count);
		batch_free(oldest);
	}
}

static void push_open(struct batch_queue *queue)
{
	struct batch *batch = queue->open;

	queue->open = NULL;
	queue->last_count = batch->count;
	queue->last_bytes = batch->spans.size;
	pthread_mutex_lock(&queue->lock);
	make_room(queue, batch_bytes(batch));
	queue->bytes += batch_bytes(batch);
	batch->number = ++queue->pushed;
	queue->live++;
	queue->waiting_bytes += batch_bytes(batch);
	*queue->last = batch;
	queue->last = &batch->next;
	if (queue->spooled && (!queue->delivering || queue->waiting_bytes > queue->limits.queue_bytes / 2))
		queue_poke(queue);
	pthread_mutex_unlock(&queue->lock);
	queue->wake(queue->data);
}

bool batch_add(struct batch_queue *queue, const uint8_t *span, size_t size, int64_t event_time, int64_t now)
{
	uint32_t bytes = (uint32_t)size;
	struct batch *batch;

	if (size > queue->limits.bytes)
		return false;
	if (!queue->open)
		queue->open = open_batch(queue, now);
	batch = queue->open;
	buffer_put(&batch->spans, span, size);
	buffer_put(&batch->sizes, &bytes, sizeof(bytes));
	buffer_put(&batch->events, &event_time, sizeof(event_time));
	batch->count++;
	return true;
}

bool batch_full(const struct batch_queue *queue)
{
	return queue->open &&
	       (queue->open->count >= queue->limits.spans || queue->open->spans.size >= queue->limits.bytes);
}

void batch_flush(struct batch_queue *queue, int64_t now, bool force)
{
	if (queue->open && (force || now - queue->open->born >= queue->limits.delay_ns))
		push_open(queue);
}

void batch_mark(struct batch_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->marked = queue->pushed;
	queue->unsettled = queue->live;
	pthread_mutex_unlock(&queue->lock);
}

bool batch_mark_settled(struct batch_queue *queue)
{
	bool settled;

	pthread_mutex_lock(&queue->lock);
	settled = queue->unsettled == 0;
	pthread_mutex_unlock(&queue->lock);
	return settled;
}

void batch_close(struct batch_queue *queue)
{
	if (queue->open)
		push_open(queue);
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	pthread_mutex_unlock(&queue->lock);
	queue->wake(queue->data);
}

/* The oldest fresh batch, or else one from disk; the lock is held. */
static struct batch *choose(struct batch_queue *queue)
{
	return queue->first || queue->closed ? queue->first : queue->replay_first;
}

struct batch *batch_take(struct batch_queue *queue)
{
	struct batch *batch;

	pthread_mutex_lock(&queue->lock);
	batch = choose(queue);
	if (batch && queue->taken && queue->taken_bytes + batch_bytes(batch) > queue->limits.queue_bytes / 2)
		batch = NULL;
	if (batch) {
		batch = batch->spool_id ? backlog_unlink(queue) : queue_unlink_first(queue);
		queue->taken++;
		queue->taken_bytes += batch_bytes(batch);
	}
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

void queue_give_back(struct batch_queue *queue, struct batch *batch)
{
	if (!queue->first)
		queue->last = &batch->next;
	batch->next = queue->first;
	queue->first = batch;
	queue->waiting_bytes += batch_bytes(batch);
}

void batch_give_back(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	queue->taken--;
	queue->taken_bytes -= batch_bytes(batch);
	if (batch->spool_id)
		backlog_give_back(queue, batch);
	else
		queue_give_back(queue, batch);
	pthread_mutex_unlock(&queue->lock);
}

static void empty(struct batch *batch)
{
	batch->spans.size = batch->sizes.size = batch->events.size = 0;
	batch->count = 0;
	batch->sent_before = false;
	batch->spool_id = 0;
	batch->next = NULL;
}

void batch_release(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	queue->taken--;
	queue->taken_bytes -= batch_bytes(batch);
	if (batch->spool_id) {
		backlog_released(queue, batch);
	} else {
		queue_settle(queue, batch);
		queue->fresh_released += batch->count;
	}
	if (!queue->spare) {
		empty(batch);
		queue->spare = batch;
		batch = NULL;
	}
	pthread_cond_signal(&queue->released);
	pthread_mutex_unlock(&queue->lock);
	batch_free(batch);
}

bool batch_queue_done(struct batch_queue *queue)
{
	bool done;

	pthread_mutex_lock(&queue->lock);
	done = queue->closed && !queue->live && !queue->taken;
	pthread_mutex_unlock(&queue->lock);
	return done;
}

size_t batch_queue_bytes(struct batch_queue *queue)
{
	size_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

size_t batch_queue_limit(struct batch_queue *queue)
{
	size_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->limits.queue_bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

void batch_drop_all(struct batch_queue *queue, int dropped)
{
	struct batch *batch;

	pthread_mutex_lock(&queue->lock);
	while ((batch = queue_unlink_first(queue))) {
		ledger_move(SPANS_QUEUED, (enum ledger_row)dropped, batch->count);
		queue_settle(queue, batch);
		batch_free(batch);
	}
	pthread_mutex_unlock(&queue->lock);
}
