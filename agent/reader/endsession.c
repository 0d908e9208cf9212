/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of a session: keeperparts.h. */
#include "reader/keeperparts.h"

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "reader/decode/relaylist.h"

/* relayd may go on writing, and listing, a session that is gone. The keeper waits so long for it, */
#define HELD_NS (10 * NS_PER_SECOND)
/* looks so often, */
#define HELD_PAUSE_NS (50 * NS_PER_MS)
/* and reports it after this time. */
#define HELD_TOLD_NS (1 * NS_PER_SECOND)
/* While the session comes to its end: the pause between two looks at a reader that is idle, */
#define END_PAUSE_US 10000
/* and how long it may be idle when all that was recorded is on disk. */
#define QUIET_NS (2 * NS_PER_SECOND)

/* After a session daemon has started, running programs take up to so long to come to it. */
#define REGISTERED_NS (6 * NS_PER_SECOND)

void keeper_end(struct keeper *keeper)
{
	keeper->ended = progress_session(keeper->progress)->created;
	users_forget_session(keeper->users);
	keeper->left_out[0] = '\0';
	keeper->stalls = keeper->breaks = 0;
	keeper->use_files = keeper->recover.has_streams = false;
	keeper->still = false;
	keeper->stuck[0] = '\0';
	keeper->probe_next = keeper->change_next = 0;
	keeper_forget_discarded(keeper);
	progress_end(keeper->progress);
}

/*
 * Until relayd lets go, more of the session may come to disk, and babeltrace2, which attaches to all sessions
 * of a name, would wait for this one's metadata for ever. Once a new session of the name records, relayd
 * never lets go.
 */
bool keeper_wait_for_release(struct keeper *keeper, const struct session_identity *session)
{
	int64_t begun = clock_monotonic(), waited = 0;

	while (!runstate_stopping(keeper->state)) {
		runstate_calls(keeper->state, DAEMON_RELAY);
		if (!relaylist_has(keeper->config, session)) {
			keeper->held = false;
			return true;
		}
		waited = clock_monotonic() - begun;
		keeper->held |= waited >= HELD_NS;
		if (keeper->held)
			return false;
		if (waited >= HELD_TOLD_NS)
			runstate_waits(keeper->state, REASON_RELAY_HOLDS_SESSION,
				"lttng-relayd still holds an old session of this name, or someone else's: "
				"waiting for it to end");
		keeper_tick(keeper, true);
		runstate_pause(keeper->state, HELD_PAUSE_NS);
	}
	return true;
}

/* Up to when nothing is lost: what is known to have come last was recorded up to two turns of the live timer
 * ago. */
static int64_t all_came_until(const struct keeper *keeper)
{
	int64_t now = clock_monotonic(), idle = livereader_heard(keeper->live);
	int64_t last = pipeline_far(keeper->pipeline).last - (clock_wall() - now);
	int64_t until = MAX(idle <= now ? idle : 0, last <= now ? last : 0);

	if (until <= 0 && keeper->looked <= now)
		until = keeper->looked;
	return MAX(until - 2 * keeper->config->live_timer, 1);
}

void keeper_records(struct keeper *keeper, int64_t since)
{
	int64_t lasted = since - keeper->lost_since + REGISTERED_NS;

	if (!keeper->lost_since)
		return;
	keeper->lost_since = 0;
	lasted = MAX(lasted + NS_PER_SECOND - 1, 0) / NS_PER_SECOND;
	if (!lasted)
		return;
	ledger_add(SESSIONS_LOST_SECONDS, lasted);
	log_warning("what programs recorded in %" G_GINT64_FORMAT
		    " seconds, at most, was lost with the LTTng session: LTTng does not tell how many events",
		lasted);
}

bool keeper_is_gone(const struct keeper *keeper, const struct session_identity *session)
{
	char error[512];
	uint64_t created = 0;
	enum session_status status;

	runstate_calls(keeper->state, DAEMON_SESSION);
	status = session_find(keeper->config, session->name, &created, error, sizeof(error));
	/* a session does not outlive its daemon */
	return status == SESSION_NONE || status == SESSION_NO_DAEMON ||
	       (status == SESSION_OK && created != session->created);
}

bool keeper_lose(struct keeper *keeper, const char *why)
{
	const char *name = progress_session(keeper->progress)->name;
	char unread[512];

	if (!keeper_read_rest(keeper, unread, sizeof(unread)))
		return false;
	ledger_add(SESSIONS_LOST, 1);
	if (!keeper->lost_since)
		keeper->lost_since = all_came_until(keeper);
	if (*unread)
		log_warning("LTTng session `%s` has ended: %s; what was recorded but not yet read is lost, "
			    "because lttng-relayd's files cannot be read (%s; see `relay-output` in "
			    "[session])",
			name, why, unread);
	else
		log_warning("LTTng session `%s` has ended: %s; what was in its buffers, and not yet at the "
			    "relay, is lost",
			name, why);
	keeper_forgets_mute(keeper);
	keeper_end(keeper);
	return true;
}

bool keeper_lose_gone(struct keeper *keeper, const char *why)
{
	keeper_wait_for_release(keeper, progress_session(keeper->progress));
	return keeper_lose(keeper, why);
}

/* Reads the session live to its end, which babeltrace2 does not come to if it has not heard of all streams.
 * What has come to disk can be read from there: then it is not waited for long. */
static void drain(struct keeper *keeper, struct reader *reader, bool on_disk, int64_t deadline)
{
	enum reader_status status = READER_MORE;
	int64_t moved = clock_monotonic(), now = moved;

	while ((status == READER_MORE || status == READER_IDLE) && now < deadline &&
		!(on_disk && now - moved >= QUIET_NS)) {
		runstate_calls(keeper->state, DAEMON_RELAY);
		status = reader_step(reader);
		progress_tick(keeper->progress);
		if (status == READER_IDLE)
			g_usleep(END_PAUSE_US);
		now = clock_monotonic();
		if (status == READER_MORE)
			moved = now;
	}
}

void keeper_finish(struct keeper *keeper, struct session *session, struct reader *reader)
{
	int64_t deadline = runstate_deadline(keeper->state);
	char unread[512] = "";
	bool on_disk;

	if (!deadline)
		deadline = clock_monotonic() + keeper->stop_timeout;
	keeper->draining = true;
	watch_stop(keeper->watch);
	runstate_calls(keeper->state, DAEMON_SESSION);
	on_disk = session_stop(session, false, deadline - clock_monotonic());
	session_destroy(session);
	if (reader)
		drain(keeper, reader, on_disk, deadline);
	if (keeper_read_rest(keeper, unread, sizeof(unread))) {
		if (*unread)
			livereader_complain(keeper->live, unread);
		keeper_end(keeper);
	} else {
		log_warning("what the session still held was not delivered: %s",
			*unread ? unread : "it did not end in time");
	}
	keeper->draining = false;
}
