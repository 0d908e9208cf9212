/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/books.h"

#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "core/clocksteps.h"
#include "core/ledger.h"
#include "output/checkpoint.h"
#include "session/sessionid.h"

struct place {
	uint64_t number; /* 0: there is none */
	struct buffer bytes;
};

struct books {
	struct fanout *fanout;
	struct checkpoint *checkpoint; /* NULL if none can be kept */
	struct place holding, marked;  /* the latter is before what the fanout has marked */
	struct place newest;           /* offered while another one is marked */
	struct buffer reached;
	struct checkpoint *ahead; /* what was reached since the checkpoint; NULL as above */
	struct buffer out;
	int failure; /* errno of the last write */
};

static void set(struct place *place, uint64_t number, const void *bytes, size_t size)
{
	place->number = number;
	place->bytes.size = 0;
	buffer_put(&place->bytes, bytes, size);
}

/* @to becomes @from, which there is none of then. */
static void move(struct place *to, struct place *from)
{
	struct place before = *to;

	*to = *from;
	*from = before;
	from->number = 0;
}

/* What was reached, with the ledger */

/* Nothing reached: no sessions, none that are over, no step of the clock. */
static void pack_nothing_reached(struct buffer *out)
{
	const struct clock_steps none = {.count = 0};

	pack_u32(out, 0);
	pack_u32(out, 0);
	clock_steps_save(&none, out);
}

static void put_reached(const struct books *books, struct buffer *out)
{
	if (books->reached.size)
		buffer_put(out, books->reached.data, books->reached.size);
	else
		pack_nothing_reached(out);
	ledger_save(out);
}

/* Loading */

/*
 * What was reached has no size of its own in a checkpoint, so it is walked: sessions with their positions,
 * sessions that are over, steps of the clock, times. Leaves @from behind it.
 */
static bool skip_reached(struct unpacker *from)
{
	struct session_identity session;
	struct clock_steps steps;
	uint32_t count = unpack_u32(from);
	bool with_times;

	for (uint32_t i = 0; i < count && !from->failed; i++)
		if (session_identity_load(from, &session))
			from->failed = unpack_bytes(from).failed;
	count = unpack_u32(from);
	with_times = count & REACHED_WITH_TIMES;
	count &= ~REACHED_WITH_TIMES;
	for (uint32_t i = 0; i < count && !from->failed; i++)
		session_identity_load(from, &session);
	return clock_steps_load(&steps, from) && (!with_times || unpack_run(from, REACHED_TIMES_SIZE));
}

/* Takes up what was reached, and the ledger. */
static bool take_up_reached(struct books *books, struct unpacker from)
{
	const uint8_t *reached = from.at;

	if (from.failed || !skip_reached(&from) || !ledger_load(from))
		return false;
	books_reach(books, reached, (size_t)(from.at - reached));
	return true;
}

/* The same, as it was written ahead after the checkpoint; false if it was not. */
static bool take_up_ahead(struct books *books)
{
	struct buffer data = {0};
	struct unpacker from;
	char error[256];
	bool good = books->ahead &&
		    checkpoint_read(books->ahead, &data, error, sizeof(error)) == CHECKPOINT_FOUND;

	from = unpacker_of(data.data, data.size);
	good = good && unpack_u64(&from) >= checkpoint_number(books->checkpoint) &&
	       take_up_reached(books, from);
	buffer_free(&data);
	return good;
}

static bool take_up(struct books *books, const struct buffer *data)
{
	struct unpacker from = unpacker_of(data->data, data->size), place = unpack_bytes(&from);

	if (place.failed || !(take_up_ahead(books) || take_up_reached(books, from)))
		return false;
	set(&books->holding, 1, place.at, (size_t)(place.end - place.at));
	return true;
}

static void load(struct books *books)
{
	struct buffer data = {0};
	char error[256] = "";
	enum checkpoint_state state = checkpoint_read(books->checkpoint, &data, error, sizeof(error));

	if (state == CHECKPOINT_FOUND && !take_up(books, &data)) {
		state = CHECKPOINT_BROKEN;
		snprintf(error, sizeof(error), "it is damaged");
	}
	if (state == CHECKPOINT_BROKEN)
		log_warning(
			"the checkpoint in `state-directory` cannot be used: %s; the counters start at zero, "
			"and everything that the session's files hold is delivered, perhaps a second time",
			error);
	/* what is ahead of no checkpoint would seem to be ahead of the next one */
	if (state != CHECKPOINT_FOUND && books->ahead)
		checkpoint_remove(books->ahead);
	buffer_free(&data);
}

/*
 * Called before anything goes to an output of which the last write does not know: of all that may be
 * delivered a second time, the next run knows that it was read before.
 */
static void write_ahead(void *data)
{
	struct books *books = data;
	struct buffer *out = &books->out;

	out->size = 0;
	pack_u64(out, checkpoint_number(books->checkpoint));
	put_reached(books, out);
	checkpoint_write(books->ahead, out->data, out->size, false);
}

/* There is a checkpoint, and so there is a folder for this. */
static void open_ahead(struct books *books, const char *folder)
{
	char error[512];
	bool locked;

	books->ahead = checkpoint_open_as("reached", folder, &locked, error, sizeof(error));
	if (books->ahead)
		fanout_before_push(books->fanout, write_ahead, books);
	else
		log_warning("%s: after a kill -9, what was read before is not counted as such", error);
}

struct books *books_open(const char *folder, struct fanout *fanout)
{
	struct books *books = g_new0(struct books, 1);
	char error[512];
	bool locked;

	books->fanout = fanout;
	books->checkpoint = checkpoint_open(folder, &locked, error, sizeof(error));
	if (!books->checkpoint && locked) {
		log_error("%s", error);
		books_close(books);
		return NULL;
	}
	if (books->checkpoint) {
		open_ahead(books, folder);
		load(books);
	} else {
		log_warning("%s: no checkpoint is kept, so a stop ends the session, and what is recorded "
			    "while the agent is not running is lost",
			error);
	}
	return books;
}

void books_close(struct books *books)
{
	fanout_before_push(books->fanout, NULL, NULL);
	if (books->ahead)
		checkpoint_close(books->ahead);
	if (books->checkpoint)
		checkpoint_close(books->checkpoint);
	buffer_free(&books->holding.bytes);
	buffer_free(&books->marked.bytes);
	buffer_free(&books->newest.bytes);
	buffer_free(&books->reached);
	buffer_free(&books->out);
	g_free(books);
}

bool books_lasting(const struct books *books)
{
	return books->checkpoint != NULL;
}

/* What there is */

const struct buffer *books_newest(const struct books *books, uint64_t *number, bool *holds)
{
	const struct place *place = books->newest.number   ? &books->newest
				    : books->marked.number ? &books->marked
							   : &books->holding;

	*number = place->number;
	*holds = place == &books->holding;
	return &place->bytes;
}

const struct buffer *books_reached(const struct books *books)
{
	return &books->reached;
}

void books_reach(struct books *books, const void *reached, size_t size)
{
	books->reached.size = 0;
	buffer_put(&books->reached, reached, size);
}

/* Places */

static void mark(struct books *books)
{
	fanout_mark(books->fanout);
	move(&books->marked, &books->newest);
}

void books_offer(struct books *books, uint64_t number, const void *place, size_t size)
{
	set(&books->newest, number, place, size);
	if (!books->marked.number)
		mark(books);
}

bool books_waiting(const struct books *books)
{
	return books->marked.number != 0;
}

bool books_settle(struct books *books, uint64_t *number, int64_t *cost)
{
	int64_t begun;

	if (!books->marked.number || !fanout_settled(books->fanout))
		return false;
	begun = clock_monotonic();
	move(&books->holding, &books->marked);
	*number = books->holding.number;
	if (books->newest.number)
		mark(books);
	books_write(books, false);
	*cost = clock_monotonic() - begun;
	return true;
}

/* Writing */

/* A place of which nothing was ever read: no session, and an empty list of spans. */
static void pack_nothing(struct buffer *out)
{
	pack_u32(out, 3 * sizeof(uint32_t));
	pack_u32(out, 0);
	pack_u32(out, sizeof(uint32_t));
	pack_u32(out, 0);
}

void books_write(struct books *books, bool sync)
{
	struct buffer *out = &books->out;
	int failure;

	if (!books->checkpoint)
		return;
	out->size = 0;
	if (books->holding.number)
		pack_bytes(out, books->holding.bytes.data, books->holding.bytes.size);
	else
		pack_nothing(out);
	put_reached(books, out);
	failure = checkpoint_write(books->checkpoint, out->data, out->size, sync);
	if (failure && failure != books->failure)
		log_warning("the checkpoint in `state-directory` cannot be written (%s): if the agent is "
			    "killed now, what it delivers will be delivered again",
			g_strerror(failure));
	else if (!failure && books->failure)
		log_info("the checkpoint can be written again");
	books->failure = failure;
}

void books_forget(struct books *books)
{
	int failure = books->checkpoint ? checkpoint_remove(books->checkpoint) : 0;

	if (books->ahead)
		checkpoint_remove(books->ahead);
	if (failure)
		log_warning("the checkpoint in `state-directory` cannot be removed: %s", g_strerror(failure));
}
