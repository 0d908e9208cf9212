/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/progress.h"

#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "output/books.h"

/* Between two places: at least this, and as many times as long as the quicker of the last two took, and
 * as long as it takes to write it at this rate. */
#define INTERVAL_NS (100 * NS_PER_MS)
#define COST_FACTOR 20
#define BYTES_PER_SECOND (8 * 1024 * 1024)

struct progress {
	bool keep;
	struct pipeline *pipeline;
	struct books *books;
	struct positions *positions;
	struct clock_steps steps;
	bool has_session;
	struct session_identity session; /* at hand */
	GPtrArray *past;                 /* of struct session_record: ended, and under way in part */
	GPtrArray *later;                /* of struct session_record: to be read after that at hand */
	GArray *over;                    /* of struct session_identity: ended, and settled */
	struct buffer place, reached;    /* to be handed to the books */
	bool with_pending;               /* the last one had spans in assembly */
	guint past_taken;                /* how many of the past were over when it was taken */
	uint64_t moves;                  /* of the positions when it was taken */
	int64_t next;                    /* not before; CLOCK_MONOTONIC ns */
	int64_t cost, cost_before;       /* of the last one and the one before */
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
static void save_place(struct progress *progress)
{
	struct buffer *out = &progress->place, pending = {0};

	out->size = 0;
	pipeline_save(progress->pipeline, &pending);
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

/* What was reached as of now; the ledger knows of it. */
static void save_reached(struct progress *progress)
{
	struct buffer *out = &progress->reached;

	pipeline_post(progress->pipeline);
	out->size = 0;
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
}

static void write_out(struct progress *progress, bool sync)
{
	save_reached(progress);
	books_write(progress->books, &progress->reached, sync);
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
	struct unpacker from = unpacker_of(data->data, data->size), place = unpack_bytes(&from), pending;

	if (place.failed)
		return false;
	books_begin(progress->books, place.at, (size_t)(place.end - place.at));
	if (!session_records_load(progress->later, &place, false) ||
		!session_records_load(progress->later, &from, true))
		return false;
	pending = unpack_bytes(&place);
	if (place.failed || !load_over(progress, &from) || !clock_steps_load(&progress->steps, &from) ||
		!next_session(progress))
		return false;
	return ledger_load(from) && pipeline_load(progress->pipeline, pending);
}

/* Forgets what was taken up of a checkpoint that is damaged. */
static void start_empty(struct progress *progress)
{
	progress->has_session = false;
	g_ptr_array_set_size(progress->later, 0);
	g_array_set_size(progress->over, 0);
	positions_clear(progress->positions);
	memset(&progress->steps, 0, sizeof(progress->steps));
	progress->place.size = 0;
	pack_u32(&progress->place, 0); /* no session, */
	pack_u32(&progress->place, 4); /* and a list of spans, */
	pack_u32(&progress->place, 0); /* which is empty */
	books_begin(progress->books, progress->place.data, progress->place.size);
}

static void load(struct progress *progress)
{
	struct buffer data = {0};
	char error[256] = "";
	enum checkpoint_state state = books_read(progress->books, &data, error, sizeof(error));

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

struct progress *progress_create(
	const struct config *config, struct pipeline *pipeline, struct fanout *fanout)
{
	struct progress *progress = g_new0(struct progress, 1);
	char error[512];

	progress->keep = config->keep;
	progress->pipeline = pipeline;
	progress->positions = positions_create();
	progress->past = session_records_create();
	progress->later = session_records_create();
	progress->over = g_array_new(FALSE, FALSE, sizeof(struct session_identity));
	progress->books = books_open(config->state_directory, fanout, error, sizeof(error));
	if (!progress->books) {
		log_error("%s", error);
		progress_destroy(progress);
		return NULL;
	}
	if (!books_lasting(progress->books))
		log_warning("%s: no checkpoint is kept, so a stop ends the session, and what is recorded "
			    "while the agent does not run is lost",
			error);
	load(progress);
	return progress;
}

void progress_destroy(struct progress *progress)
{
	if (progress->books)
		books_close(progress->books);
	positions_destroy(progress->positions);
	g_ptr_array_unref(progress->past);
	g_ptr_array_unref(progress->later);
	g_array_unref(progress->over);
	buffer_free(&progress->place);
	buffer_free(&progress->reached);
	g_free(progress);
}

bool progress_keeps(const struct progress *progress)
{
	return progress->keep && books_lasting(progress->books);
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

/* Places */

static void offer_place(struct progress *progress)
{
	int64_t begun = clock_monotonic();

	save_place(progress);
	books_offer(progress->books, &progress->place);
	progress->past_taken = progress->past->len;
	progress->moves = positions_moves(progress->positions);
	progress->cost_before = progress->cost;
	progress->cost = clock_monotonic() - begun;
}

/* Looks whether the place that was offered last holds: then the sessions that ended before it are over. */
static bool settle(struct progress *progress)
{
	if (!books_settle(progress->books))
		return false;
	for (guint i = 0; i < progress->past_taken; i++) {
		const struct session_record *record = g_ptr_array_index(progress->past, i);

		g_array_append_val(progress->over, record->session);
	}
	g_ptr_array_remove_range(progress->past, 0, progress->past_taken);
	return true;
}

void progress_tick(struct progress *progress)
{
	int64_t now;

	if (books_waiting(progress->books)) {
		now = clock_monotonic();
		if (!settle(progress))
			return;
		write_out(progress, false);
		progress->cost += clock_monotonic() - now;
		progress->next += MAX(COST_FACTOR * MIN(progress->cost, progress->cost_before),
			(int64_t)books_size(progress->books) * NS_PER_SECOND / BYTES_PER_SECOND);
	}
	if (progress->moves == positions_moves(progress->positions) && !progress->with_pending)
		return;
	now = clock_monotonic();
	if (now < progress->next)
		return;
	progress->next = now + INTERVAL_NS;
	offer_place(progress);
}

void progress_stop(struct progress *progress)
{
	settle(progress);
	offer_place(progress);
}

void progress_finish(struct progress *progress, bool forget)
{
	settle(progress);
	if (forget)
		books_forget(progress->books);
	else
		write_out(progress, true);
}
