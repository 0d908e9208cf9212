/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replacing a session of which a stream is stuck: keeperparts.h.
 *
 * A program that is killed, or stopped, between reserving room in its ring buffer and the end of what it
 * writes there holds up all that its user's programs record on that CPU, and live reading for all. LTTng
 * before 2.15 never gets past it. So another session is made beside the stuck one, which takes over within a
 * few milliseconds; the old one is read to its end, as far as it goes, and then taken down (cleanup.c). What
 * the stuck ring buffers hold is lost. How much that is nobody can tell: each is counted as a lost packet.
 */
#include "collect/keeperparts.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "read/relaylist.h"
#include "session/relayprobe.h"

/* The pause after a session was replaced, or could not be: from, and up to. */
#define PAUSE_NS (5 * NS_PER_SECOND)
#define PAUSE_MAX_NS (300 * NS_PER_SECOND)
/* Who needs no other session for so long begins anew. */
#define CALM_NS (60 * NS_PER_SECOND)
/* While no stream moves, it is found out so often whether that is still so. */
#define PROBE_PAUSE_NS (30 * NS_PER_SECOND)
/* So long the consumer daemon may take to pass on what the old session has. */
#define PENDING_NS (2 * NS_PER_SECOND)

/* Says whose streams are stuck. */
static void describe(struct keeper *keeper, const GArray *stuck)
{
	g_autoptr(GString) users = g_string_new(NULL);
	uint64_t last = UINT64_MAX;

	for (guint i = 0; i < stuck->len && users->len < sizeof(keeper->stuck) / 3; i++) {
		const struct viewer_stream *stream = &g_array_index(stuck, struct viewer_stream, i);

		if (stream->user != last)
			g_string_append_printf(
				users, "%s%" G_GUINT64_FORMAT, users->len ? ", " : "", stream->user);
		last = stream->user;
	}
	snprintf(keeper->stuck, sizeof(keeper->stuck),
		"a program of user %s was killed, or is stopped, in the middle of recording an event: what "
		"that user's programs record on the same CPU does not come",
		users->str);
}

/* Finds a name for a session beside the one at hand. Those of sessions that did not end yet are taken: so
 * there are never more than so many. */
static bool find_name(struct keeper *keeper, char *name, size_t size)
{
	const char *taken = progress_session(keeper->progress)->name;
	char error[512];
	uint64_t created;

	for (unsigned number = 0; number < SESSION_NAMES; number++) {
		session_name(keeper->config, number, name, size);
		if (strcmp(name, taken) != 0 &&
			session_find(keeper->config, name, &created, error, sizeof(error)) == SESSION_NONE &&
			!relaylist_has(keeper->config, name))
			return true;
	}
	return false;
}

/* Makes the session that is to take over, unless an agent that was killed has made it. */
static bool make_other(struct keeper *keeper, char *error, size_t error_size)
{
	struct session_identity identity = {0};
	char name[256];

	if (progress_next(keeper->progress))
		return true;
	if (!find_name(keeper, name, sizeof(name))) {
		g_strlcpy(error, "none of those that were replaced before has ended", error_size);
		return false;
	}
	if (session_create_beside(keeper->config, name, watch_level(keeper->watch), &identity, error,
		    error_size) != SESSION_OK)
		return false;
	progress_follow(keeper->progress, &identity);
	ledger_add(SESSIONS_CREATED, 1);
	return true;
}

/* The other session records from here on, and this one no more. */
static bool take_over(struct keeper *keeper, char *error, size_t error_size)
{
	const char *name = progress_session(keeper->progress)->name;
	const char *other = progress_next(keeper->progress)->name;
	struct session *session;

	if (session_start_mute(keeper->config, other, error, error_size) != SESSION_OK ||
		session_switch(keeper->config, name, other, error, error_size) != SESSION_OK)
		return false;
	session = session_adopt(keeper->config, name);
	session_stop(session, PENDING_NS);
	session_free(session);
	return true;
}

static void note_replaced(struct keeper *keeper, bool done)
{
	int64_t now = clock_monotonic();

	keeper->replaced =
		keeper->replace_next && now - keeper->replace_next < CALM_NS ? keeper->replaced + 1 : 0;
	keeper->replace_next = now + clock_backoff(PAUSE_NS, keeper->replaced, PAUSE_MAX_NS);
	if (done)
		keeper->stuck[0] = '\0';
}

/* Reads the rest of the session that was replaced. */
static bool end_replaced(struct keeper *keeper, guint streams)
{
	char unread[512];

	if (!keeper_read_rest(keeper, unread, sizeof(unread)))
		return false;
	if (*unread)
		livereader_complain(keeper->live, unread);
	pipeline_lost_packets(keeper->pipeline, streams);
	keeper_end(keeper);
	return true;
}

static bool replace(struct keeper *keeper, guint streams)
{
	char error[512] = "";

	runstate_calls(keeper->state, DAEMON_SESSION);
	if (!make_other(keeper, error, sizeof(error)) || !take_over(keeper, error, sizeof(error))) {
		log_warning("the LTTng session could not be replaced: %s", error);
		note_replaced(keeper, false);
		keeper->use_files = true;
		return false;
	}
	ledger_add(SESSIONS_REPLACED, 1);
	log_warning(
		"LTTng session `%s` is replaced by `%s`: %s, and is lost; how much that is LTTng does not "
		"tell (LTTng 2.15 and later go on by themselves)",
		progress_session(keeper->progress)->name, progress_next(keeper->progress)->name,
		keeper->stuck);
	note_replaced(keeper, true);
	return end_replaced(keeper, streams);
}

/* No stream is stuck, or it is not known. Returns whether to go on at once. */
static bool go_on(struct keeper *keeper, enum probed probed)
{
	keeper->stuck[0] = '\0';
	keeper->probe_next = clock_monotonic() + PROBE_PAUSE_NS;
	if (probed == PROBED_STILL)
		keeper_consumer_stands_still(keeper, true);
	else if (keeper->stalled)
		keeper_stalled(keeper, keeper->helped);
	return !keeper->stalled;
}

bool keeper_stands_still(struct keeper *keeper)
{
	g_autoptr(GArray) stuck = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	const char *name = progress_session(keeper->progress)->name;
	enum probed probed;

	keeper->stands_still = false;
	runstate_calls(keeper->state, DAEMON_RELAY);
	probed = relayprobe_run(keeper->config, name, stuck);
	if (probed != PROBED_STUCK)
		return go_on(keeper, probed);
	describe(keeper, stuck);
	runstate_collects_in_part(keeper->state, name, REASON_STREAM_STUCK, keeper->stuck);
	if (clock_monotonic() >= keeper->replace_next)
		return replace(keeper, stuck->len);
	keeper->use_files = true;
	return false;
}
