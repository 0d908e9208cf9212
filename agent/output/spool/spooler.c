/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spooler.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "output/spool/due.h"
#include "output/spool/spoolerparts.h"
#include "queue/aside.h"

/* What one commit stores at most; of a small spool, whose log has to have room for it, such a part. */
#define GROUP_BYTES (2 * 1024 * 1024)
#define GROUP_PART 8
/* A collector that is away no longer than this is busy: what it takes in between is a pace all the same. */
#define AWAY_NS (3 * NS_PER_SECOND)
/* What was delivered is deleted in groups too. What is not deleted yet is sent again after a kill -9. */
#define DELETE_IDS 64
#define DELETE_NS (200 * NS_PER_MS)
/* Between two steps of the replay. */
#define STEP_NS (50 * NS_PER_MS)
/* Between two looks for the files, while spans are in them: somebody may remove them. */
#define LOOK_NS (1 * NS_PER_SECOND)
/* Between two tries of a spool that fails. */
#define RETRY_MIN_NS (1 * NS_PER_SECOND)
#define RETRY_MAX_NS (5 * NS_PER_SECOND)

static int64_t row_of(const struct spooler *spooler, enum account_row row)
{
	struct account *account = queue_account(spooler->queue);
	struct account_rows rows;
	struct ledger ledger;

	ledger_read_with(&ledger, &account, &rows, 1);
	return rows.row[row];
}

static bool is_away(const struct backlog *backlog, int64_t now)
{
	return !backlog->delivering && now - backlog->since > AWAY_NS;
}

/* The pace is what has the rest wait, or was a moment ago: what it let go is on its way. */
static bool is_paced(const struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	return backlog->delivering && spooler->waited_at && now - spooler->waited_at <= AWAY_NS;
}

/* How long the delivery of what is on disk will take. */
static enum drain_state look_at_drain(
	struct spooler *spooler, const struct backlog *backlog, int64_t *seconds)
{
	int64_t now = clock_monotonic(), left = row_of(spooler, SPANS_SPOOLED);
	enum drain_state state;

	if (left <= 0 || is_away(backlog, now))
		drain_restart(&spooler->drain);
	else
		drain_note(&spooler->drain, backlog->delivering, left, now);
	state = drain_look(&spooler->drain, left, now, is_paced(spooler, backlog, now), seconds);
	return state == DRAIN_BEGINS && !backlog->delivering ? DRAIN_STOPPED : state;
}

static void publish(struct spooler *spooler, const struct backlog *backlog)
{
	int64_t seconds = 0;
	enum drain_state drain = look_at_drain(spooler, backlog, &seconds);

	spool_read_holds(spooler->spool, &spooler->holds);
	backlog_set_room(spooler->queue, spooler->holds.room);
	pthread_mutex_lock(&spooler->lock);
	spooler->state.ok = spooler->entered && !spooler->failing;
	spooler->state.batches = spooler->holds.batches;
	spooler->state.spans = spooler->holds.spans;
	spooler->state.bytes = spooler->holds.bytes;
	if (drain != spooler->state.drain)
		spooler->state.drain_since = clock_monotonic();
	spooler->state.drain = drain;
	spooler->state.drain_seconds = seconds;
	if (spooler->failing)
		g_strlcpy(spooler->state.error, spool_error(spooler->spool), sizeof(spooler->state.error));
	else
		spooler->state.error[0] = '\0';
	pthread_mutex_unlock(&spooler->lock);
}

/* Whether the spool works */

bool spooler_note(struct spooler *spooler, bool good)
{
	if (good && spooler->failing)
		log_info("%s works again", spooler->label);
	else if (!good && !spooler->failing)
		log_warning("%s cannot be used: %s; until it can, %s wait in memory", spooler->label,
			spool_error(spooler->spool), spooler->items);
	spooler->retry_ns =
		good || !spooler->failing ? RETRY_MIN_NS : MIN(2 * spooler->retry_ns, RETRY_MAX_NS);
	spooler->failing = !good;
	backlog_set_storing(spooler->queue, good);
	spooler->retry_at = good ? 0 : clock_monotonic() + spooler->retry_ns;
	return good;
}

static void note_removed(struct spooler *spooler, int64_t spans)
{
	pthread_mutex_lock(&spooler->lock);
	spooler->state.lost = spans;
	spooler->state.removed_at = clock_monotonic();
	pthread_mutex_unlock(&spooler->lock);
}

/* For the next checkpoint. */
static void note_stored(struct spooler *spooler)
{
	const struct stored stored = spool_stored(spooler->spool);

	account_note_stored(queue_account(spooler->queue), &stored);
}

/* Posts what was stored, and what was lost meanwhile, in one change. */
void spooler_post(struct spooler *spooler, const struct entry *stored)
{
	struct account_change change = {0};
	struct spool_losses losses;

	spool_take_losses(spooler->spool, &losses);
	for (; stored; stored = stored->next) {
		change.row[receipt_row(stored->receipt)] -= stored->batch->count;
		change.row[SPANS_SPOOLED] += stored->batch->count;
	}
	change.row[SPANS_SPOOLED] -= losses.evicted + losses.corrupt + losses.discarded;
	change.row[SPANS_DROPPED_DISCARDED] = losses.discarded;
	change.row[SPANS_DROPPED_SPOOL_FULL] = losses.evicted;
	change.row[SPANS_DROPPED_SPOOL_CORRUPT] = losses.corrupt;
	account_post(queue_account(spooler->queue), &change);
	note_stored(spooler);
	if (losses.removed)
		note_removed(spooler, losses.corrupt);
	if (losses.discarded)
		drain_restart(&spooler->drain); /* that was no delivery */
}

bool spooler_enter(struct spooler *spooler)
{
	struct spool_losses losses;
	struct stored stored;
	int64_t discarded, lost;

	if (spooler->entered)
		return true;
	account_read_stored(queue_account(spooler->queue), &stored);
	spool_heed(spooler->spool, &stored);
	if (!spooler_note(spooler, spool_open(spooler->spool)))
		return false;
	spool_take_losses(spooler->spool, &losses);
	spool_read_holds(spooler->spool, &spooler->holds);
	discarded = account_enter_discarded(queue_account(spooler->queue), spool_discarded(spooler->spool));
	lost = account_enter_spool(
		queue_account(spooler->queue), spooler->holds.spans, losses.corrupt, losses.unknown);
	if (lost > losses.corrupt)
		log_warning("%s no longer has what was stored in it: %" G_GINT64_FORMAT
			    " %s are lost, and counted",
			spooler->label, lost - losses.corrupt, spooler->items);
	if (spooler->holds.spans)
		log_info("%" G_GINT64_FORMAT " %s are in %s, and will be delivered", spooler->holds.spans,
			spooler->items, spooler->label);
	note_stored(spooler);
	spooler->entered = true;
	return spooler_note(spooler, spool_set_discarded(spooler->spool, discarded));
}

/* To the disk */

/* Takes those out of the list for which the spool had no room, and returns them. */
static struct entry *split_left_out(struct entry **list)
{
	struct entry *left_out = NULL, **last = &left_out, **at = list;

	while (*at) {
		struct entry *entry = *at;

		if (entry->spool_id) {
			at = &entry->next;
			continue;
		}
		*at = entry->next;
		entry->next = NULL;
		*last = entry;
		last = &entry->next;
	}
	return left_out;
}

static void enter_stored(struct spooler *spooler, struct entry *list)
{
	struct entry *left_out = split_left_out(&list);

	spooler_post(spooler, list);
	if (list && list->aside)
		marks_add(&spooler->marks, list);
	spool_read_holds(spooler->spool, &spooler->holds);
	backlog_set_room(spooler->queue, spooler->holds.room);
	backlog_stored(spooler->queue, list);
	if (left_out)
		backlog_spool_is_full(spooler->queue, left_out);
}

static bool store(struct spooler *spooler, struct entry *list)
{
	bool good = spooler_note(spooler, spool_put(spooler->spool, list));

	if (good) {
		enter_stored(spooler, list);
	} else {
		spooler_post(spooler, NULL);
		backlog_put_back(spooler->queue, list);
	}
	spooler->stored_at = clock_monotonic();
	return good;
}

static bool store_waiting(struct spooler *spooler, size_t bytes)
{
	const size_t most = MIN(GROUP_BYTES, spooler->state.max_bytes / GROUP_PART);

	while (bytes > 0) {
		struct entry *list = backlog_take(spooler->queue, MIN(bytes, most));
		size_t group = 0;

		if (!list)
			break;
		for (const struct entry *entry = list; entry; entry = entry->next)
			group += entry_bytes(entry);
		if (!store(spooler, list))
			return false;
		bytes -= MIN(bytes, group);
	}
	return true;
}

/* They are stored though the collector takes others: finding what is wrong with them may take long. */
static bool store_suspects(struct spooler *spooler)
{
	struct entry *list = aside_take_fresh(spooler->queue);

	return !list || store(spooler, list);
}

static bool keep_refused(struct spooler *spooler)
{
	struct refused_span *list = backlog_take_refused(spooler->queue), *each;
	bool good = true;

	while ((each = list)) {
		struct spool_refused refused = {each->event_time, each->words, each->span, each->size};

		list = each->next;
		good = good && spooler_note(spooler, spool_keep_refused(spooler->spool, refused));
		g_free(each);
	}
	spooler_post(spooler, NULL);
	return good;
}

/* The thread */

/* When to look again though nothing happens. */
static int64_t next_look(const struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	int64_t next = due_at(backlog, spooler->stored_at);

	if (discard_is_due(spooler->discard))
		return now;
	if (spooler->retry_at)
		return spooler->retry_at;
	if (!spooler->entered)
		return now;
	if (spooler_has_more(spooler) && (backlog->delivering || !backlog->replay_bytes))
		next = MIN(next, now + STEP_NS);
	if (spooler->recalling)
		next = MIN(next, now + STEP_NS);
	if (spooler->holds.batches)
		next = MIN(next, spooler->looked_at + LOOK_NS);
	if (spooler->drain.count && !is_away(backlog, now))
		next = MIN(next, now + NS_PER_SECOND);
	if (backlog->replayed || spooler->to_delete)
		next = MIN(next, spooler->deleted_at + DELETE_NS);
	return next;
}

/* Before anything else is stored: what somebody did to the files. */
static bool look(struct spooler *spooler, int64_t now)
{
	bool good = spool_look(spooler->spool);

	spooler->looked_at = now;
	spooler_post(spooler, NULL);
	return good || spooler_note(spooler, false);
}

/* Writes what is due. Returns false if the disk fails: the rest waits for the next try. */
static bool write_all(struct spooler *spooler, const struct backlog *backlog, size_t bytes)
{
	/* With nothing to store, only a try shows whether a spool that failed works again. */
	if (spooler->failing && !bytes && !spooler_note(spooler, spool_try(spooler->spool)))
		return false;
	if (!store_waiting(spooler, bytes))
		return false;
	if (backlog->suspects && !store_suspects(spooler))
		return false;
	return !backlog->refused || keep_refused(spooler);
}

static bool delete_some(struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	const bool due = backlog->replayed >= DELETE_IDS || now - spooler->deleted_at >= DELETE_NS;

	return !due || spooler_delete_replayed(spooler);
}

static void work(struct spooler *spooler, const struct backlog *backlog)
{
	int64_t now = clock_monotonic();
	size_t bytes = due_bytes(backlog, spooler->stored_at, now);

	if (discard_is_due(spooler->discard))
		spooler_give_up(spooler);
	if (now < spooler->retry_at || !spooler_enter(spooler))
		return;
	if (!look(spooler, now) || (spooler->recalling && !spooler_recall(spooler)))
		return;
	/* what is delivered makes room, in a spool that is full and on a disk that is */
	if (!delete_some(spooler, backlog, now))
		return;
	if (!write_all(spooler, backlog, bytes) && !spool_disk_is_full(spooler->spool))
		return;
	spool_read_holds(spooler->spool, &spooler->holds);
	/* what is handed over in the middle of an order would escape it */
	if (backlog->closed || discard_is_due(spooler->discard))
		return;
	if (backlog->delivering)
		spooler_replay(spooler, backlog, now);
	else
		spooler_probe(spooler, backlog);
}

/*
 * Stops: deletes what was delivered, which makes room, also of batches that were not in whole, and stores
 * what waits. Each is tried even if another fails.
 */
static void finish(struct spooler *spooler)
{
	int64_t missing;

	if (!spooler_enter(spooler))
		return;
	look(spooler, clock_monotonic());
	spooler_delete_replayed(spooler);
	spooler_recall(spooler);
	spooler_put_rests(spooler);
	if (discard_is_due(spooler->discard))
		discard_fail(spooler->discard, "the agent stops, or a reload removes the output");
	store_suspects(spooler);
	store_waiting(spooler, SIZE_MAX);
	keep_refused(spooler);
	missing = spool_end_under_way(spooler->spool);
	if (missing)
		log_warning("%s no longer has what was being sent at the end: %" G_GINT64_FORMAT
			    " %s are lost, and counted",
			spooler->label, missing, spooler->items);
	spooler_post(spooler, NULL);
}

static void *run(void *data)
{
	struct spooler *spooler = data;
	struct backlog backlog = {.delivering = true};

	while (!atomic_load(&spooler->stopping)) {
		work(spooler, &backlog);
		publish(spooler, &backlog);
		backlog_wait(spooler->queue, next_look(spooler, &backlog, clock_monotonic()), &backlog);
	}
	finish(spooler);
	backlog_set_storing(spooler->queue, false);
	atomic_store(&spooler->over, true);
	return NULL;
}

struct spooler *spooler_create(const struct spooler_options *options, struct queue *queue)
{
	struct spool_options spool = {
		.directory = options->directory,
		.name = options->name,
		.max_bytes = options->max_bytes,
		.sync_full = options->sync_full,
	};
	struct spooler *spooler = g_new0(struct spooler, 1);

	spooler->queue = queue;
	g_snprintf(spooler->label, sizeof(spooler->label),
		strcmp(options->name, SPOOLNAME_DEFAULT) == 0 ? "the spool" : "the spool of output %s",
		options->name);
	spooler->state.max_bytes = options->max_bytes;
	spooler->spool = spool_create(&spool);
	spooler->items = kind_name(lane_kind(options->name, NULL));
	spooler->discard = discard_create(spooler->label, spooler->items);
	pace_init(&spooler->pace, options->replay_share, options->replay_floor);
	pthread_mutex_init(&spooler->lock, NULL);
	backlog_attach(queue, options->replay_floor);
	if (pthread_create(&spooler->thread, NULL, run, spooler) == 0)
		return spooler;
	log_error("%s: its thread cannot be started: too many threads, or too little memory", spooler->label);
	backlog_detach(queue);
	discard_destroy(spooler->discard);
	spool_destroy(spooler->spool);
	pthread_mutex_destroy(&spooler->lock);
	g_free(spooler);
	return NULL;
}

void spooler_read_state(struct spooler *spooler, struct spooler_state *state)
{
	memset(state, 0, sizeof(*state));
	if (!spooler)
		return;
	pthread_mutex_lock(&spooler->lock);
	*state = spooler->state;
	pthread_mutex_unlock(&spooler->lock);
}

bool spooler_discard(struct spooler *spooler, int64_t before, unsigned user)
{
	bool taken = discard_order(spooler->discard, before, user);

	backlog_wake(spooler->queue);
	return taken;
}

void spooler_read_discard(struct spooler *spooler, struct discard_state *state)
{
	discard_read(spooler->discard, state);
}

void spooler_stop(struct spooler *spooler)
{
	if (!spooler)
		return;
	atomic_store(&spooler->stopping, true);
	backlog_wake(spooler->queue);
}

bool spooler_is_over(const struct spooler *spooler)
{
	return !spooler || atomic_load(&spooler->over);
}

void spooler_destroy(struct spooler *spooler)
{
	if (!spooler)
		return;
	spooler_stop(spooler);
	pthread_join(spooler->thread, NULL);
	discard_destroy(spooler->discard);
	spool_destroy(spooler->spool);
	pthread_mutex_destroy(&spooler->lock);
	g_free(spooler);
}
