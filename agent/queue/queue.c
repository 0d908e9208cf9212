/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/queue.h"

#include <pthread.h>

#include <glib.h>

#include "base/clock.h"
#include "queue/inner.h"

struct queue *queue_create(
	const struct queue_limits *limits, struct account *account, void (*wake)(void *data), void *data)
{
	struct queue *queue = g_new0(struct queue, 1);

	queue->account = account;
	queue->owners = 1;
	queue->limits = *limits;
	queue->wake = wake;
	queue->data = data;
	line_init(&queue->fresh);
	quota_init(&queue->quota);
	pthread_mutex_init(&queue->lock, NULL);
	backlog_init(queue);
	return queue;
}

struct queue *queue_ref(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->owners++;
	pthread_mutex_unlock(&queue->lock);
	return queue;
}

void queue_unref(struct queue *queue)
{
	struct entry *entry;
	bool last;

	if (!queue)
		return;
	pthread_mutex_lock(&queue->lock);
	last = --queue->owners == 0;
	pthread_mutex_unlock(&queue->lock);
	if (!last)
		return;
	while ((entry = queue_unlink_first(queue)))
		entry_destroy(entry);
	aside_free(queue);
	backlog_free(queue);
	pthread_mutex_destroy(&queue->lock);
	g_free(queue);
}

void queue_configure(struct queue *queue, const struct queue_limits *limits)
{
	pthread_mutex_lock(&queue->lock);
	queue->limits = *limits;
	pthread_mutex_unlock(&queue->lock);
}

struct account *queue_account(const struct queue *queue)
{
	return queue->account;
}

struct quota *queue_quota(struct queue *queue)
{
	return &queue->quota;
}

struct queue_treatment queue_treatment(struct queue *queue)
{
	struct queue_treatment treatment;

	pthread_mutex_lock(&queue->lock);
	treatment = queue->limits.treatment;
	pthread_mutex_unlock(&queue->lock);
	if (!treatment.batch_bytes)
		treatment.batch_bytes = SIZE_MAX;
	return treatment;
}

/* These are called with the lock held */

static struct entry *unlink_at(struct queue *queue, struct entry **at)
{
	queue->waiting_bytes -= entry_bytes(*at);
	return line_unlink(&queue->fresh, at);
}

struct entry *queue_unlink_first(struct queue *queue)
{
	return queue->fresh.first ? unlink_at(queue, &queue->fresh.first) : NULL;
}

struct entry *queue_unlink_suspect(struct queue *queue)
{
	return unlink_at(queue, queue->fresh.end);
}

/* A fresh entry was released, dropped or stored. */
void queue_settle(struct queue *queue, const struct entry *entry)
{
	queue->bytes -= entry_bytes(entry);
	queue->live--;
	if (entry->number <= queue->marked)
		queue->unsettled--;
}

void queue_put_back(struct queue *queue, struct entry *entry)
{
	line_put_back(&queue->fresh, entry);
	queue->waiting_bytes += entry_bytes(entry);
}

void queue_has_room(struct queue *queue)
{
	queue->slow = false;
	pthread_cond_broadcast(&queue->released);
}

/* The output is gone, and its account is shown no more: that is entered where its other drops are kept. */
static void enter_late(struct queue *queue, const struct entry *entry)
{
	const struct ledger change = {.row = {[SPANS_DROPPED_WITH_OUTPUT] = entry->batch->count}};
	struct account_entry its = {.account = queue->account};

	its.change.row[SPANS_TAKEN] = its.change.row[entry_row(entry)] = -(int64_t)entry->batch->count;
	ledger_post_with(&change, &its, 1);
}

/* What nobody has said OK to is its sender's again. */
static void enter_drop(struct queue *queue, const struct entry *entry, enum account_row row)
{
	if (entry_can_go_back(entry))
		account_move(queue->account, entry_row(entry), SPANS_GIVEN_BACK, entry->batch->count);
	else if (queue->ended)
		enter_late(queue, entry);
	else
		account_move(queue->account, entry_row(entry), row, entry->batch->count);
}

void queue_drop(struct queue *queue, struct entry *entry, enum account_row row)
{
	enter_drop(queue, entry, row);
	queue_settle(queue, entry);
	entry_destroy(entry);
}

/* Pushing */

/* Waits for a batch to leave, if that makes sense; returns false if one has to be dropped. */
static bool wait_for_room(struct queue *queue, int64_t *until)
{
	struct timespec time;

	if (queue->limits.wait_when_full)
		return pthread_cond_wait(&queue->released, &queue->lock) == 0;
	if (!queue->storing || queue->slow)
		return false;
	if (!*until)
		*until = clock_monotonic() + queue->limits.disk_ns;
	time = clock_timespec(*until);
	queue_poke(queue);
	queue->slow = pthread_cond_timedwait(&queue->released, &queue->lock, &time) != 0;
	return !queue->slow;
}

/* Makes room for @need bytes by waiting, or by dropping the oldest batches; the queue may end meanwhile. */
static void make_room(struct queue *queue, size_t need)
{
	int64_t until = 0;

	while (queue->wake && queue->bytes && queue->bytes + need > queue->limits.bytes) {
		struct entry *oldest;

		if (wait_for_room(queue, &until))
			continue;
		oldest = queue_unlink_first(queue);
		if (!oldest)
			break;
		queue_drop(queue, oldest, SPANS_DROPPED_QUEUE_FULL);
	}
}

static void append(struct queue *queue, struct entry *entry)
{
	size_t bytes = entry_bytes(entry);

	trough_note(&queue->trough, queue->waiting_bytes, entry->came);
	queue->bytes += bytes;
	queue->waiting_bytes += bytes;
	queue->live++;
	queue->came += entry->batch->count;
	entry->number = ++queue->pushed;
	line_insert(&queue->fresh, queue->fresh.end, entry);
	if (queue->spooled && (!queue->delivering || queue->waiting_bytes > queue->limits.bytes / 2))
		queue_poke(queue);
	queue_wake(queue);
}

void queue_push(struct queue *queue, struct batch *batch)
{
	struct entry *entry = entry_create(batch);

	entry->came = clock_monotonic();
	pthread_mutex_lock(&queue->lock);
	make_room(queue, entry_bytes(entry));
	if (queue->wake) {
		append(queue, entry);
	} else {
		enter_drop(queue, entry, SPANS_DROPPED_SHUTDOWN);
		entry_destroy(entry);
	}
	pthread_mutex_unlock(&queue->lock);
}

void queue_mark(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->marked = queue->pushed;
	queue->unsettled = queue->live;
	if (queue->unsettled && queue->spooled && !queue->delivering)
		queue_poke(queue);
	pthread_mutex_unlock(&queue->lock);
}

bool queue_mark_settled(struct queue *queue)
{
	bool settled;

	pthread_mutex_lock(&queue->lock);
	settled = queue->unsettled == 0;
	pthread_mutex_unlock(&queue->lock);
	return settled;
}

void queue_close(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->closed = true;
	queue_wake(queue);
	pthread_mutex_unlock(&queue->lock);
}

/* The uplink */

/* The first in @line, with the lock held. Suspects wait if the server takes others. */
static struct entry *first_of(const struct queue *queue, const struct line *line)
{
	return line_has_only_suspects(line) && queue->proven && !queue->closed ? NULL : line->first;
}

/* Takes the oldest fresh entry, or else one from disk; the lock is held. What may have no answer for long is
 * better one that is on disk: what is fresh can be stored meanwhile. Suspects come last. */
static struct entry *choose(struct queue *queue)
{
	struct entry *fresh = first_of(queue, &queue->fresh), *replay = first_of(queue, &queue->replay);

	if (queue->closed)
		return fresh;
	if (fresh && replay && entry_is_suspect(fresh) != entry_is_suspect(replay))
		return entry_is_suspect(fresh) ? replay : fresh;
	if (!queue->delivering && !queue->busy && replay)
		return replay;
	return fresh ? fresh : replay;
}

static struct entry *take(struct queue *queue, bool fresh_only)
{
	struct entry *entry;

	pthread_mutex_lock(&queue->lock);
	entry = fresh_only ? first_of(queue, &queue->fresh) : choose(queue);
	if (entry && queue->taken && queue->taken_bytes + entry_bytes(entry) > queue->limits.bytes / 2)
		entry = NULL;
	if (entry) {
		entry = entry->spool_id ? backlog_unlink(queue) : queue_unlink_first(queue);
		queue->taken++;
		queue->taken_bytes += entry_bytes(entry);
	}
	trough_note(&queue->trough, queue->waiting_bytes, clock_monotonic());
	pthread_mutex_unlock(&queue->lock);
	return entry;
}

struct entry *queue_take(struct queue *queue)
{
	return take(queue, false);
}

struct entry *queue_take_fresh(struct queue *queue)
{
	return take(queue, true);
}

static int64_t drop_waiting(struct queue *queue, bool handed);

/* Puts back an entry that was taken; the lock is held. */
static void put_back(struct queue *queue, struct entry *entry)
{
	entry_set_wire(entry, NULL);
	if (!entry->aside) {
		queue->taken--;
		queue->taken_bytes -= entry_bytes(entry);
	}
	if (entry->aside) {
		aside_add(queue, entry);
	} else if (entry_is_suspect(entry) && aside_has_room(queue, entry)) {
		queue->replay_bytes -= entry->spool_id ? entry_bytes(entry) : 0;
		aside_add(queue, entry);
	} else if (entry->spool_id) {
		backlog_put_back_one(queue, entry);
	} else {
		queue_put_back(queue, entry);
	}
	if (queue->ended)
		drop_waiting(queue, false);
}

void queue_give_back(struct queue *queue, struct entry *entry)
{
	pthread_mutex_lock(&queue->lock);
	put_back(queue, entry);
	pthread_mutex_unlock(&queue->lock);
}

void queue_rouse(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue_wake(queue);
	pthread_mutex_unlock(&queue->lock);
}

/* Under the lock: takes over a reference to @batch. */
static void exchange(struct queue *queue, struct entry *entry, struct batch *batch)
{
	size_t none = 0;
	size_t *held = !entry->spool_id ? &queue->bytes : entry->aside ? &none : &queue->replay_bytes;
	size_t *taken = entry->aside ? &none : &queue->taken_bytes;
	size_t less = batch_bytes(entry->batch), more = batch_bytes(batch);

	entry->cut |= batch->count < entry->batch->count;
	batch_unref(entry->batch);
	entry->batch = batch;
	*held = *held - less + more;
	*taken = *taken - less + more;
}

bool queue_exchange(struct queue *queue, struct entry *entry, struct batch *batch)
{
	if (!batch->count) {
		batch_unref(batch);
		queue_release(queue, entry);
		return false;
	}
	pthread_mutex_lock(&queue->lock);
	exchange(queue, entry, batch);
	pthread_mutex_unlock(&queue->lock);
	return true;
}

void queue_give_back_rest(struct queue *queue, struct entry *entry, struct batch *rest)
{
	pthread_mutex_lock(&queue->lock);
	exchange(queue, entry, rest);
	put_back(queue, entry);
	pthread_mutex_unlock(&queue->lock);
}

void queue_release(struct queue *queue, struct entry *entry)
{
	pthread_mutex_lock(&queue->lock);
	if (!entry->aside) {
		queue->taken--;
		queue->taken_bytes -= entry_bytes(entry);
		queue->proven = queue->delivering;
	}
	if (entry->spool_id) {
		backlog_released(queue, entry);
	} else {
		queue_settle(queue, entry);
		queue->fresh_released += entry->batch->count;
	}
	queue_has_room(queue);
	pthread_mutex_unlock(&queue->lock);
	entry_settle(entry, true);
	entry_destroy(entry);
}

bool queue_done(struct queue *queue)
{
	bool done;

	pthread_mutex_lock(&queue->lock);
	done = queue->closed && !queue->live && !queue->taken;
	pthread_mutex_unlock(&queue->lock);
	return done;
}

/* Anybody */

size_t queue_bytes(struct queue *queue)
{
	size_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

void queue_read_wait(struct queue *queue, int64_t *wait_ns, bool *grows)
{
	const int64_t now = clock_monotonic();

	pthread_mutex_lock(&queue->lock);
	trough_note(&queue->trough, queue->waiting_bytes, now);
	*wait_ns = queue->fresh.first ? now - queue->fresh.first->came : 0;
	*grows = trough_grows(&queue->trough);
	pthread_mutex_unlock(&queue->lock);
}

/*
 * What waits may yet have to be stored, and nothing older is to go for it. That a server is there does not
 * make it a safe place, as it may never answer: that it took something does.
 */
static bool has_safe_place(const struct queue *queue, size_t bytes)
{
	if (queue->spooled && queue->storing && !queue->proven)
		return queue->bytes + bytes <= queue->spool_room;
	return queue->delivering;
}

bool queue_admits(struct queue *queue, size_t bytes, bool safe)
{
	bool admits;

	pthread_mutex_lock(&queue->lock);
	admits = queue->wake && (!queue->bytes || queue->bytes + bytes <= queue->limits.bytes / 2) &&
		 (!safe || has_safe_place(queue, bytes));
	pthread_mutex_unlock(&queue->lock);
	return admits;
}

size_t queue_limit(struct queue *queue)
{
	size_t bytes;

	pthread_mutex_lock(&queue->lock);
	bytes = queue->limits.bytes;
	pthread_mutex_unlock(&queue->lock);
	return bytes;
}

/* Unlinks the first that cannot be read again; with the lock held. */
static struct entry *unlink_handed(struct queue *queue)
{
	struct entry **at = &queue->fresh.first;

	while (*at && !(*at)->receipt)
		at = &(*at)->next;
	return *at ? unlink_at(queue, at) : NULL;
}

/* Returns how many items nobody has any more. */
static int64_t drop_waiting(struct queue *queue, bool handed)
{
	struct entry *entry;
	int64_t lost = 0;

	while ((entry = handed ? unlink_handed(queue) : queue_unlink_first(queue)) ||
		(entry = aside_unlink_fresh(queue, handed))) {
		lost += entry_can_go_back(entry) ? 0 : entry->batch->count;
		queue_drop(queue, entry, SPANS_DROPPED_SHUTDOWN);
	}
	queue_has_room(queue);
	return lost;
}

int64_t queue_drop_waiting(struct queue *queue, bool handed)
{
	int64_t lost;

	pthread_mutex_lock(&queue->lock);
	lost = drop_waiting(queue, handed);
	pthread_mutex_unlock(&queue->lock);
	return lost;
}

void queue_end(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->wake = NULL;
	drop_waiting(queue, false);
	queue->ended = true;
	pthread_mutex_unlock(&queue->lock);
	queue_unref(queue);
}

void queue_leave(struct queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->wake = NULL;
	pthread_mutex_unlock(&queue->lock);
	queue_unref(queue);
}
