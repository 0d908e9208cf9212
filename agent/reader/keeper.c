/* SPDX-License-Identifier: BSD-2-Clause */
/* Which session it is, and what to do with it. */
#include "reader/keeper.h"

#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "reader/keeperparts.h"
#include "session/sessiond.h"

/* The pause between two looks at an idle stream: half a live timer, within these. */
#define POLL_MIN_NS (1 * NS_PER_MS)
#define POLL_MAX_NS (100 * NS_PER_MS)
/* The shortest time between two looks at the wall clock. */
#define CLOCK_NS (1 * NS_PER_MS)
/* When less than this is left on disk, the reader attaches. */
#define LITTLE_BYTES (4 * 1024 * 1024)
/* With less room than this on relayd's disk, a session is of no use. */
#define ROOM_BYTES (8 * 1024 * 1024)

struct keeper *keeper_create(const struct keeper_parts *parts, const struct orders *orders)
{
	const struct config *config = parts->config;
	struct keeper *keeper = g_new0(struct keeper, 1);

	keeper->config = config;
	keeper->stop_timeout = config->stop_timeout;
	keeper->pipeline = parts->pipeline;
	keeper->progress = parts->progress;
	keeper->state = parts->state;
	keeper->link = parts->link;
	keeper->cleanup = (struct cleanup){.config = config, .progress = parts->progress};
	keeper->users = users_create(orders->suspects);
	keeper->files_until = clock_monotonic() + orders->files;
	keeper->looked = progress_steps(parts->progress)->looked;
	keeper_init_recovery(keeper, orders->alone);
	keeper->poll_ns = CLAMP(config->live_timer / 2, POLL_MIN_NS, POLL_MAX_NS);
	keeper->live = livereader_create(config, parts->pipeline, parts->progress, parts->state->page);
	keeper->watch = watch_create(config);
	if (keeper->watch)
		return keeper;
	g_ptr_array_unref(keeper->users);
	livereader_destroy(keeper->live);
	g_free(keeper);
	return NULL;
}

void keeper_configure(struct keeper *keeper, const struct settings *settings)
{
	keeper->stop_timeout = settings->stop_timeout;
	watch_set_level(keeper->watch, settings->level);
}

void keeper_take_snapshot(struct keeper *keeper, uint64_t number)
{
	g_autofree char *path = g_build_filename(keeper->config->state_directory, FLIGHT_SNAPSHOT, NULL);

	if (number)
		watch_take_snapshot(keeper->watch, number, path);
}

void keeper_destroy(struct keeper *keeper)
{
	watch_destroy(keeper->watch);
	g_ptr_array_unref(keeper->users);
	livereader_destroy(keeper->live);
	g_free(keeper);
}

void keeper_clean(struct keeper *keeper)
{
	cleanup_run(&keeper->cleanup);
}

/* What all parts do */

static void look_at_clock(struct keeper *keeper)
{
	int64_t now = clock_monotonic(), by;

	if (now - keeper->clock_looked < CLOCK_NS)
		return;
	keeper->clock_looked = now;
	if (!clock_steps_look(progress_steps(keeper->progress), &by))
		return;
	ledger_add(CLOCK_STEPS_SEEN, 1);
	positions_moved(progress_positions(keeper->progress));
	log_warning(
		"the wall clock stepped by %.3f s: what was recorded before and after it keeps its own time",
		(double)by / NS_PER_SECOND);
}

void keeper_tick(struct keeper *keeper, bool idle)
{
	struct omissions omissions;
	struct user_buffers buffers;
	struct snapshot_taken taken;

	look_at_clock(keeper);
	if (watch_news(keeper->watch, &omissions))
		agent_link_omits(keeper->link, &omissions);
	if (watch_measured(keeper->watch, &buffers))
		agent_link_measured(keeper->link, &buffers);
	if (watch_snapshot(keeper->watch, &taken))
		agent_link_snapped(keeper->link, taken.number, taken.error);
	agent_link_misuses(keeper->link, pipeline_misuses(keeper->pipeline));
	if (idle)
		pipeline_tick(keeper->pipeline, clock_monotonic(), true);
	progress_tick(keeper->progress);
	keeper_clean(keeper);
}

static enum reason reason_of(const struct config *config, enum session_status status)
{
	switch (status) {
	case SESSION_NO_DAEMON:
		return sessiond_ask(config->tracing_group) == SESSIOND_DENIED ? REASON_NO_PERMISSION
									      : REASON_NO_SESSION_DAEMON;
	case SESSION_DENIED:
		return REASON_NO_PERMISSION;
	case SESSION_NO_RELAY:
		return REASON_NO_RELAY;
	case SESSION_FOREIGN:
		return REASON_FOREIGN_SESSION;
	default:
		return REASON_LTTNG_FAILED;
	}
}

void keeper_session_failed(struct keeper *keeper, enum session_status status, const char *error)
{
	runstate_waits(keeper->state, reason_of(keeper->config, status), error);
}

bool keeper_knows_session(const struct keeper *keeper)
{
	return *progress_session(keeper->progress)->settings != '\0';
}

bool keeper_keeps(const struct keeper *keeper)
{
	return progress_keeps(keeper->progress) || runstate_leaves(keeper->state);
}

bool keeper_start(struct keeper *keeper, struct session *session)
{
	enum session_status status;
	char error[512];

	runstate_calls(keeper->state, DAEMON_SESSION);
	status = session_start(session, error, sizeof(error));
	if (status != SESSION_OK)
		keeper_session_failed(keeper, status, error);
	else
		keeper_records(keeper, clock_monotonic());
	return status == SESSION_OK;
}

bool keeper_disk_is_full(const struct keeper *keeper, struct problem *problem)
{
	struct statvfs disk;

	if (statvfs(keeper->config->relay_output, &disk) != 0 || disk.f_bavail * disk.f_frsize >= ROOM_BYTES)
		return false;
	problem_set(problem, REASON_RELAY_DISK_FULL,
		"the disk of lttng-relayd is full (%s): make room there, or lower `disk` in [session]",
		keeper->config->relay_output);
	return true;
}

/* A session that is there */

/* Whether the session at hand has the settings of the configuration, or those that one could have now. */
static bool is_as_wanted(struct keeper *keeper)
{
	if (!keeper_has_our_settings(keeper))
		return false;
	keeper_waits_for_kernel(keeper);
	return true;
}

/* The session at hand is to have other settings. Returns whether that ends it, and then whether to go on
 * @at_once; or else it is read on until another one can be made. */
static bool change(struct keeper *keeper, struct session *session, struct reader **attached, bool *at_once)
{
	int64_t begun = clock_monotonic();
	bool known = keeper_knows_session(keeper);

	if (known && !keeper->change_next)
		log_info("[session], [events] or [kernel] has changed: a new session takes the old one's "
			 "place");
	if (known && keeper_hand_over(keeper, attached, at_once))
		return true;
	if (known && keeper->change_next)
		return false;
	*at_once = !keeper_is_gone(keeper, progress_session(keeper->progress));
	if (!*at_once)
		return true; /* which is found out, and counted, the next time */
	/* whoever is about to destroy it may have stopped it meanwhile */
	keeper->lost_since = begun;
	keeper_finish(keeper, session, *attached);
	return true;
}

/* Reads on where a reader attached, which it may close. Returns whether to go on at once. */
static bool go_on(struct keeper *keeper, struct session *session, struct reader **attached)
{
	bool at_once;

	if (!keeper_catch_up(keeper, 0))
		return false;
	reader_hold(*attached, false);
	if (!is_as_wanted(keeper) && change(keeper, session, attached, &at_once))
		return at_once;
	/* if it was read until now it records already, and need not wait for the session daemon, which may
	 * hang */
	if (keeper->reattaching || keeper->change_next || keeper_start(keeper, session))
		keeper_read_live(keeper, session, attached, false);
	return false;
}

/* Attaches to the session at hand and reads it. Returns whether to go on at once. */
static bool attach_and_read(struct keeper *keeper, struct session *session)
{
	struct reader *reader = NULL;
	bool at_once = false;

	switch (keeper_attach(keeper, session, &reader)) {
	case ATTACHED:
		at_once = go_on(keeper, session, &reader);
		break;
	case ATTACHED_UNKNOWN:
		session_destroy(session);
		at_once = keeper_lose_gone(keeper, "lttng-relayd no longer knows it");
		break;
	case ATTACHED_UNREADABLE:
		if (keeper_gives_up_live(keeper))
			at_once = keeper_read_files(keeper, session,
				keeper->reattaching || is_as_wanted(keeper) || keeper_puts_off(keeper));
		break;
	default:
		break;
	}
	if (reader)
		reader_close(reader);
	watch_set(keeper->watch, NULL);
	runstate_live(keeper->state, false);
	return keeper->stands_still ? keeper_stands_still(keeper) : at_once;
}

/* Whether all that is on disk is to be read from there, to see who ends the reader. */
static bool is_careful(const struct keeper *keeper)
{
	return keeper->recover.alone || users_any(keeper->users, user_is_suspect);
}

/*
 * What the session is to record comes before what it has recorded: while more is recorded than the reader can
 * take, a configuration with less would not take effect as long as the reader catches up, and it would never
 * come to the end of that. False: the session cannot be started.
 */
static bool configure_first(struct keeper *keeper, struct session *session)
{
	if (keeper->reattaching || !keeper_knows_session(keeper) || !keeper_has_our_settings(keeper))
		return true;
	if (!keeper_start(keeper, session))
		return false;
	watch_set(keeper->watch, progress_session(keeper->progress));
	return true;
}

/* Takes up the session at hand, which is there. Returns whether to go on at once. */
static bool resume(struct keeper *keeper)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	struct session *session = session_adopt(keeper->config, identity);
	bool at_once = false;

	if (identity->created == keeper->condemned) {
		session_destroy(session);
		at_once = keeper_lose_gone(keeper, "its streams have ended");
	} else if (keeper_was_replaced(keeper)) {
		at_once = keeper_end_replaced(keeper, session);
	} else if (configure_first(keeper, session) &&
		   (!keeper_knows_session(keeper) ||
			   keeper_catch_up(keeper, is_careful(keeper) ? 0 : LITTLE_BYTES))) {
		at_once = attach_and_read(keeper, session);
	}
	watch_set(keeper->watch, NULL);
	session_free(session);
	return at_once;
}

/* Takes up a session of our name that is not in the checkpoint. It is not known what of it is done, so all of
 * it is read, and it is ended; unless it is not an agent's. Returns whether to go on at once. */
static bool take_unknown(struct keeper *keeper, const char *name, uint64_t created)
{
	struct session_identity identity = {.created = created};
	enum session_status status;
	char error[512];

	status = session_check(keeper->config, name, error, sizeof(error));
	if (status != SESSION_OK) {
		keeper_session_failed(keeper, status, error);
		return false;
	}
	log_warning("found LTTng session `%s` without a checkpoint: everything it has on disk is delivered, "
		    "perhaps a second time",
		name);
	g_strlcpy(identity.name, name, sizeof(identity.name));
	progress_begin(keeper->progress, &identity);
	return true;
}

/* What to do */

/* There is no session of our name, but for one that has @ended, and none is known: one that took its place
 * may be there. Returns whether to go on at once. */
static bool take_other_or_make(struct keeper *keeper, bool ended)
{
	char name[256], error[512];
	uint64_t created;

	for (unsigned number = 1; number < SESSION_NAMES && !keeper->looked_for_others; number++) {
		session_name(keeper->config, number, name, sizeof(name));
		if (session_find(keeper->config, name, &created, error, sizeof(error)) == SESSION_OK &&
			!progress_has_ended(keeper->progress, name, created) &&
			session_check(keeper->config, name, error, sizeof(error)) == SESSION_OK)
			return take_unknown(keeper, name, created);
	}
	keeper->looked_for_others = true;
	return keeper_make_session(keeper, ended);
}

static bool find_or_make_session(struct keeper *keeper)
{
	const struct session_identity *known = progress_session(keeper->progress);
	enum session_status status;
	uint64_t created = 0;
	char error[512];

	runstate_calls(keeper->state, DAEMON_SESSION);
	status = session_find(keeper->config, known ? known->name : keeper->config->session_name, &created,
		error, sizeof(error));
	if (status == SESSION_NONE)
		return known ? keeper_lose_gone(keeper, "lttng-sessiond no longer knows it")
			     : take_other_or_make(keeper, false);
	if (status != SESSION_OK)
		keeper_session_failed(keeper, status, error);
	else if (known && created == known->created)
		return resume(keeper);
	else if (known)
		return keeper_lose(keeper, "another session has taken its name");
	else if (created == keeper->ended)
		return false; /* it is ours, and about to go */
	else if (progress_has_ended(keeper->progress, keeper->config->session_name, created))
		return take_other_or_make(keeper, true); /* it was replaced, and may be there for long */
	else
		return take_unknown(keeper, keeper->config->session_name, created);
	return false;
}

static bool attach_again(struct keeper *keeper)
{
	bool at_once;

	keeper->again = false;
	keeper->reattaching = true;
	at_once = resume(keeper);
	keeper->reattaching = false;
	return at_once;
}

bool keeper_run(struct keeper *keeper)
{
	bool at_once = find_or_make_session(keeper);

	while (keeper->again)
		at_once = attach_again(keeper);
	return at_once;
}

void keeper_stop(struct keeper *keeper)
{
	const struct session_identity *identity;
	uint64_t tried = 0;

	while ((identity = progress_session(keeper->progress)) && identity->created != tried &&
		clock_monotonic() < runstate_deadline(keeper->state)) {
		struct session *session = session_adopt(keeper->config, identity);

		tried = identity->created;
		keeper_finish(keeper, session, NULL);
		session_free(session);
	}
}
