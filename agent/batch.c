/* SPDX-License-Identifier: BSD-2-Clause */
#include "batch.h"

#include <pthread.h>
#include <stdlib.h>

#include <glib.h>

#include "ledger.h"
#include "memory.h"

struct batch_queue {
	struct batch_limits limits;
	void (*wake)(void *data);
	void *data;
	struct batch *open;   /* the reader's: not locked */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t released;
	struct batch *first, **last;
	struct batch *spare; /* one empty batch, kept so that a steady stream allocates nothing */
	size_t bytes, taken_bytes;
	uint32_t taken;
	uint64_t pushed;    /* batches, ever */
	uint64_t marked;    /* the last batch that batch_mark saw */
	uint64_t unsettled; /* how many of those up to it wait or are taken */
	uint64_t waiting;   /* how many wait */
	bool closed;
	bool delivering;
};

static size_t batch_bytes(const struct batch *batch)
{
	return sizeof(*batch) + batch->spans.room + batch->sizes.room + batch->events.room;
}

static void batch_free(struct batch *batch)
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
	pthread_cond_init(&queue->released, NULL);
	return queue;
}

/* Unlinks the oldest batch that waits; the lock is held. */
static struct batch *unlink_first(struct batch_queue *queue)
{
	struct batch *batch = queue->first;

	if (batch) {
		queue->first = batch->next;
		if (!queue->first)
			queue->last = &queue->first;
		batch->next = NULL;
		queue->waiting--;
	}
	return batch;
}

/* A batch is released or dropped; the lock is held. */
static void settle(struct batch_queue *queue, const struct batch *batch)
{
	if (batch->number <= queue->marked)
		queue->unsettled--;
}

void batch_queue_destroy(struct batch_queue *queue)
{
	struct batch *batch;

	while ((batch = unlink_first(queue)))
		batch_free(batch);
	batch_free(queue->open);
	batch_free(queue->spare);
	pthread_cond_destroy(&queue->released);
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
	if (!batch)
		batch = memory_get(sizeof(*batch));
	batch->born = now;
	return batch;
}

/* Makes room for @need bytes by waiting, or by dropping the oldest that wait; the lock is held. */
static void make_room(struct batch_queue *queue, size_t need)
{
	while (queue->bytes && queue->bytes + need > queue->limits.queue_bytes) {
		if (queue->limits.wait_when_full) {
			pthread_cond_wait(&queue->released, &queue->lock);
		} else {
			struct batch *oldest = unlink_first(queue);

			if (!oldest)
				break;
			queue->bytes -= batch_bytes(oldest);
			settle(queue, oldest);
			ledger_move(SPANS_QUEUED, SPANS_DROPPED_QUEUE_FULL, oldest->count);
			batch_free(oldest);
		}
	}
}

static void push_open(struct batch_queue *queue)
{
	struct batch *batch = queue->open;

	queue->open = NULL;
	pthread_mutex_lock(&queue->lock);
	make_room(queue, batch_bytes(batch));
	queue->bytes += batch_bytes(batch);
	batch->number = ++queue->pushed;
	queue->waiting++;
	*queue->last = batch;
	queue->last = &batch->next;
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
	       (queue->open->count == queue->limits.spans || queue->open->spans.size >= queue->limits.bytes);
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
	queue->unsettled = queue->waiting + queue->taken;
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

struct batch *batch_take(struct batch_queue *queue)
{
	struct batch *batch = NULL;

	pthread_mutex_lock(&queue->lock);
	if (queue->first && (!queue->taken || queue->taken_bytes + batch_bytes(queue->first) <=
						      queue->limits.queue_bytes / 2)) {
		batch = unlink_first(queue);
		queue->taken++;
		queue->taken_bytes += batch_bytes(batch);
	}
	pthread_mutex_unlock(&queue->lock);
	return batch;
}

void batch_give_back(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	queue->taken--;
	queue->taken_bytes -= batch_bytes(batch);
	if (!queue->first)
		queue->last = &batch->next;
	batch->next = queue->first;
	queue->first = batch;
	queue->waiting++;
	pthread_mutex_unlock(&queue->lock);
}

void batch_release(struct batch_queue *queue, struct batch *batch)
{
	pthread_mutex_lock(&queue->lock);
	queue->taken--;
	queue->taken_bytes -= batch_bytes(batch);
	queue->bytes -= batch_bytes(batch);
	settle(queue, batch);
	if (!queue->spare) {
		batch->spans.size = batch->sizes.size = batch->events.size = 0;
		batch->count = 0;
		batch->sent_before = false;
		batch->spool_id = 0;
		batch->next = NULL;
		queue->spare = batch;
		batch = NULL;
	}
	pthread_cond_signal(&queue->released);
	pthread_mutex_unlock(&queue->lock);
	batch_free(batch);
}

void batch_set_delivering(struct batch_queue *queue, bool delivering)
{
	pthread_mutex_lock(&queue->lock);
	queue->delivering = delivering;
	pthread_mutex_unlock(&queue->lock);
}

void batch_refuse(struct batch_queue *queue, const struct batch *batch, uint32_t span, const char *words)
{
	(void)queue;
	(void)span;
	(void)words;
	ledger_move(batch_row(batch), SPANS_DROPPED_REFUSED, 1);
}

bool batch_queue_done(struct batch_queue *queue)
{
	bool done;

	pthread_mutex_lock(&queue->lock);
	done = queue->closed && !queue->first && !queue->taken;
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

void batch_drop_all(struct batch_queue *queue, int dropped)
{
	struct batch *batch;

	while ((batch = batch_take(queue))) {
		ledger_move(SPANS_QUEUED, (enum ledger_row)dropped, batch->count);
		batch_release(queue, batch);
	}
}
