/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/progress.h"

#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"

/* Between two positions: at least this, and as many times as long as the quicker of the last two took of the
 * processor, and as long as it took to write one, and as long as that takes at this rate. */
#define INTERVAL_NS (100 * NS_PER_MS)
#define COST_FACTOR 20
#define BYTES_PER_SECOND (8 * 1024 * 1024)
/* Who catches up takes one each time that it has read what was recorded in this time, and so many events; */
#define FAR_NS (100 * NS_PER_MS)
#define FAR_EVENTS 250
/* or, to come nearer to the present in any case, in so many times the time until one holds. */
#define FAR_FACTOR 4
/* When it has read as much again, it waits until that one holds; not if none has come to hold for so long. */
#define PATIENCE_NS (1 * NS_PER_SECOND)
/* What comes live is so old at most, unless there is something to catch up with. */
#define LAG_NS (500 * NS_PER_MS)

struct progress {
	bool keep;
	struct pipeline *pipeline;
	struct agent_link *link;
	struct positions *positions;
	struct clock_steps steps;
	unsigned offsets;        /* of clocks, that are known to the agent */
	struct overlap *overlap; /* of the session at hand with the one before, and with the one after */
	bool has_session;
	struct session_identity session; /* at hand */
	GPtrArray *past;                 /* of struct session_record: ended, and under way in part */
	GPtrArray *later;                /* of struct session_record: to be read after that at hand */
	GArray *over;                    /* of struct session_identity: ended, and settled */
	struct buffer position;          /* the last one */
	uint64_t number;                 /* of the last position, */
	uint64_t settled;                /* and of the last that holds */
	bool with_pending;               /* the last one had spans in assembly */
	uint64_t moves;                  /* of the positions when it was taken */
	struct pipeline_far far;         /* the pipeline then, */
	int64_t taken;                   /* and when that was; CLOCK_MONOTONIC ns */
	int64_t waiting;                 /* since when one does not hold, and none has come to; the same */
	int64_t took;                    /* until one held, ns */
	int64_t next;                    /* not before; the same */
	int64_t cost, cost_before;       /* of the last one and the one before: processor time, ns */
};

/* Saving */

/* The positions at hand, behind their size. */
static void save_positions(const struct progress *progress, bool reached, struct buffer *out)
{
	struct buffer list = {0};

	positions_save(progress->positions, reached, &list);
	pack_bytes(out, list.data, list.size);
	buffer_free(&list);
}

/*
 * What is to be read by a reader that starts again: sessions and positions, the spans in assembly; and the
 * sessions that have ended by now, which are not to be read again, although not all of them is settled.
 */
static void save_place(struct progress *progress)
{
	struct buffer *out = &progress->position, pending = {0};

	out->size = 0;
	progress->with_pending = pipeline_save(progress->pipeline, &pending);
	pack_u32(out, progress->has_session + progress->later->len);
	if (progress->has_session) {
		session_identity_save(&progress->session, out);
		save_positions(progress, false, out);
	}
	session_records_save(progress->later, false, out);
	pack_bytes(out, pending.data, pending.size);
	pending.size = 0;
	pack_u32(out, progress->past->len);
	for (guint i = 0; i < progress->past->len; i++) {
		const struct session_record *record = g_ptr_array_index(progress->past, i);

		session_identity_save(&record->session, out);
	}
	if (overlap_is_open(progress->overlap)) {
		overlap_save(progress->overlap, &pending);
		pack_bytes(out, pending.data, pending.size);
	}
	buffer_free(&pending);
}

void progress_save_reached(struct progress *progress, struct buffer *out)
{
	bool with_times = overlap_is_open(progress->overlap);

	pack_u32(out, progress->past->len + progress->has_session + progress->later->len);
	session_records_save(progress->past, true, out);
	if (progress->has_session) {
		session_identity_save(&progress->session, out);
		save_positions(progress, true, out);
	}
	session_records_save(progress->later, true, out);
	pack_u32(out, progress->over->len | (with_times ? REACHED_WITH_TIMES : 0));
	for (guint i = 0; i < progress->over->len; i++)
		session_identity_save(&g_array_index(progress->over, struct session_identity, i), out);
	clock_steps_save(&progress->steps, out);
	if (with_times)
		overlap_save_times(progress->overlap, out);
}

/* Loading */

static bool load_over(struct progress *progress, struct unpacker *from)
{
	uint32_t count = unpack_u32(from) & ~REACHED_WITH_TIMES;

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct session_identity session;

		if (session_identity_load(from, &session))
			g_array_append_val(progress->over, session);
	}
	return !from->failed;
}

/* Puts the first of what is to be read later at hand. */
static bool next_session(struct progress *progress)
{
	const struct session_record *record;
	bool good;

	positions_clear(progress->positions);
	progress->has_session = progress->later->len > 0;
	if (!progress->has_session)
		return true;
	record = g_ptr_array_index(progress->later, 0);
	good = session_record_take(record, progress->positions);
	progress->session = record->session;
	g_ptr_array_remove_index(progress->later, 0);
	return good;
}

static bool is_over(const struct progress *progress, const struct session_identity *session)
{
	for (guint i = 0; i < progress->over->len; i++) {
		const struct session_identity *over =
			&g_array_index(progress->over, struct session_identity, i);

		if (over->created == session->created && !strcmp(over->name, session->name))
			return true;
	}
	return false;
}

bool progress_has_ended(const struct progress *progress, const char *name, uint64_t created)
{
	struct session_identity session = {.created = created};

	g_strlcpy(session.name, name, sizeof(session.name));
	return is_over(progress, &session) || session_records_find(progress->past, &session);
}

/* Takes the record out of the list without freeing it. */
static void steal(GPtrArray *records, const struct session_record *record)
{
	guint index;

	if (g_ptr_array_find(records, record, &index))
		g_ptr_array_steal_index(records, index);
}

/* Takes the sessions that had ended before the position out of those that are to be read. */
static bool load_ended(struct progress *progress, struct unpacker *from)
{
	uint32_t count = from->at < from->end ? unpack_u32(from) : 0;

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct session_identity session;
		struct session_record *record;

		if (!session_identity_load(from, &session) || is_over(progress, &session))
			continue;
		record = session_records_find(progress->later, &session);
		if (record)
			steal(progress->later, record);
		if (record)
			g_ptr_array_add(progress->past, record);
		else
			record = session_records_add(progress->past, &session);
		record->over_at = progress->number;
	}
	return !from->failed;
}

/* What two sessions have; older agents did not know of it. */
static bool load_overlap(struct progress *progress, struct unpacker *position, struct unpacker *reached)
{
	if (position->at < position->end && !overlap_load(progress->overlap, unpack_bytes(position)))
		return false;
	return reached->at == reached->end ||
	       overlap_load_times(progress->overlap, progress->session.created, reached);
}

/* Takes up what the agent has in its checkpoint; false if it is not what it should be, and then nothing is
 * taken up but what cannot harm. */
static bool take_up(struct progress *progress, const struct orders *orders)
{
	struct unpacker position = orders->position, reached = orders->reached, pending;

	if (!session_records_load(progress->later, &position, false) ||
		!session_records_load(progress->later, &reached, true))
		return false;
	pending = unpack_bytes(&position);
	if (position.failed || !load_over(progress, &reached) || !load_ended(progress, &position) ||
		!clock_steps_load(&progress->steps, &reached) || !next_session(progress) ||
		!load_overlap(progress, &position, &reached))
		return false;
	return pipeline_load(progress->pipeline, pending);
}

/* Forgets what was taken up of a checkpoint that is damaged. */
static void start_empty(struct progress *progress)
{
	progress->has_session = false;
	g_ptr_array_set_size(progress->later, 0);
	g_ptr_array_set_size(progress->past, 0);
	g_array_set_size(progress->over, 0);
	positions_clear(progress->positions);
	overlap_forget(progress->overlap);
	overlap_cancel(progress->overlap);
	memset(&progress->steps, 0, sizeof(progress->steps));
}

/* Looks whether a position holds: then the sessions that ended before it are over. */
static bool settle(struct progress *progress, uint64_t number)
{
	guint over = 0;

	if (number <= progress->settled)
		return false;
	progress->settled = number;
	progress->waiting = clock_monotonic();
	if (number == progress->number)
		progress->took = progress->waiting - progress->taken;
	while (over < progress->past->len) {
		const struct session_record *record = g_ptr_array_index(progress->past, over);

		if (!record->over_at || record->over_at > number)
			break;
		g_array_append_val(progress->over, record->session);
		over++;
	}
	if (over) {
		g_ptr_array_remove_range(progress->past, 0, over);
		positions_moved(progress->positions);
	}
	return true;
}

struct progress *progress_create(const struct config *config, struct pipeline *pipeline,
	struct agent_link *link, const struct orders *orders)
{
	struct progress *progress = g_new0(struct progress, 1);

	progress->keep = config->keep && orders->lasting;
	progress->pipeline = pipeline;
	progress->link = link;
	progress->positions = positions_create();
	progress->overlap = overlap_create();
	progress->past = session_records_create();
	progress->later = session_records_create();
	progress->over = g_array_new(FALSE, FALSE, sizeof(struct session_identity));
	progress->number = orders->number;
	if (orders->number && !take_up(progress, orders)) {
		start_empty(progress);
		log_warning("the checkpoint in `state-directory` cannot be used: it is damaged; everything "
			    "that the session's files hold is delivered, perhaps a second time");
	}
	progress->offsets = progress->steps.offsets.count;
	if (orders->holds)
		settle(progress, orders->number);
	return progress;
}

void progress_destroy(struct progress *progress)
{
	positions_destroy(progress->positions);
	overlap_destroy(progress->overlap);
	g_ptr_array_unref(progress->past);
	g_ptr_array_unref(progress->later);
	g_array_unref(progress->over);
	buffer_free(&progress->position);
	g_free(progress);
}

bool progress_keeps(const struct progress *progress)
{
	return progress->keep;
}

const struct session_identity *progress_session(const struct progress *progress)
{
	return progress->has_session ? &progress->session : NULL;
}

struct positions *progress_positions(struct progress *progress)
{
	return progress->positions;
}

struct clock_steps *progress_steps(struct progress *progress)
{
	return &progress->steps;
}

/* What was reached is written down, with the counts of what was read until there: or else a reader that is
 * killed now would leave behind that it was read, and no count of it. */
static void save_now(struct progress *progress)
{
	positions_moved(progress->positions);
	pipeline_post(progress->pipeline);
	agent_link_save(progress->link);
}

/* Sessions */

void progress_begin(struct progress *progress, const struct session_identity *session)
{
	positions_clear(progress->positions);
	progress->has_session = true;
	progress->session = *session;
	save_now(progress); /* it is known before it records */
}

void progress_follow(struct progress *progress, const struct session_identity *session)
{
	session_records_add(progress->later, session);
	save_now(progress); /* it is known before it records */
}

void progress_both_record(struct progress *progress)
{
	overlap_begin(progress->overlap, progress->session.created, clock_monotonic());
	save_now(progress);
}

void progress_one_records(struct progress *progress)
{
	overlap_end(progress->overlap, clock_monotonic());
	save_now(progress);
}

bool progress_may_both_record(const struct progress *progress)
{
	return progress->later->len && overlap_has_begun(progress->overlap);
}

bool progress_is_replaced(const struct progress *progress)
{
	return progress->later->len && overlap_has_ended(progress->overlap);
}

void progress_none_follows(struct progress *progress)
{
	overlap_cancel(progress->overlap);
	positions_moved(progress->positions);
}

int64_t progress_lose_next(struct progress *progress)
{
	int64_t alone = overlap_abandon(progress->overlap);

	g_ptr_array_add(progress->past, g_ptr_array_steal_index(progress->later, 0));
	save_now(progress);
	return alone;
}

void progress_has_all_copies(struct progress *progress)
{
	uint64_t copies = overlap_copies(progress->overlap);

	if (!overlap_forget(progress->overlap))
		return;
	positions_moved(progress->positions);
	log_info("LTTng session `%s` recorded %" G_GUINT64_FORMAT
		 " events beside the one that it replaced: they are taken once",
		progress->session.name, copies);
}

struct overlap *progress_overlap(struct progress *progress)
{
	return progress->overlap;
}

const struct session_identity *progress_next(const struct progress *progress)
{
	const struct session_record *record;

	if (!progress->later->len)
		return NULL;
	record = g_ptr_array_index(progress->later, 0);
	return &record->session;
}

void progress_end(struct progress *progress)
{
	struct session_record *record = session_records_add(progress->past, &progress->session);

	positions_save(progress->positions, true, &record->reached);
	overlap_turn(progress->overlap, clock_monotonic());
	if (!next_session(progress))
		log_warning("the checkpoint's positions in session `%s` are damaged: it is read from its "
			    "beginning",
			progress->session.name);
	positions_moved(progress->positions);
}

const GArray *progress_over(const struct progress *progress)
{
	return progress->over;
}

void progress_removed(struct progress *progress, guint index)
{
	g_array_remove_index(progress->over, index);
	positions_moved(progress->positions);
}

/* Places */

static void offer_place(struct progress *progress)
{
	int64_t begun = clock_thread();

	save_place(progress);
	agent_link_offer(progress->link, ++progress->number, &progress->position);
	for (guint i = 0; i < progress->past->len; i++) {
		struct session_record *record = g_ptr_array_index(progress->past, i);

		if (!record->over_at)
			record->over_at = progress->number;
	}
	progress->moves = positions_moves(progress->positions);
	progress->far = pipeline_far(progress->pipeline);
	progress->taken = clock_monotonic();
	if (progress->settled + 1 == progress->number)
		progress->waiting = progress->taken;
	progress->cost_before = progress->cost;
	progress->cost = clock_thread() - begun;
}

/* When the next position may be taken; @now the last one was, and @written is how long it took to write one.
 */
static void schedule(struct progress *progress, int64_t now, int64_t written)
{
	int64_t pause = COST_FACTOR * MIN(progress->cost, progress->cost_before);

	progress->next = now + MAX(INTERVAL_NS, MAX(pause, written)) +
			 (int64_t)progress->position.size * NS_PER_SECOND / BYTES_PER_SECOND;
}

/* Whether much was read since the last position. */
static bool is_far(const struct progress *progress)
{
	struct pipeline_far far = pipeline_far(progress->pipeline);

	return far.events - progress->far.events >= FAR_EVENTS &&
	       far.last - progress->far.last >= MAX(FAR_NS, FAR_FACTOR * progress->took);
}

bool progress_catch_up(struct progress *progress)
{
	if (!is_far(progress))
		return true;
	if (progress->settled < progress->number)
		return clock_monotonic() - progress->waiting >= PATIENCE_NS;
	offer_place(progress);
	return true;
}

bool progress_lags(const struct progress *progress)
{
	return clock_wall() - pipeline_far(progress->pipeline).last >= LAG_NS;
}

/* What was read since the last position, or may be in none as yet. */
static bool is_ahead(const struct progress *progress)
{
	return progress->moves != positions_moves(progress->positions) || progress->with_pending;
}

bool progress_rests(const struct progress *progress)
{
	return !is_ahead(progress) && progress->settled == progress->number;
}

/* What is dated by a clock's offset is not to be dated by another one after a kill. */
static void save_offsets(struct progress *progress)
{
	if (progress->offsets == progress->steps.offsets.count)
		return;
	progress->offsets = progress->steps.offsets.count;
	save_now(progress);
}

void progress_tick(struct progress *progress)
{
	int64_t now, cost;

	save_offsets(progress);
	if (agent_link_is_due(progress->link)) {
		pipeline_post(progress->pipeline);
		agent_link_tick(progress->link, positions_moves(progress->positions));
	}
	settle(progress, agent_link_settled(progress->link, &cost));
	if (!is_ahead(progress))
		return;
	now = clock_monotonic();
	if (now < progress->next)
		return;
	offer_place(progress);
	schedule(progress, now, cost);
}

void progress_stop(struct progress *progress)
{
	offer_place(progress);
}

void progress_finish(struct progress *progress)
{
	int64_t cost;

	settle(progress, agent_link_settled(progress->link, &cost));
}
