/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading the session live: keeperparts.h. */
#include "reader/keeperparts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "session/relaynews.h"

/* When a session is gone, or its streams ended, the reader has so long to come to its end. */
#define GONE_NS (3 * NS_PER_SECOND)
/* If live reading fails or stalls within this time after it attached, attaching again does not help. */
#define SOON_NS (60 * NS_PER_SECOND)
/* Live reading that goes on for so long after files had to be read is back. If another session records beside
 * this one, all of it twice, that one takes over then. */
#define LASTS_NS (10 * NS_PER_SECOND)
/* Each look at an idle reader asks lttng-relayd for each stream, and wakes it up. So when nothing has come
 * for so many turns of the live timer, and nothing after relayd wrote something for so many, the reader is
 * looked at less often: so often if what relayd writes is watched, which ends the pause; */
#define READ_TURNS 2
#define NEWS_TURNS 5
#define WATCHED_POLL_NS (1 * NS_PER_SECOND)
/* News is rare if there was none, and nothing to read, for so many turns. */
#define RARE_TURNS 2
/* if not, when no event has come for so long, so many times less often, though no less often than this. */
#define QUIET_NS (3 * NS_PER_SECOND)
#define QUIET_FACTOR 4
#define QUIET_POLL_NS (400 * NS_PER_MS)
/* What could not be watched is tried again after this. */
#define WATCH_AGAIN_NS (10 * NS_PER_SECOND)
/* When what has piled up waits, it is looked again so soon. */
#define PACE_NS (2 * NS_PER_MS)

/* Attaching */

bool keeper_avoids_live(const struct keeper *keeper)
{
	return clock_monotonic() < keeper->files_until || users_any(keeper->users, user_waits);
}

bool keeper_gives_up_live(const struct keeper *keeper)
{
	return keeper->unreadable >= UNREADABLE_MAX || keeper_avoids_live(keeper);
}

enum attached keeper_attach(struct keeper *keeper, struct session *session, struct reader **reader)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	struct problem problem;
	enum attached attached;

	if (keeper_avoids_live(keeper))
		return ATTACHED_UNREADABLE;
	if (keeper->use_files) {
		keeper->use_files = false;
		keeper->unreadable = UNREADABLE_MAX;
		return ATTACHED_UNREADABLE;
	}
	keeper_tick(keeper, false);
	runstate_calls(keeper->state, DAEMON_RELAY);
	runstate_live(keeper->state, true);
	attached = livereader_attach(keeper->live, session, reader, &problem);
	runstate_live(keeper->state, attached == ATTACHED);
	if (attached == ATTACHED) {
		keeper->recover.alone = false;
		keeper->left_out[0] = '\0';
	}
	if (attached == ATTACHED_UNREADABLE && !keeper_knows_session(keeper)) {
		attached = ATTACHED_NOT;
		problem.reason = REASON_FOREIGN_SESSION;
		g_strlcat(problem.text,
			"; does another agent read it, with the same `name` and another `state-directory`? "
			"If none does, destroy it (lttng destroy)",
			sizeof(problem.text));
	}
	if (attached != ATTACHED_UNREADABLE || identity->created != keeper->failing)
		keeper->unreadable = 0;
	else
		keeper->unreadable++;
	keeper->failing = identity->created;
	if (attached != ATTACHED && !keeper_gives_up_live(keeper))
		runstate_waits(keeper->state, problem.reason, problem.text);
	return attached;
}

/* Reading */

static int64_t events_read(void)
{
	struct ledger rows;

	ledger_read(&rows);
	return rows.row[EVENTS_READ];
}

/* A few events may come of each attaching, even if no more follow. */
void keeper_stalled(struct keeper *keeper, bool helped)
{
	keeper->stalls = helped ? 1 : keeper->stalls + 1;
	keeper->use_files = keeper->stalls >= STALLS_MAX;
	runstate_waits(keeper->state, REASON_RELAY_STALLS,
		"lttng-relayd does not send what it has recorded: the agent attaches to the session again");
}

/* The session records no more, whatever the session daemon says of it. */
static void condemn(struct keeper *keeper, bool gone, struct problem *problem)
{
	keeper->condemned = progress_session(keeper->progress)->created;
	if (keeper_disk_is_full(keeper, problem))
		return;
	problem_set(problem, REASON_SESSION_LOST, "%s",
		gone ? "the session is gone: somebody destroyed it, or lttng-sessiond or lttng-relayd has "
		       "ended"
		     : "lttng-relayd cannot write the session, or a consumer daemon of LTTng has ended (see "
		       "their logs)");
}

/* babeltrace2 fails in the midst of reading: because relayd has ended, or on what programs have recorded.
 * Files tell whose; if that is known, live reading would only fail again. Returns whether it was the
 * programs. */
static bool count_break(struct keeper *keeper, bool soon)
{
	if (!livereader_relay_answers(keeper->live))
		return false;
	keeper->breaks = soon ? keeper->breaks + 1 : 1;
	keeper->use_files = keeper->breaks >= BREAKS_MAX || users_any(keeper->users, user_is_left_out);
	return true;
}

static void explain_end(
	struct keeper *keeper, struct reader *reader, enum reader_status status, struct problem *problem)
{
	if (status == READER_END)
		condemn(keeper, true, problem);
	else if (status == READER_ERROR)
		problem_set(problem, REASON_NO_RELAY, "the connection to lttng-relayd is lost (%s)",
			reader_error(reader));
	else if (watch_gone(keeper->watch))
		problem_set(problem, REASON_SESSION_LOST, "somebody destroyed the session");
	else
		condemn(keeper, false, problem);
}

/* When nothing comes. */
struct quiet {
	uint64_t read;      /* things_read, */
	int64_t since;      /* and when that changed last; CLOCK_MONOTONIC ns, as below */
	int64_t busy;       /* more is likely to come until then */
	int64_t told;       /* when there was news last, */
	int64_t rare;       /* which was rare: what relayd writes stays watched until then */
	int news;           /* relaynews_open's; -1: what relayd writes is not watched, */
	int64_t watch_next; /* and not to be before */
	bool watched;       /* it was when the reader was looked at last */
};

/* A number that changes with what is read, the canary's events, too. */
static uint64_t things_read(struct keeper *keeper)
{
	return (uint64_t)events_read() + positions_moves(progress_positions(keeper->progress));
}

static void watch_no_more(struct quiet *quiet)
{
	if (quiet->news >= 0)
		close(quiet->news);
	quiet->news = -1;
	quiet->watched = false;
}

/* How long to wait when nothing is likely to come. */
static int64_t quiet_pause(struct keeper *keeper, struct quiet *quiet, int64_t now)
{
	if (quiet->news < 0 && now >= quiet->watch_next) {
		quiet->news = livereader_watch(keeper->live);
		quiet->watch_next = quiet->news < 0 ? now + WATCH_AGAIN_NS : 0;
	} else if (quiet->watched && progress_rests(keeper->progress)) {
		return MAX(keeper->poll_ns, WATCHED_POLL_NS);
	}
	if (now - quiet->since < QUIET_NS || keeper->poll_ns > QUIET_POLL_NS)
		return keeper->poll_ns;
	return MIN(keeper->poll_ns * QUIET_FACTOR, QUIET_POLL_NS);
}

/* How long to wait while more is likely to come: if that is little, only once a turn, as more news ends it.
 */
static int64_t busy_pause(const struct keeper *keeper, const struct quiet *quiet)
{
	if (quiet->news >= 0 && quiet->since > quiet->told)
		return MAX(keeper->poll_ns, keeper->config->live_timer);
	return keeper->poll_ns;
}

/* It is to be watched on if that pays: news that is often costs more than looking does. */
static void take_news(struct quiet *quiet, int64_t turn, int64_t now)
{
	bool rare = now - MAX(quiet->told, quiet->since) >= RARE_TURNS * turn;

	if (rare)
		quiet->rare = now + NEWS_TURNS * turn;
	if (now >= quiet->rare || !relaynews_take(quiet->news))
		watch_no_more(quiet);
	quiet->told = now;
	quiet->busy = now + NEWS_TURNS * turn;
}

/* Waits a while, as there was nothing to read. */
static void pause_reading(struct keeper *keeper, struct quiet *quiet)
{
	const int64_t turn = keeper->config->live_timer;
	uint64_t read = things_read(keeper);
	int64_t now = clock_monotonic();

	if (read != quiet->read) {
		if (now >= quiet->rare)
			watch_no_more(quiet);
		quiet->read = read;
		quiet->since = now;
		quiet->busy = now + READ_TURNS * turn;
	}
	keeper->paused = now < quiet->busy ? busy_pause(keeper, quiet) : quiet_pause(keeper, quiet, now);
	quiet->watched = quiet->news >= 0;
	if (runstate_pause_on(keeper->state, keeper->paused, quiet->news))
		take_news(quiet, turn, clock_monotonic());
}

/* What has piled up is read no faster than it can be delivered. */
static bool may_read(struct keeper *keeper)
{
	if (!progress_lags(keeper->progress) || progress_catch_up(keeper->progress))
		return true;
	runstate_pause(keeper->state, PACE_NS);
	keeper_tick(keeper, false);
	return false;
}

/* It was read from files for a while, and is not any more, if it lasts: what ends live reading now and then
 * is told once. */
static void log_back(struct keeper *keeper, int64_t begun)
{
	if (!keeper->from_files || clock_monotonic() - begun < LASTS_NS)
		return;
	log_info("LTTng session `%s` is read live again", progress_session(keeper->progress)->name);
	keeper->from_files = false;
}

/* The next reader would need the files of the session. */
static void show_files(struct keeper *keeper)
{
	const char *trouble = livereader_trouble(keeper->live),
		   *name = progress_session(keeper->progress)->name;
	char text[640];

	if (keeper->still || strcmp(trouble, keeper->trouble) == 0)
		return;
	g_strlcpy(keeper->trouble, trouble, sizeof(keeper->trouble));
	snprintf(text, sizeof(text),
		"lttng-relayd's files cannot be read, so what is recorded while the agent restarts will be "
		"lost, and may be what a user's first program records at first: %s",
		trouble);
	if (*trouble)
		runstate_collects_in_part(keeper->state, name, REASON_FILES_UNREADABLE, text);
	else
		runstate_collects(keeper->state, name, false);
}

enum read_end {
	READ_STOPPED,
	READ_MISSES,   /* the reader does not know of all traces */
	READ_MUTE,     /* nor does anything come of those that it should know of */
	READ_STILL,    /* nothing comes, not even the news that streams are idle */
	READ_FOLLOWED, /* another session records beside this one, and nothing is wrong with it */
	READ_PUT_OFF,  /* another session, which was put off, is to take its place */
	READ_OUTGROWN, /* its ring buffers were full, and can be larger */
	READ_LOST      /* @problem says what happened */
};

/* Whether the session that is there beside this one is to take its place now: the reader that made it was
 * killed before it took over. */
static bool is_followed(const struct keeper *keeper, int64_t begun)
{
	int64_t pause = progress_may_both_record(keeper->progress) ? LASTS_NS : SOON_NS;

	return progress_next(keeper->progress) && !keeper->still && clock_monotonic() - begun >= pause;
}

/* Reads until something ends it. */
static enum read_end read_on(
	struct keeper *keeper, struct reader *reader, struct quiet *quiet, struct problem *problem)
{
	int64_t before = events_read(), begun = clock_monotonic(), ending = 0;
	enum reader_status status = READER_MORE;
	enum unread_verdict verdict = UNREAD_NOTHING;
	bool soon, silent = false, heard = false;

	keeper_begins_to_listen(keeper);
	while ((status == READER_MORE || status == READER_IDLE) && verdict == UNREAD_NOTHING && !silent) {
		if (runstate_stopping(keeper->state))
			return READ_STOPPED;
		if (!may_read(keeper))
			continue;
		runstate_calls(keeper->state, DAEMON_RELAY);
		status = reader_step(reader);
		runstate_calls(keeper->state, DAEMON_NONE);
		keeper_tick(keeper, false);
		log_back(keeper, begun);
		heard |= status == READER_MORE;
		if (status == READER_MORE && !reader_ended_streams(reader))
			keeper_hears(keeper);
		else if (status == READER_IDLE)
			silent = keeper_hears_nothing(keeper, reader) && !ending;
		if (status == READER_IDLE && !ending)
			verdict = livereader_look(keeper->live, reader);
		show_files(keeper);
		if (status == READER_IDLE && clock_monotonic() - begun >= LASTS_NS)
			progress_has_all_copies(keeper->progress);
		if (is_followed(keeper, begun))
			return READ_FOLLOWED;
		if (keeper_may_change(keeper))
			return READ_PUT_OFF;
		if (!ending && keeper_outgrows(keeper))
			return READ_OUTGROWN;
		if (status == READER_IDLE && verdict == UNREAD_NOTHING)
			pause_reading(keeper, quiet);
		if (!ending && (reader_ended_streams(reader) || watch_gone(keeper->watch)))
			ending = clock_monotonic();
		if (ending && clock_monotonic() - ending >= GONE_NS)
			break;
	}
	soon = clock_monotonic() - begun < SOON_NS;
	if (verdict == UNREAD_TRACE && !heard)
		return READ_MUTE;
	if (verdict == UNREAD_TRACE || (status == READER_ERROR && livereader_has_new_traces(keeper->live)))
		return READ_MISSES;
	if (status == READER_ERROR && count_break(keeper, soon))
		return READ_MISSES;
	keeper->stalled = verdict == UNREAD_STALL;
	keeper->helped = !soon && events_read() != before;
	if (keeper->stalled || silent)
		return READ_STILL;
	explain_end(keeper, reader, status, problem);
	return runstate_stopping(keeper->state) ? READ_STOPPED : READ_LOST;
}

void keeper_read_live(struct keeper *keeper, struct session *session, struct reader **attached, bool new)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	struct quiet quiet = {.read = things_read(keeper), .since = clock_monotonic(), .news = -1};
	struct problem problem;
	enum read_end end;
	bool at_once; /* as it is in any case */

	if (new)
		ledger_add(SESSIONS_CREATED, 1);
	if (!keeper->still)
		runstate_collects(keeper->state, identity->name, new);
	keeper->trouble[0] = '\0';
	watch_set(keeper->watch, identity);
	end = read_on(keeper, *attached, &quiet, &problem);
	watch_no_more(&quiet);
	if (end == READ_LOST)
		runstate_waits(keeper->state, problem.reason, problem.text);
	else if (end == READ_STOPPED && !keeper_keeps(keeper))
		keeper_finish(keeper, session, *attached);
	watch_set(keeper->watch, NULL);
	if (end == READ_FOLLOWED)
		keeper_hand_over(keeper, attached, &at_once);
	else if (end == READ_OUTGROWN)
		keeper_grow(keeper, attached, &at_once);
	keeper->again = end == READ_MISSES || end == READ_MUTE || end == READ_PUT_OFF;
	keeper->stands_still = end == READ_STILL || end == READ_MUTE;
}
