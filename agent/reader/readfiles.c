/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the session from relayd's files: keeperparts.h. */
#include "reader/keeperparts.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"

/* After so many failures in a row, twice a second, what recovery should have read is given up. */
#define FAILED_MAX 20
/* Each pass that is to leave less on disk has to find so many times less than the one before: or else more is
 * recorded than can be read, and reading live is no worse. */
#define GAIN 2
/* The pause between two passes, */
#define PAUSE_NS (1 * NS_PER_SECOND)
/* and how long they go on before live reading is tried again: twice as long each time that it fails, up to */
#define FILES_NS (30 * NS_PER_SECOND)
#define FILES_MAX_NS (300 * NS_PER_SECOND)

static bool stopping(void *data)
{
	struct keeper *keeper = data;
	int64_t deadline = runstate_deadline(keeper->state);

	return deadline && (!keeper->draining || clock_monotonic() >= deadline);
}

/* A user's programs write what cannot be read. */
static void left_out(void *data, uint64_t user, uint64_t packets, const char *error)
{
	struct keeper *keeper = data;
	struct unreadable unreadable = {.user = user, .packets = packets};

	snprintf(keeper->left_out, sizeof(keeper->left_out),
		"what programs of user %" G_GUINT64_FORMAT
		" record cannot be read, and is skipped and counted as lost: %s",
		user, error);
	g_strlcpy(unreadable.error, error, sizeof(unreadable.error));
	users_get(keeper->users, user)->left_out = true;
	agent_link_left_out(keeper->link, &unreadable);
}

/* What holds up all, or a whole user, is told first. */
static void alone_read(void *data)
{
	struct keeper *keeper = data;

	if (!keeper->still && !keeper->stuck[0])
		runstate_collects_in_part(keeper->state, progress_session(keeper->progress)->name,
			REASON_READER_ENDED,
			"the process that read the session ended: for now each user's programs are read "
			"separately, to find out whose records end it");
}

void keeper_init_recovery(struct keeper *keeper, bool alone)
{
	keeper->recover = (struct recover){
		.config = keeper->config,
		.pipeline = keeper->pipeline,
		.link = keeper->link,
		.progress = keeper->progress,
		.state = keeper->state,
		.users = keeper->users,
		.alone = alone,
		.stopping = stopping,
		.left_out = left_out,
		.alone_read = alone_read,
		.data = keeper,
	};
}

/* Recovery is tried again for a while. If it goes on failing, what is recorded now is worth more. */
static void count_failure(struct keeper *keeper, const char *error)
{
	runstate_waits(keeper->state, REASON_FILES_UNREADABLE, error);
	keeper->recover.give_up = ++keeper->recoveries >= FAILED_MAX;
}

bool keeper_read_rest(struct keeper *keeper, char *why, size_t size)
{
	runstate_stopping(keeper->state);
	switch (recover_rest(&keeper->recover, why, size)) {
	case RECOVER_OK:
		why[0] = '\0';
		return true;
	case RECOVER_UNREADABLE:
		return true;
	case RECOVER_FAILED:
		count_failure(keeper, why);
		return false;
	default:
		return false;
	}
}

bool keeper_catch_up(struct keeper *keeper, uint64_t enough)
{
	enum recover_status status;
	uint64_t found = UINT64_MAX, before;
	char error[512];

	runstate_stopping(keeper->state);
	do {
		before = found;
		status = recover_pass(&keeper->recover, enough, &found, error, sizeof(error));
	} while (status == RECOVER_OK && enough && found > enough && found < before / GAIN);
	g_strlcpy(keeper->no_files, status == RECOVER_UNREADABLE ? error : "", sizeof(keeper->no_files));
	if (status == RECOVER_UNREADABLE)
		livereader_complain(keeper->live, error);
	if (status == RECOVER_FAILED)
		count_failure(keeper, error);
	if (status == RECOVER_OK) {
		if (!enough)
			users_all_read(keeper->users);
		keeper->recoveries = 0;
		keeper->recover.give_up = false;
	}
	return status == RECOVER_OK || status == RECOVER_UNREADABLE;
}

static void show_neither(struct keeper *keeper)
{
	char text[640];

	snprintf(text, sizeof(text), "the session cannot be read live, nor from lttng-relayd's files: %s",
		keeper->no_files);
	runstate_waits(keeper->state, REASON_FILES_UNREADABLE, text);
}

/* What the status says while the session is read from files, or is meant to be. */
static void show(struct keeper *keeper)
{
	const char *name = progress_session(keeper->progress)->name;

	if (keeper->still)
		return;
	if (keeper->no_files[0])
		show_neither(keeper);
	else if (keeper->stuck[0])
		runstate_collects_in_part(keeper->state, name, keeper->stuck_reason, keeper->stuck);
	else if (keeper->left_out[0])
		runstate_collects_in_part(keeper->state, name, REASON_LEFT_OUT, keeper->left_out);
	else
		runstate_collects_in_part(keeper->state, name,
			keeper->stalls ? REASON_RELAY_STALLS : REASON_UNREADABLE,
			"the session cannot be read live: it is read from lttng-relayd's files, once a "
			"second");
}

static bool goes_on(const struct keeper *keeper, bool avoids, int64_t until)
{
	int64_t now = clock_monotonic();

	return now < keeper->kernel_until || (avoids ? keeper_avoids_live(keeper) : now < until);
}

/* By how much @count exceeds what live reading may fail before it is given up for a while. */
static unsigned beyond(unsigned count, unsigned most)
{
	return MAX(count, most) - most;
}

/* How long, in ns. */
static int64_t turn_of(const struct keeper *keeper)
{
	unsigned stalls = beyond(keeper->stalls, STALLS_MAX), breaks = beyond(keeper->breaks, BREAKS_MAX),
		 unreadable = beyond(keeper->unreadable, UNREADABLE_MAX);

	return clock_backoff(FILES_NS, MAX(MAX(stalls, breaks), unreadable), FILES_MAX_NS);
}

/* Each time that it comes to that; keeper_read_live says when it is over. */
static void log_files(struct keeper *keeper)
{
	if (!keeper->from_files)
		log_warning("LTTng session `%s` cannot be read live: it is read from lttng-relayd's files, "
			    "once a second; live reading is tried again after a while",
			progress_session(keeper->progress)->name);
	keeper->from_files = true;
}

/*
 * Pass by pass: babeltrace2 fails on the session live, where one user's metadata end the reading for all, and
 * it cannot be made to leave a trace out; or lttng-relayd does not send what it has.
 */
bool keeper_read_files(struct keeper *keeper, struct session *session, bool same)
{
	bool avoids = keeper_avoids_live(keeper);
	int64_t until = clock_monotonic() + turn_of(keeper);
	bool at_once = false, replaced = false;

	if (keeper->stuck[0] && keeper->stuck_reason == REASON_STREAM_STUCK)
		until = MIN(until, keeper->replace_next);
	if (same)
		log_files(keeper);
	watch_set(keeper->watch, progress_session(keeper->progress));
	while (same && !replaced && !runstate_stopping(keeper->state) && goes_on(keeper, avoids, until) &&
		!watch_gone(keeper->watch) && keeper_catch_up(keeper, 0)) {
		show(keeper);
		keeper_tick(keeper, true);
		replaced = keeper_looks_aside(keeper, &at_once);
		if (!replaced)
			runstate_pause(keeper->state, PAUSE_NS);
	}
	watch_set(keeper->watch, NULL);
	if (same && !runstate_stopping(keeper->state))
		return at_once;
	if (!same)
		keeper->lost_since = clock_monotonic();
	if (!same || !keeper_keeps(keeper))
		keeper_finish(keeper, session, NULL);
	return !same;
}
