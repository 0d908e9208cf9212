/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/discard.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "queue/backlog.h"

/* Rows that are deleted in a commit, or a batch's if they are more. */
#define GROUP_IDS 256

struct discard {
	const char *label, *items; /* what the log calls its spool, and what that has */
	pthread_mutex_t lock;      /* guards what follows */
	struct discard_state state;
	int64_t before;
	unsigned user;
	/* the spooler's thread's */
	bool begun;
	struct spool_sweep sweep;
};

struct discard *discard_create(const char *label, const char *items)
{
	struct discard *discard = g_new0(struct discard, 1);

	discard->label = label;
	discard->items = items;
	discard->state.over = true;
	pthread_mutex_init(&discard->lock, NULL);
	return discard;
}

void discard_destroy(struct discard *discard)
{
	pthread_mutex_destroy(&discard->lock);
	g_free(discard);
}

/* Any thread */

bool discard_order(struct discard *discard, int64_t before, unsigned user)
{
	bool taken;

	pthread_mutex_lock(&discard->lock);
	taken = discard->state.over;
	if (taken) {
		discard->state = (struct discard_state){.order = discard->state.order + 1};
		discard->before = before;
		discard->user = user;
	}
	pthread_mutex_unlock(&discard->lock);
	return taken;
}

void discard_read(struct discard *discard, struct discard_state *state)
{
	pthread_mutex_lock(&discard->lock);
	*state = discard->state;
	pthread_mutex_unlock(&discard->lock);
}

bool discard_is_due(struct discard *discard)
{
	struct discard_state state;

	discard_read(discard, &state);
	return !state.over;
}

/* The spooler's thread */

static void end(struct discard *discard, const char *why)
{
	struct discard_state state;
	const char *rest;
	unsigned user;

	pthread_mutex_lock(&discard->lock);
	g_strlcpy(discard->state.error, why, sizeof(discard->state.error));
	state = discard->state;
	user = discard->user;
	discard->begun = false;
	discard->state.over = true;
	pthread_mutex_unlock(&discard->lock);
	rest = *why              ? "; the rest is not: "
	       : state.under_way ? "; what is being sent is not, unless it comes back"
				 : "";
	log_warning("%" PRId64 " %s in %s are discarded, as user %u asked (`blkin spool discard`)%s%s",
		state.spans, discard->items, discard->label, user, rest, why);
}

static void add(struct discard *discard, int64_t batches, int64_t spans)
{
	pthread_mutex_lock(&discard->lock);
	discard->state.batches += batches;
	discard->state.spans += spans;
	pthread_mutex_unlock(&discard->lock);
}

bool discard_begin(struct discard *discard, struct spool *spool)
{
	if (discard->begun)
		return true;
	log_info("user %u asks to discard what waits in %s (`blkin spool discard`)", discard->user,
		discard->label);
	discard->begun = spool_begin_sweep(spool, &discard->sweep, discard->before);
	return discard->begun;
}

bool discard_step(struct discard *discard, struct spool *spool)
{
	struct spool_sweep *sweep = &discard->sweep, before = *sweep;

	if (!spool_sweep(spool, sweep))
		return false;
	add(discard, sweep->batches - before.batches, sweep->spans - before.spans);
	return true;
}

void discard_settle(struct discard *discard, const struct spool *spool)
{
	g_autoptr(GArray) unwanted = spool_unwanted(spool);

	if (!discard->sweep.over)
		return;
	pthread_mutex_lock(&discard->lock);
	discard->state.under_way = unwanted->len;
	pthread_mutex_unlock(&discard->lock);
	end(discard, "");
}

void discard_fail(struct discard *discard, const char *why)
{
	end(discard, why);
}

static void add_ids(GArray *ids, const struct entry *entry)
{
	g_array_append_val(ids, entry->spool_id);
	if (entry->more_ids)
		g_array_append_vals(ids, entry->more_ids->data, entry->more_ids->len);
}

/* Deletes the first of the list, in one commit, and what is in no row any more. */
static bool delete_group(struct spool *spool, struct entry **list, unsigned *gone, int64_t *spans)
{
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	struct entry *entry, *rest = *list;
	int64_t sum = 0;

	for (; rest && ids->len < GROUP_IDS; rest = rest->next) {
		add_ids(ids, rest);
		sum += rest->batch->count;
	}
	if (!spool_discard(spool, (const int64_t *)(void *)ids->data, ids->len, sum))
		return false;
	*gone += ids->len;
	*spans += sum;
	while ((entry = *list) != rest) {
		*list = entry->next;
		entry_destroy(entry);
	}
	return true;
}

/* They are nobody's any more, or, if the spool fails, wait for the uplink again. */
static bool delete_recalled(
	struct spool *spool, struct queue *queue, struct entry *list, unsigned *gone, int64_t *spans)
{
	struct entry *entry;
	bool good = true;

	while (list && good)
		good = delete_group(spool, &list, gone, spans);
	while ((entry = list)) {
		list = entry->next;
		backlog_replay(queue, entry);
	}
	return good;
}

bool discard_recall(
	struct discard *discard, struct spool *spool, struct queue *queue, unsigned *gone, bool *more)
{
	g_autoptr(GArray) ids = spool_unwanted(spool);
	struct entry *list =
		ids->len ? backlog_recall(queue, (const int64_t *)(void *)ids->data, ids->len) : NULL;
	int64_t spans = 0;
	bool good;

	*gone = 0;
	good = delete_recalled(spool, queue, list, gone, &spans);
	*more = ids->len > *gone;
	if (*gone && discard_is_due(discard))
		add(discard, *gone, spans);
	else if (*gone)
		log_warning("%" PRId64 " more %s in %s are discarded: they could not be sent", spans,
			discard->items, discard->label);
	return good;
}
