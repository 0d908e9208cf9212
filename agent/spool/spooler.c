/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/spooler.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "queue/aside.h"
#include "queue/backlog.h"
#include "spool/due.h"
#include "spool/marks.h"
#include "spool/pace.h"
#include "spool/spool.h"
#include "spool/spoolname.h"

/* What one commit stores at most; of a small spool, whose log has to have room for it, such a part. */
#define GROUP_BYTES (2 * 1024 * 1024)
#define GROUP_PART 8
/* What was delivered is deleted in groups too. What is not deleted yet is sent again after a kill -9. */
#define DELETE_IDS 64
#define DELETE_NS (200 * NS_PER_MS)
/* Between two steps of the replay. */
#define STEP_NS (50 * NS_PER_MS)
/* Between two tries of a spool that fails. */
#define RETRY_MIN_NS (1 * NS_PER_SECOND)
#define RETRY_MAX_NS (5 * NS_PER_SECOND)

struct spooler {
	struct queue *queue;
	struct spool *spool;
	char label[SPOOLNAME_MAX + 32]; /* what the log calls it */
	struct spool_holds holds;
	struct pace pace;
	bool entered;        /* in the ledger */
	bool failing;        /* which was logged */
	int64_t retry_at;    /* 0: it works */
	int64_t retry_ns;    /* the next wait */
	int64_t stored_at;   /* the last commit */
	int64_t deleted_at;  /* the last deletion */
	int64_t paced_since; /* when the pace began: the backlog's `since` */
	int64_t last_id;     /* that was read for replay */
	unsigned under_way;  /* batches read, and not deleted */
	int64_t ids[256];    /* to be deleted */
	unsigned to_delete;  /* how many of them */
	struct marks marks;
	atomic_bool stopping, over;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	struct spooler_state state;
};

static void publish(struct spooler *spooler)
{
	spool_read_holds(spooler->spool, &spooler->holds);
	backlog_set_room(spooler->queue, spooler->holds.room);
	pthread_mutex_lock(&spooler->lock);
	spooler->state.ok = spooler->entered && !spooler->failing;
	spooler->state.batches = spooler->holds.batches;
	spooler->state.spans = spooler->holds.spans;
	spooler->state.bytes = spooler->holds.bytes;
	if (spooler->failing)
		g_strlcpy(spooler->state.error, spool_error(spooler->spool), sizeof(spooler->state.error));
	else
		spooler->state.error[0] = '\0';
	pthread_mutex_unlock(&spooler->lock);
}

/* Whether the spool works */

/* Notes whether the last call worked, and logs a change. Returns @good. */
static bool note(struct spooler *spooler, bool good)
{
	if (good && spooler->failing)
		log_info("%s works again", spooler->label);
	else if (!good && !spooler->failing)
		log_warning("%s cannot be used: %s. Spans wait in memory until it can", spooler->label,
			spool_error(spooler->spool));
	spooler->retry_ns =
		good || !spooler->failing ? RETRY_MIN_NS : MIN(2 * spooler->retry_ns, RETRY_MAX_NS);
	spooler->failing = !good;
	backlog_set_storing(spooler->queue, good);
	spooler->retry_at = good ? 0 : clock_monotonic() + spooler->retry_ns;
	return good;
}

/* Posts what was stored, of which so much was held, and what was lost meanwhile, in one change. */
static void post(struct spooler *spooler, int64_t stored, int64_t held)
{
	struct account_change change = {0};
	struct spool_losses losses;

	spool_take_losses(spooler->spool, &losses);
	change.row[SPANS_QUEUED] = held - stored;
	change.row[SPANS_HELD] = -held;
	change.row[SPANS_SPOOLED] = stored - losses.evicted - losses.corrupt;
	change.row[SPANS_DROPPED_SPOOL_FULL] = losses.evicted;
	change.row[SPANS_DROPPED_SPOOL_CORRUPT] = losses.corrupt;
	account_post(queue_account(spooler->queue), &change);
}

/* Opens the spool for the first time, and posts what an earlier agent left in it. */
static bool enter(struct spooler *spooler)
{
	struct spool_losses losses;
	int64_t lost;

	if (spooler->entered)
		return true;
	if (!note(spooler, spool_open(spooler->spool)))
		return false;
	spool_take_losses(spooler->spool, &losses);
	spool_read_holds(spooler->spool, &spooler->holds);
	lost = account_enter_spool(
		queue_account(spooler->queue), spooler->holds.spans, losses.corrupt, losses.unknown);
	if (lost > losses.corrupt)
		log_warning("%s no longer has what was stored in it: %" G_GINT64_FORMAT
			    " spans are lost, and counted",
			spooler->label, lost - losses.corrupt);
	if (spooler->holds.spans)
		log_info("%" G_GINT64_FORMAT " spans are in %s, and will be delivered", spooler->holds.spans,
			spooler->label);
	spooler->entered = true;
	return true;
}

/* To the disk */

static bool store(struct spooler *spooler, struct entry *list)
{
	int64_t spans = 0, held = 0;
	bool good;

	for (const struct entry *entry = list; entry; entry = entry->next) {
		spans += entry->batch->count;
		held += entry->receipt ? entry->batch->count : 0;
	}
	good = note(spooler, spool_put(spooler->spool, list));
	post(spooler, good ? spans : 0, good ? held : 0);
	if (good && list->aside)
		marks_add(&spooler->marks, list);
	if (good) {
		spool_read_holds(spooler->spool, &spooler->holds);
		backlog_set_room(spooler->queue, spooler->holds.room);
		backlog_stored(spooler->queue, list);
	}
	if (!good)
		backlog_put_back(spooler->queue, list);
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
		good = good && note(spooler, spool_keep_refused(spooler->spool, refused));
		g_free(each);
	}
	post(spooler, 0, 0);
	return good;
}

/* From the disk */

static bool delete_replayed(struct spooler *spooler)
{
	unsigned count;

	for (;;) {
		if (!spooler->to_delete)
			spooler->to_delete = backlog_take_replayed(
				spooler->queue, spooler->ids, G_N_ELEMENTS(spooler->ids));
		count = spooler->to_delete;
		if (!count)
			return true;
		if (!note(spooler, spool_delete(spooler->spool, spooler->ids, count)))
			return false;
		spooler->to_delete = 0;
		spooler->under_way -= count;
		spooler->deleted_at = clock_monotonic();
		post(spooler, 0, 0);
	}
}

static bool has_more(const struct spooler *spooler)
{
	return spooler->holds.batches > spooler->under_way;
}

static bool replay_one(struct spooler *spooler)
{
	struct entry *entry = NULL;
	enum spool_read status = spool_read(spooler->spool, spooler->last_id, &entry);

	note(spooler, status != SPOOL_FAILED);
	post(spooler, 0, 0);
	if (status != SPOOL_READ)
		return false;
	spooler->last_id = entry->spool_id;
	spooler->under_way++;
	marks_restore(&spooler->marks, entry);
	pace_spend(&spooler->pace, entry->batch->count);
	backlog_replay(spooler->queue, entry);
	return true;
}

/* Hands over as much as the pace allows and the uplink keeps up with. */
static void replay(struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	struct backlog latest = *backlog;

	if (backlog->since != spooler->paced_since)
		pace_restart(&spooler->pace, now, backlog->fresh_released);
	spooler->paced_since = backlog->since;
	while (has_more(spooler) && latest.replay_bytes < latest.limit / 8 &&
		pace_step(&spooler->pace, now, latest.fresh_released) && replay_one(spooler))
		backlog_look(spooler->queue, &latest);
}

/* While the collector takes nothing: hands over one batch, for the uplink to try it with. */
static void probe(struct spooler *spooler, const struct backlog *backlog)
{
	if (has_more(spooler) && !backlog->replay_bytes && !backlog->waiting_bytes)
		replay_one(spooler);
}

/* The thread */

/* When to look again though nothing happens. */
static int64_t next_look(const struct spooler *spooler, const struct backlog *backlog, int64_t now)
{
	int64_t next = due_at(backlog, spooler->stored_at);

	if (spooler->retry_at)
		return spooler->retry_at;
	if (!spooler->entered)
		return now;
	if (has_more(spooler) && (backlog->delivering || !backlog->replay_bytes))
		next = MIN(next, now + STEP_NS);
	if (backlog->replayed || spooler->to_delete)
		next = MIN(next, spooler->deleted_at + DELETE_NS);
	return next;
}

/* Writes what is due. Returns false if the disk fails: the rest waits for the next try. */
static bool write_all(struct spooler *spooler, const struct backlog *backlog, size_t bytes, int64_t now)
{
	/* With nothing to store, only a try shows whether a spool that failed works again. */
	if (spooler->failing && !bytes && !note(spooler, spool_try(spooler->spool)))
		return false;
	if (!store_waiting(spooler, bytes))
		return false;
	if (backlog->suspects && !store_suspects(spooler))
		return false;
	if (backlog->refused && !keep_refused(spooler))
		return false;
	if (backlog->replayed >= DELETE_IDS || now - spooler->deleted_at >= DELETE_NS)
		return delete_replayed(spooler);
	return true;
}

static void work(struct spooler *spooler, const struct backlog *backlog)
{
	int64_t now = clock_monotonic();
	size_t bytes = due_bytes(backlog, spooler->stored_at, now);

	if (now < spooler->retry_at || !enter(spooler))
		return;
	if (!write_all(spooler, backlog, bytes, now))
		return;
	spool_read_holds(spooler->spool, &spooler->holds);
	if (backlog->closed)
		return;
	if (backlog->delivering)
		replay(spooler, backlog, now);
	else
		probe(spooler, backlog);
}

/*
 * Stops: deletes what was delivered, which makes room, and stores what waits. Each is tried even if another
 * fails.
 */
static void finish(struct spooler *spooler)
{
	if (!enter(spooler))
		return;
	delete_replayed(spooler);
	store_suspects(spooler);
	store_waiting(spooler, SIZE_MAX);
	keep_refused(spooler);
}

static void *run(void *data)
{
	struct spooler *spooler = data;
	struct backlog backlog = {.delivering = true};

	while (!atomic_load(&spooler->stopping)) {
		work(spooler, &backlog);
		publish(spooler);
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
	pace_init(&spooler->pace, options->replay_share, options->replay_floor);
	pthread_mutex_init(&spooler->lock, NULL);
	backlog_attach(queue);
	if (pthread_create(&spooler->thread, NULL, run, spooler) == 0)
		return spooler;
	log_error("%s: its thread cannot be started: too many threads, or too little memory", spooler->label);
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
	spool_destroy(spooler->spool);
	pthread_mutex_destroy(&spooler->lock);
	g_free(spooler);
}
