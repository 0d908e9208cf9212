/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/discard.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include <glib.h>

#include "base/log.h"
#include "queue/backlog.h"

/* Batches under way that are looked after; there are hardly ever so many. */
#define RECALL_MAX 256

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
	int64_t ids[RECALL_MAX];

	if (!discard->sweep.over)
		return;
	pthread_mutex_lock(&discard->lock);
	discard->state.under_way = spool_unwanted(spool, ids, RECALL_MAX);
	pthread_mutex_unlock(&discard->lock);
	end(discard, "");
}

void discard_fail(struct discard *discard, const char *why)
{
	end(discard, why);
}

/* They are nobody's any more, or, if the spool fails, wait for the uplink again. */
static bool delete_recalled(
	struct spool *spool, struct queue *queue, struct entry *list, unsigned *gone, int64_t *spans)
{
	int64_t ids[RECALL_MAX];
	struct entry *entry;
	bool good;

	*gone = 0;
	*spans = 0;
	for (entry = list; entry; entry = entry->next) {
		ids[(*gone)++] = entry->spool_id;
		for (guint i = 0; entry->more_ids && i < entry->more_ids->len; i++)
			ids[(*gone)++] = g_array_index(entry->more_ids, int64_t, i);
		*spans += entry->batch->count;
	}
	good = spool_discard(spool, ids, *gone, *spans);
	while ((entry = list)) {
		list = entry->next;
		if (good)
			entry_destroy(entry);
		else
			backlog_replay(queue, entry);
	}
	return good;
}

bool discard_recall(
	struct discard *discard, struct spool *spool, struct queue *queue, unsigned *gone, bool *more)
{
	int64_t ids[RECALL_MAX], spans;
	unsigned count = spool_unwanted(spool, ids, RECALL_MAX);
	struct entry *list = count ? backlog_recall(queue, ids, count) : NULL;
	bool during = discard_is_due(discard);

	*gone = 0;
	*more = count > 0;
	if (!list)
		return true;
	if (!delete_recalled(spool, queue, list, gone, &spans)) {
		*gone = 0;
		return false;
	}
	*more = count > *gone;
	if (during)
		add(discard, *gone, spans);
	else
		log_warning("%" PRId64 " more %s in %s are discarded: they could not be sent", spans,
			discard->items, discard->label);
	return true;
}
