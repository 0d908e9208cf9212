/* SPDX-License-Identifier: BSD-2-Clause */
/* Making a new session: keeperparts.h. */
#include "reader/keeperparts.h"

#include "base/clock.h"
#include "core/ledger.h"

/* The pause after a session that cannot be attached to: from, and up to. */
#define PAUSE_NS (500 * NS_PER_MS)
#define PAUSE_MAX_NS (30 * NS_PER_SECOND)

static bool has_room(struct keeper *keeper)
{
	struct problem problem;

	if (!keeper_disk_is_full(keeper, &problem))
		return true;
	runstate_waits(keeper->state, problem.reason, problem.text);
	return false;
}

static bool may_create(struct keeper *keeper)
{
	/* relayd's folder is named by the second */
	if ((uint64_t)(clock_wall() / NS_PER_SECOND) == keeper->ended)
		return false;
	return clock_monotonic() >= keeper->create_next && has_room(keeper);
}

static void discard(struct keeper *keeper, struct session *session)
{
	session_destroy(session);
	keeper_end(keeper);
}

/* Starts it to be read from files for now, as relayd holds on to another session of its name, or live reading
 * does not work. Returns whether to go on at once. */
static bool start_unread(struct keeper *keeper, struct session *session)
{
	if (!keeper_start(keeper, session)) {
		discard(keeper, session);
		return false;
	}
	ledger_add(SESSIONS_CREATED, 1);
	keeper->stalls = STALLS_MAX;
	keeper->use_files = true;
	return true;
}

/* Attaches to it and reads it live. Returns whether to go on at once. */
static bool read_live(struct keeper *keeper, struct session *session)
{
	struct reader *reader = NULL;

	if (keeper_attach(keeper, session, &reader) == ATTACHED) {
		keeper->vain = 0;
		reader_hold(reader, false);
		if (keeper_start(keeper, session))
			keeper_read_live(keeper, session, &reader, true);
	} else { /* because of a wrong `relay-live-port`, say */
		discard(keeper, session);
		keeper->create_next =
			clock_monotonic() + clock_backoff(PAUSE_NS, keeper->vain++, PAUSE_MAX_NS);
	}
	if (reader)
		reader_close(reader);
	runstate_live(keeper->state, false);
	return keeper->stands_still && keeper_stands_still(keeper);
}

static enum session_status create(
	struct keeper *keeper, bool beside, struct session_identity *identity, char *error, size_t error_size)
{
	uint64_t level = watch_level(keeper->watch);
	char name[256];

	if (!beside)
		return session_create(keeper->config, level, identity, error, error_size);
	if (keeper_find_name(keeper, name, sizeof(name)))
		return session_create_beside(keeper->config, name, level, identity, error, error_size);
	g_strlcpy(error, "none of the LTTng sessions that were replaced before has ended", error_size);
	return SESSION_FAILED;
}

bool keeper_make_session(struct keeper *keeper, bool beside)
{
	struct session_identity identity = {0};
	enum session_status status;
	struct session *session;
	char error[512];
	bool at_once = false, released;

	if (!may_create(keeper))
		return false;
	g_strlcpy(identity.name, keeper->config->session_name, sizeof(identity.name));
	released = beside || keeper_wait_for_release(keeper, &identity);
	if (runstate_stopping(keeper->state))
		return false;
	runstate_calls(keeper->state, DAEMON_SESSION);
	status = create(keeper, beside, &identity, error, sizeof(error));
	if (status != SESSION_OK) {
		keeper_session_failed(keeper, status, error);
		return false;
	}
	session = session_adopt(keeper->config, &identity);
	progress_begin(keeper->progress, &identity);
	keeper_waits_for_kernel(keeper);
	if (released && !keeper_avoids_live(keeper))
		at_once = read_live(keeper, session);
	else
		at_once = start_unread(keeper, session);
	session_free(session);
	return at_once;
}
