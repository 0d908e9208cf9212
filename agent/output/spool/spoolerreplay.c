/* SPDX-License-Identifier: BSD-2-Clause */
/* The spooler's way back: what is on disk goes to the uplink, and is deleted once it was delivered or given
 * up. */
#include "output/spool/spoolerparts.h"

#include <glib.h>

#include "base/clock.h"

bool spooler_delete_replayed(struct spooler *spooler)
{
	unsigned count;

	for (;;) {
		if (!spooler->to_delete)
			spooler->to_delete = backlog_take_replayed(
				spooler->queue, spooler->ids, G_N_ELEMENTS(spooler->ids));
		count = spooler->to_delete;
		if (!count)
			return true;
		if (!spool_delete(spooler->spool, spooler->ids, count))
			return spooler_note(spooler, false);
		spooler->to_delete = 0;
		spooler->under_way -= count;
		spooler->deleted_at = clock_monotonic();
		spooler_post(spooler, NULL);
	}
}

bool spooler_has_more(const struct spooler *spooler)
{
	return spooler->holds.batches > spooler->under_way;
}

/* The next batch that was stored; NULL if there is none, or it cannot be read. */
static struct entry *read_one(struct spooler *spooler)
{
	struct entry *entry = NULL;
	enum spool_read status = spool_read(spooler->spool, spooler->last_id, &entry);

	if (status == SPOOL_FAILED)
		spooler_note(spooler, false);
	spooler_post(spooler, NULL);
	if (status != SPOOL_READ)
		return NULL;
	spooler->last_id = entry->spool_id;
	spooler->under_way++;
	marks_restore(&spooler->marks, entry);
	pace_spend(&spooler->pace, entry->batch->count);
	spooler->item_bytes = (double)entry_bytes(entry) / MAX(entry->batch->count, 1);
	return entry;
}

/* As many items as a batch may have, and as are wanted in a second. */
static bool fits(const struct queue_treatment *with, const struct entry *entry, const struct entry *next,
	const struct backlog *backlog)
{
	double items = entry->batch->count + next->batch->count;

	return !entry_is_suspect(entry) && !entry_is_suspect(next) &&
	       entry->sent_before == next->sent_before && entry->batch->format == next->batch->format &&
	       items <= with->batch_spans && (!backlog->replay_pace || items <= backlog->replay_pace) &&
	       entry->batch->spans.size + next->batch->spans.size <= with->batch_bytes;
}

/* Hands over the next batch, with those behind it as far as there is room: what came in a call each is sent
 * in one. */
static bool replay_some(struct spooler *spooler, const struct backlog *backlog)
{
	const struct queue_treatment with = queue_treatment(spooler->queue);
	struct entry *entry = read_one(spooler), *next;

	if (!entry)
		return false;
	while (entry->batch->count < with.batch_spans && spooler_has_more(spooler) &&
		(next = read_one(spooler))) {
		if (!fits(&with, entry, next, backlog)) {
			backlog_replay(spooler->queue, entry);
			entry = next;
			break;
		}
		entry = entry_merge(entry, next);
	}
	backlog_replay(spooler->queue, entry);
	return true;
}

/* How much may be handed over before it is sent: what is wanted in a second. */
static size_t ahead(const struct spooler *spooler, const struct backlog *backlog)
{
	double bytes = backlog->replay_pace * spooler->item_bytes;

	return backlog->replay_pace && bytes < (double)backlog->limit / 8 ? (size_t)bytes + 1
									  : backlog->limit / 8;
}

void spooler_replay(struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	struct backlog latest = *backlog;

	if (backlog->returns != spooler->paced_returns || !spooler->paced)
		pace_restart(&spooler->pace, now, backlog->fresh_released);
	spooler->paced_returns = backlog->returns;
	spooler->paced = true;
	while (spooler_has_more(spooler) && latest.replay_bytes < ahead(spooler, &latest)) {
		if (!pace_step(&spooler->pace, now, latest.fresh_released)) {
			spooler->waited_at = now;
			return;
		}
		if (!replay_some(spooler, &latest))
			return;
		backlog_look(spooler->queue, &latest);
	}
}

void spooler_probe(struct spooler *spooler, const struct backlog *backlog)
{
	if (spooler_has_more(spooler) && !backlog->replay_bytes)
		replay_some(spooler, backlog);
}

void spooler_put_rests(struct spooler *spooler)
{
	struct entry *list = backlog_recall_all(spooler->queue), *entry;
	bool good = true;

	while ((entry = list)) {
		list = entry->next;
		if (entry->cut && good)
			good = spooler_note(spooler, spool_put_rest(spooler->spool, entry));
		entry_destroy(entry);
	}
}

/* Giving up */

bool spooler_recall(struct spooler *spooler)
{
	unsigned gone;
	bool good =
		discard_recall(spooler->discard, spooler->spool, spooler->queue, &gone, &spooler->recalling);

	spooler->under_way -= gone;
	spooler_post(spooler, NULL);
	return good && !gone ? true : spooler_note(spooler, good);
}

/* What was delivered is deleted first, so that it does not count as under way. */
static bool give_up_some(struct spooler *spooler)
{
	bool good;

	if (!spooler_enter(spooler) || !spooler_delete_replayed(spooler))
		return false;
	if (!spooler_note(spooler, discard_begin(spooler->discard, spooler->spool)) ||
		!spooler_recall(spooler))
		return false;
	good = spooler_note(spooler, discard_step(spooler->discard, spooler->spool));
	spooler_post(spooler, NULL);
	if (good)
		discard_settle(spooler->discard, spooler->spool);
	return good;
}

void spooler_give_up(struct spooler *spooler)
{
	if (!give_up_some(spooler) && discard_is_due(spooler->discard))
		discard_fail(spooler->discard, spool_error(spooler->spool));
}
