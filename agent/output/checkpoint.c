/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/checkpoint.h"

#include <pthread.h>
#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/pack.h"
#include "core/clocksteps.h"
#include "core/ledger.h"
#include "output/checkpointfile.h"
#include "session/sessionid.h"

struct position {
	uint64_t number; /* 0: there is none */
	struct buffer bytes;
};

struct checkpoint {
	struct fanout *fanout;
	pthread_mutex_t lock; /* guards all that is written; recursive, as handing over writes ahead */
	struct checkpoint_file *file;    /* NULL if none can be kept */
	struct position holding, marked; /* the latter is before what the fanout has marked */
	struct position newest;          /* offered while another one is marked */
	struct buffer reached;
	struct checkpoint_file *ahead; /* what was reached since the checkpoint; NULL as above */
	struct buffer out;
	int failure;    /* errno of the last write */
	bool entrusted; /* by it there was something that a kill would lose */
};

static void set(struct position *position, uint64_t number, const void *bytes, size_t size)
{
	position->number = number;
	position->bytes.size = 0;
	buffer_put(&position->bytes, bytes, size);
}

/* @to becomes @from, which there is none of then. */
static void move(struct position *to, struct position *from)
{
	struct position before = *to;

	*to = *from;
	*from = before;
	from->number = 0;
	buffer_empty(&from->bytes, CHECKPOINT_KEPT_SIZE);
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

static void put_reached(struct checkpoint *checkpoint, struct buffer *out)
{
	if (checkpoint->reached.size)
		buffer_put(out, checkpoint->reached.data, checkpoint->reached.size);
	else
		pack_nothing_reached(out);
	checkpoint->entrusted = ledger_save(out);
}

static void reach(struct checkpoint *checkpoint, const uint8_t *reached, const uint8_t *end)
{
	checkpoint->reached.size = 0;
	buffer_put(&checkpoint->reached, reached, (size_t)(end - reached));
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
static bool take_up_reached(struct checkpoint *checkpoint, struct unpacker from)
{
	const uint8_t *reached = from.at;

	if (from.failed || !skip_reached(&from) || !ledger_load(from))
		return false;
	reach(checkpoint, reached, from.at);
	return true;
}

/* The same, as it was written ahead after the checkpoint; false if it was not. */
static bool take_up_ahead(struct checkpoint *checkpoint)
{
	struct buffer data = {0};
	struct unpacker from;
	char error[256];
	bool good = checkpoint->ahead &&
		    checkpoint_file_read(checkpoint->ahead, &data, error, sizeof(error)) == CHECKPOINT_FOUND;

	from = unpacker_of(data.data, data.size);
	good = good && unpack_u64(&from) >= checkpoint_file_number(checkpoint->file) &&
	       take_up_reached(checkpoint, from);
	buffer_free(&data);
	return good;
}

static bool take_up(struct checkpoint *checkpoint, const struct buffer *data)
{
	struct unpacker from = unpacker_of(data->data, data->size), position = unpack_bytes(&from);
	bool forgotten = position.at == position.end; /* nothing is left to be read, but there are counts */

	if (position.failed ||
		!((!forgotten && take_up_ahead(checkpoint)) || take_up_reached(checkpoint, from)))
		return false;
	if (!forgotten)
		set(&checkpoint->holding, 1, position.at, (size_t)(position.end - position.at));
	return true;
}

static void load(struct checkpoint *checkpoint)
{
	struct buffer data = {0};
	char error[256] = "";
	enum checkpoint_file_state state =
		checkpoint_file_read(checkpoint->file, &data, error, sizeof(error));

	if (state == CHECKPOINT_FOUND && !take_up(checkpoint, &data)) {
		state = CHECKPOINT_BROKEN;
		snprintf(error, sizeof(error), "it is damaged");
	}
	if (state == CHECKPOINT_BROKEN)
		log_warning(
			"the checkpoint in `state-directory` cannot be used: %s; the counters start at zero, "
			"and everything that the session's files hold is delivered, perhaps a second time",
			error);
	/* what is ahead of no checkpoint would seem to be ahead of the next one */
	if (state != CHECKPOINT_FOUND && checkpoint->ahead)
		checkpoint_file_remove(checkpoint->ahead);
	buffer_free(&data);
}

/*
 * Called before anything goes to an output of which the last write does not know: of all that may be
 * delivered a second time, the next run knows that it was read before.
 */
static void write_ahead(void *data)
{
	struct checkpoint *checkpoint = data;
	struct buffer *out = &checkpoint->out;

	checkpoint_hold(checkpoint);
	out->size = 0;
	pack_u64(out, checkpoint_file_number(checkpoint->file));
	put_reached(checkpoint, out);
	checkpoint_file_write(checkpoint->ahead, out->data, out->size, false);
	buffer_empty(out, CHECKPOINT_KEPT_SIZE);
	checkpoint_release(checkpoint);
}

/* There is a checkpoint, and so there is a folder for this. */
static void open_ahead(struct checkpoint *checkpoint, const char *folder)
{
	char error[512];
	bool locked;

	checkpoint->ahead = checkpoint_file_open_as("reached", folder, &locked, error, sizeof(error));
	if (checkpoint->ahead)
		fanout_before_push(checkpoint->fanout, write_ahead, checkpoint);
	else
		log_warning("%s: after a kill -9, what was read before is not counted as such", error);
}

static void make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attributes;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
}

struct checkpoint *checkpoint_open(const char *folder, struct fanout *fanout)
{
	struct checkpoint *checkpoint = g_new0(struct checkpoint, 1);
	char error[512];
	bool locked;

	make_lock(&checkpoint->lock);
	checkpoint->fanout = fanout;
	checkpoint->file = checkpoint_file_open(folder, &locked, error, sizeof(error));
	if (!checkpoint->file && locked) {
		log_error("%s", error);
		checkpoint_close(checkpoint);
		return NULL;
	}
	if (checkpoint->file) {
		open_ahead(checkpoint, folder);
		load(checkpoint);
	} else {
		log_warning("%s: no checkpoint is kept, so a stop ends the session, and what is recorded "
			    "while the agent is not running is lost",
			error);
	}
	return checkpoint;
}

void checkpoint_close(struct checkpoint *checkpoint)
{
	fanout_before_push(checkpoint->fanout, NULL, NULL);
	if (checkpoint->ahead)
		checkpoint_file_close(checkpoint->ahead);
	if (checkpoint->file)
		checkpoint_file_close(checkpoint->file);
	buffer_free(&checkpoint->holding.bytes);
	buffer_free(&checkpoint->marked.bytes);
	buffer_free(&checkpoint->newest.bytes);
	buffer_free(&checkpoint->reached);
	buffer_free(&checkpoint->out);
	pthread_mutex_destroy(&checkpoint->lock);
	g_free(checkpoint);
}

bool checkpoint_lasting(const struct checkpoint *checkpoint)
{
	return checkpoint->file != NULL;
}

/* What there is */

const struct buffer *checkpoint_newest(const struct checkpoint *checkpoint, uint64_t *number, bool *holds)
{
	const struct position *position = checkpoint->newest.number   ? &checkpoint->newest
					  : checkpoint->marked.number ? &checkpoint->marked
								      : &checkpoint->holding;

	*number = position->number;
	*holds = position == &checkpoint->holding;
	return &position->bytes;
}

const struct buffer *checkpoint_reached(const struct checkpoint *checkpoint)
{
	return &checkpoint->reached;
}

void checkpoint_hold(struct checkpoint *checkpoint)
{
	pthread_mutex_lock(&checkpoint->lock);
}

void checkpoint_release(struct checkpoint *checkpoint)
{
	pthread_mutex_unlock(&checkpoint->lock);
}

void checkpoint_hand(struct checkpoint *checkpoint, struct unpacker reached, struct ledger *change,
	const struct items *items, int64_t now, bool force)
{
	checkpoint_hold(checkpoint);
	fanout_expect(checkpoint->fanout, items, now);
	reach(checkpoint, reached.at, reached.end);
	fanout_hand_expected(checkpoint->fanout, change, items, now, force);
	checkpoint_release(checkpoint);
}

/* Places */

static void mark(struct checkpoint *checkpoint)
{
	fanout_mark(checkpoint->fanout);
	move(&checkpoint->marked, &checkpoint->newest);
}

void checkpoint_offer(struct checkpoint *checkpoint, uint64_t number, const void *position, size_t size)
{
	set(&checkpoint->newest, number, position, size);
	if (!checkpoint->marked.number)
		mark(checkpoint);
}

bool checkpoint_waiting(const struct checkpoint *checkpoint)
{
	return checkpoint->marked.number != 0;
}

/* What was delivered since the last write would count as lost by a kill, and a reader that reads nothing
 * offers no position. */
static void write_what_is_safe(struct checkpoint *checkpoint)
{
	bool due;

	checkpoint_hold(checkpoint);
	due = checkpoint->entrusted && !ledger_entrusted();
	checkpoint_release(checkpoint);
	if (due)
		checkpoint_write(checkpoint, false);
}

bool checkpoint_settle(struct checkpoint *checkpoint, uint64_t *number, int64_t *cost)
{
	int64_t begun;

	if (!checkpoint->marked.number || !fanout_settled(checkpoint->fanout)) {
		write_what_is_safe(checkpoint);
		return false;
	}
	begun = clock_monotonic();
	checkpoint_hold(checkpoint);
	move(&checkpoint->holding, &checkpoint->marked);
	*number = checkpoint->holding.number;
	if (checkpoint->newest.number)
		mark(checkpoint);
	checkpoint_write(checkpoint, false);
	checkpoint_release(checkpoint);
	*cost = clock_monotonic() - begun;
	return true;
}

/* Writing */

/* A position of which nothing was ever read: no session, and an empty list of spans. */
static void pack_nothing(struct buffer *out)
{
	pack_u32(out, 3 * sizeof(uint32_t));
	pack_u32(out, 0);
	pack_u32(out, sizeof(uint32_t));
	pack_u32(out, 0);
}

/* A failure is logged once, until it is over. */
static void note(struct checkpoint *checkpoint, int failure)
{
	if (failure && failure != checkpoint->failure)
		log_warning("the checkpoint in `state-directory` cannot be written (%s): if the agent is "
			    "killed now, what it delivers will be delivered again",
			g_strerror(failure));
	else if (!failure && checkpoint->failure)
		log_info("the checkpoint can be written again");
	checkpoint->failure = failure;
}

void checkpoint_write(struct checkpoint *checkpoint, bool sync)
{
	struct buffer *out = &checkpoint->out;

	if (!checkpoint->file)
		return;
	checkpoint_hold(checkpoint);
	out->size = 0;
	if (checkpoint->holding.number)
		pack_bytes(out, checkpoint->holding.bytes.data, checkpoint->holding.bytes.size);
	else
		pack_nothing(out);
	put_reached(checkpoint, out);
	note(checkpoint, checkpoint_file_write(checkpoint->file, out->data, out->size, sync));
	buffer_empty(out, CHECKPOINT_KEPT_SIZE);
	checkpoint_release(checkpoint);
}

/* An empty position, so that the next run begins anew, and the ledger, which goes on. Returns 0, or errno. */
static int write_forgotten(struct checkpoint *checkpoint)
{
	struct buffer *out = &checkpoint->out;
	int failure;

	out->size = 0;
	pack_u32(out, 0);
	put_reached(checkpoint, out);
	failure = checkpoint_file_write(checkpoint->file, out->data, out->size, true);
	buffer_empty(out, CHECKPOINT_KEPT_SIZE);
	return failure;
}

void checkpoint_forget(struct checkpoint *checkpoint)
{
	int lost = 0, failure = 0;

	checkpoint_hold(checkpoint);
	checkpoint->holding.number = checkpoint->marked.number = checkpoint->newest.number = 0;
	checkpoint->reached.size = 0;
	if (checkpoint->file)
		lost = write_forgotten(checkpoint);
	/* one that stayed would have the next run read again */
	if (lost)
		failure = checkpoint_file_remove(checkpoint->file);
	/* after what makes it count for nothing */
	if (checkpoint->ahead)
		checkpoint_file_remove(checkpoint->ahead);
	checkpoint_release(checkpoint);
	if (lost)
		log_warning("the counts cannot be written to `state-directory`, and begin at zero with the "
			    "next start: %s",
			g_strerror(lost));
	if (failure)
		log_warning("the checkpoint in `state-directory` cannot be removed: %s", g_strerror(failure));
}
