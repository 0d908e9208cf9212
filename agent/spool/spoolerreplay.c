/* SPDX-License-Identifier: BSD-2-Clause */
/* The spooler's way back: what is on disk goes to the uplink, and is deleted once it was delivered or given
 * up. */
#include "spool/spoolerparts.h"

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
		if (!spooler_note(spooler, spool_delete(spooler->spool, spooler->ids, count)))
			return false;
		spooler->to_delete = 0;
		spooler->under_way -= count;
		spooler->deleted_at = clock_monotonic();
		spooler_post(spooler, 0, 0);
	}
}

bool spooler_has_more(const struct spooler *spooler)
{
	return spooler->holds.batches > spooler->under_way;
}

static bool replay_one(struct spooler *spooler)
{
	struct entry *entry = NULL;
	enum spool_read status = spool_read(spooler->spool, spooler->last_id, &entry);

	spooler_note(spooler, status != SPOOL_FAILED);
	spooler_post(spooler, 0, 0);
	if (status != SPOOL_READ)
		return false;
	spooler->last_id = entry->spool_id;
	spooler->under_way++;
	marks_restore(&spooler->marks, entry);
	pace_spend(&spooler->pace, entry->batch->count);
	backlog_replay(spooler->queue, entry);
	return true;
}

void spooler_replay(struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	struct backlog latest = *backlog;

	if (backlog->since != spooler->paced_since)
		pace_restart(&spooler->pace, now, backlog->fresh_released);
	spooler->paced_since = backlog->since;
	while (spooler_has_more(spooler) && latest.replay_bytes < latest.limit / 8 &&
		pace_step(&spooler->pace, now, latest.fresh_released) && replay_one(spooler))
		backlog_look(spooler->queue, &latest);
}

void spooler_probe(struct spooler *spooler, const struct backlog *backlog)
{
	if (spooler_has_more(spooler) && !backlog->replay_bytes)
		replay_one(spooler);
}

/* Giving up */

bool spooler_recall(struct spooler *spooler)
{
	unsigned gone;
	bool good =
		discard_recall(spooler->discard, spooler->spool, spooler->queue, &gone, &spooler->recalling);

	spooler->under_way -= gone;
	spooler_post(spooler, 0, 0);
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
	spooler_post(spooler, 0, 0);
	if (good)
		discard_settle(spooler->discard, spooler->spool);
	return good;
}

void spooler_give_up(struct spooler *spooler)
{
	if (!give_up_some(spooler) && discard_is_due(spooler->discard))
		discard_fail(spooler->discard, spool_error(spooler->spool));
}
