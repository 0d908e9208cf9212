/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/progress.h"

#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "collect/checkpoint.h"
#include "core/ledger.h"

/* Between two candidates: at least this, and as many times as long as the quicker of the last two took, and
 * as long as it takes to write it at this rate. */
#define INTERVAL_NS (100 * NS_PER_MS)
#define COST_FACTOR 20
#define BYTES_PER_SECOND (8 * 1024 * 1024)

struct progress {
	bool keep;
	struct line *line;
	struct batch_queue *queue;
	struct checkpoint *checkpoint; /* NULL if none can be kept */
	struct positions *positions;
	struct clock_steps steps;
	bool has_session;
	struct session_identity session; /* at hand */
	GPtrArray *past;                 /* of struct session_record: ended, and under way in part */
	GPtrArray *later;                /* of struct session_record: to be read after that at hand */
	GArray *over;                    /* of struct session_identity: ended, and settled */
	struct buffer candidate, settled;
	bool marked;               /* there is a candidate that waits for its batches */
	bool with_pending;         /* the last one had spans in assembly */
	guint past_taken;          /* how many of the past were over when it was taken */
	uint64_t moves;            /* of the positions when it was taken */
	int64_t next;              /* not before; CLOCK_MONOTONIC ns */
	int64_t cost, cost_before; /* of the last one and the one before */
	struct buffer out;
	int failure; /* errno of the last write */
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

/* What is to be read if the agent starts again: sessions and positions, then the spans in assembly. */
static void save_candidate(struct progress *progress)
{
	struct buffer *out = &progress->candidate, pending = {0};

	out->size = 0;
	line_save(progress->line, &pending);
	pack_u32(out, progress->has_session + progress->later->len);
	if (progress->has_session) {
		session_identity_save(&progress->session, out);
		save_positions(progress, false, out);
	}
	session_records_save(progress->later, false, out);
	pack_bytes(out, pending.data, pending.size);
	progress->with_pending = pending.size > sizeof(uint32_t); /* more than their number, 0 */
	buffer_free(&pending);
}

/* What was reached, and the ledger, as of now. */
static void save_now(struct progress *progress, struct buffer *out)
{
	line_post(progress->line);
	pack_u32(out, progress->past->len + progress->has_session + progress->later->len);
	session_records_save(progress->past, true, out);
	if (progress->has_session) {
		session_identity_save(&progress->session, out);
		save_positions(progress, true, out);
	}
	session_records_save(progress->later, true, out);
	pack_u32(out, progress->over->len);
	for (guint i = 0; i < progress->over->len; i++)
		session_identity_save(&g_array_index(progress->over, struct session_identity, i), out);
	clock_steps_save(&progress->steps, out);
	ledger_save(out);
}

static void write_out(struct progress *progress, bool sync)
{
	struct buffer *out = &progress->out;
	int failure;

	if (!progress->checkpoint)
		return;
	out->size = 0;
	pack_bytes(out, progress->settled.data, progress->settled.size);
	save_now(progress, out);
	failure = checkpoint_write(progress->checkpoint, out->data, out->size, sync);
	if (failure && failure != progress->failure)
		log_warning(
			"the checkpoint in `state-directory` cannot be written (%s): were the agent killed "
			"now, what it delivers would be delivered again",
			g_strerror(failure));
	else if (!failure && progress->failure)
		log_info("the checkpoint is written again");
	progress->failure = failure;
}

/* Loading */

static bool load_over(struct progress *progress, struct unpacker *from)
{
	uint32_t count = unpack_u32(from);

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

/* Takes up a checkpoint; false if it is not what it should be, and then nothing is taken up but what cannot
 * harm. */
static bool take_up(struct progress *progress, const struct buffer *data)
{
	struct unpacker from = unpacker_of(data->data, data->size), candidate = unpack_bytes(&from), pending;

	if (candidate.failed)
		return false;
	buffer_put(&progress->settled, candidate.at, (size_t)(candidate.end - candidate.at));
	if (!session_records_load(progress->later, &candidate, false) ||
		!session_records_load(progress->later, &from, true))
		return false;
	pending = unpack_bytes(&candidate);
	if (candidate.failed || !load_over(progress, &from) || !clock_steps_load(&progress->steps, &from) ||
		!next_session(progress))
		return false;
	return ledger_load(from) && line_load(progress->line, pending);
}

/* Forgets what was taken up of a checkpoint that is damaged. */
static void start_empty(struct progress *progress)
{
	progress->has_session = false;
	g_ptr_array_set_size(progress->later, 0);
	g_array_set_size(progress->over, 0);
	positions_clear(progress->positions);
	memset(&progress->steps, 0, sizeof(progress->steps));
	progress->settled.size = 0;
	pack_u32(&progress->settled, 0); /* no session, */
	pack_u32(&progress->settled, 4); /* and a list of spans, */
	pack_u32(&progress->settled, 0); /* which is empty */
}

static void load(struct progress *progress)
{
	struct buffer data = {0};
	char error[256] = "";
	enum checkpoint_state state = checkpoint_read(progress->checkpoint, &data, error, sizeof(error));

	if (state == CHECKPOINT_FOUND && !take_up(progress, &data)) {
		state = CHECKPOINT_BROKEN;
		snprintf(error, sizeof(error), "it is damaged");
	}
	if (state != CHECKPOINT_FOUND)
		start_empty(progress);
	if (state == CHECKPOINT_BROKEN)
		log_warning("the checkpoint in `state-directory` cannot be used: %s; the counters begin "
			    "anew, and "
			    "what the session's files still hold is delivered, again if it was before",
			error);
	buffer_free(&data);
}

struct progress *progress_create(const struct config *config, struct line *line, struct batch_queue *queue)
{
	struct progress *progress = g_new0(struct progress, 1);
	char error[512];
	bool locked;

	progress->keep = config->keep;
	progress->line = line;
	progress->queue = queue;
	progress->positions = positions_create();
	progress->past = session_records_create();
	progress->later = session_records_create();
	progress->over = g_array_new(FALSE, FALSE, sizeof(struct session_identity));
	progress->checkpoint = checkpoint_open(config->state_directory, &locked, error, sizeof(error));
	if (progress->checkpoint) {
		load(progress);
		return progress;
	}
	if (locked) {
		log_error("%s", error);
		progress_destroy(progress);
		return NULL;
	}
	log_warning(
		"%s: no checkpoint is kept, so a stop ends the session, and what is recorded while the agent "
		"does not run is lost",
		error);
	start_empty(progress);
	return progress;
}

void progress_destroy(struct progress *progress)
{
	if (progress->checkpoint)
		checkpoint_close(progress->checkpoint);
	positions_destroy(progress->positions);
	g_ptr_array_unref(progress->past);
	g_ptr_array_unref(progress->later);
	g_array_unref(progress->over);
	buffer_free(&progress->candidate);
	buffer_free(&progress->settled);
	buffer_free(&progress->out);
	g_free(progress);
}

bool progress_keeps(const struct progress *progress)
{
	return progress->keep && progress->checkpoint;
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

/* Sessions */

void progress_begin(struct progress *progress, const struct session_identity *session)
{
	positions_clear(progress->positions);
	progress->has_session = true;
	progress->session = *session;
	positions_moved(progress->positions);
	write_out(progress, false); /* it is known before it records */
}

void progress_end(struct progress *progress)
{
	struct session_record *record = session_records_add(progress->past, &progress->session);

	positions_save(progress->positions, true, &record->reached);
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

/* Candidates */

static void take_candidate(struct progress *progress)
{
	int64_t begun = clock_monotonic();

	save_candidate(progress);
	batch_mark(progress->queue);
	progress->marked = true;
	progress->past_taken = progress->past->len;
	progress->moves = positions_moves(progress->positions);
	progress->cost_before = progress->cost;
	progress->cost = clock_monotonic() - begun;
}

/* The candidate becomes what holds. */
static void settle(struct progress *progress)
{
	struct buffer before = progress->settled;

	progress->settled = progress->candidate;
	progress->candidate = before;
	progress->marked = false;
	for (guint i = 0; i < progress->past_taken; i++) {
		const struct session_record *record = g_ptr_array_index(progress->past, i);

		g_array_append_val(progress->over, record->session);
	}
	g_ptr_array_remove_range(progress->past, 0, progress->past_taken);
}

void progress_tick(struct progress *progress)
{
	int64_t now;

	if (progress->marked) {
		if (!batch_mark_settled(progress->queue))
			return;
		now = clock_monotonic();
		settle(progress);
		write_out(progress, false);
		progress->cost += clock_monotonic() - now;
		progress->next += MAX(COST_FACTOR * MIN(progress->cost, progress->cost_before),
			(int64_t)progress->settled.size * NS_PER_SECOND / BYTES_PER_SECOND);
	}
	if (progress->moves == positions_moves(progress->positions) && !progress->with_pending)
		return;
	now = clock_monotonic();
	if (now < progress->next)
		return;
	progress->next = now + INTERVAL_NS;
	take_candidate(progress);
}

void progress_stop(struct progress *progress)
{
	if (progress->marked && batch_mark_settled(progress->queue))
		settle(progress);
	take_candidate(progress);
}

void progress_finish(struct progress *progress, bool forget)
{
	int failure;

	if (progress->marked && batch_mark_settled(progress->queue))
		settle(progress);
	if (!progress->checkpoint)
		return;
	if (!forget) {
		write_out(progress, true);
		return;
	}
	failure = checkpoint_remove(progress->checkpoint);
	if (failure)
		log_warning("the checkpoint in `state-directory` cannot be removed: %s", g_strerror(failure));
}
