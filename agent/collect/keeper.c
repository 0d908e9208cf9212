/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/keeper.h"

#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "collect/livereader.h"
#include "collect/recover.h"
#include "core/ledger.h"
#include "read/reader.h"
#include "read/relaylist.h"
#include "session/relayremove.h"
#include "session/session.h"
#include "session/watch.h"

/* The pause between two looks at an idle stream: half a live timer, within these. */
#define POLL_MIN_NS (1 * NS_PER_MS)
#define POLL_MAX_NS (100 * NS_PER_MS)
/* The wall clock is looked at no more often. */
#define LOOK_NS (1 * NS_PER_MS)
/* When less than this is left on disk, the reader attaches. */
#define LITTLE_BYTES (4 * 1024 * 1024)
/* Between two sessions that cannot be attached to: from, and up to. */
#define PAUSE_MIN_NS (500 * NS_PER_MS)
#define PAUSE_MAX_NS (30 * NS_PER_SECOND)
/* How long a session that is gone, or whose streams ended, may take until its reader sees its end. */
#define GONE_NS (3 * NS_PER_SECOND)
/* relayd's disk needs so much room at least for a session to be of use. */
#define ROOM_BYTES (8 * 1024 * 1024)
/* What could not be removed is tried so often, with such pauses: relayd may not be quite done with it. */
#define CLEANINGS_MAX 60
#define CLEAN_NS (1 * NS_PER_SECOND)

/* So often in a row, twice a second, recovery may fail before what it was to read is given up. */
#define FAILED_MAX 20
/* So often in a row babeltrace2 may fail on a session before it is read from files, */
#define UNREADABLE_MAX 3
/* once a second, */
#define FILES_PAUSE_NS (1 * NS_PER_SECOND)
/* until it is tried again; twice as long each time that live reading stalls, up to */
#define FILES_NS (30 * NS_PER_SECOND)
#define FILES_MAX_NS (3600 * NS_PER_SECOND)
/* So often in a row live reading may stall before the session is read from files too. */
#define STALLS_MAX 2

/* relayd may go on writing, and listing, a session that is gone: so long it is waited for, */
#define HELD_NS (10 * NS_PER_SECOND)
/* with a look so often, */
#define HELD_PAUSE_NS (50 * NS_PER_MS)
/* and that is told after this time. */
#define HELD_TOLD_NS (1 * NS_PER_SECOND)

struct keeper {
	const struct config *config;
	struct line *line;
	struct batch_queue *queue;
	struct progress *progress;
	struct collecting *collecting;
	struct watch *watch;
	struct recover recover;
	_Atomic int64_t stop_timeout; /* ns; the main thread writes it */
	int64_t poll_ns;
	int64_t looked;      /* at the wall clock */
	uint64_t condemned;  /* when the session was created that is no good any more */
	uint64_t ended;      /* ... that was destroyed last */
	int64_t create_next; /* not before; CLOCK_MONOTONIC ns */
	int64_t pause;       /* after the last session that could not be attached to */
	int64_t clean_next;  /* not before, */
	unsigned cleanings;  /* and how often something was left */
	bool draining;       /* a stop reads on until its deadline */
	struct livereader *live;
	unsigned failed;     /* tries in a row to recover */
	unsigned unreadable; /* tries in a row to attach that babeltrace2 failed in, */
	uint64_t failing;    /* and when the session was created that it was */
	bool again;          /* the session is to be attached to again, at once; */
	bool missing;        /* that is being done */
	bool held;           /* relayd has held on to a session that is gone, for as long as it is waited */
	unsigned stalls;     /* in a row of this session, read live */
	int64_t files_ns;    /* for how long it is read from files then */
	GHashTable *named;   /* users of the session at hand whose packets were left out, */
	char lack[512];      /* and of the last one, what the status says */
};

static bool stopping(void *data)
{
	struct keeper *keeper = data;
	int64_t deadline = collecting_deadline(keeper->collecting);

	return deadline && (!keeper->draining || clock_monotonic() >= deadline);
}

/* Programs of a user write what nobody can read: said once, as they may do so for ever. */
static void left_out(void *data, uint64_t user, uint64_t packets, const char *error)
{
	struct keeper *keeper = data;

	snprintf(keeper->lack, sizeof(keeper->lack),
		"what programs of user %" G_GUINT64_FORMAT
		" record is left out, and counted as lost, until the session is made anew (`lttng destroy`): "
		"%s",
		user, error);
	if (g_hash_table_add(keeper->named, GSIZE_TO_POINTER(user)))
		log_warning("%s; %" G_GUINT64_FORMAT " packets to begin with", keeper->lack, packets);
}

struct keeper *keeper_create(const struct config *config, struct line *line, struct batch_queue *queue,
	struct progress *progress, struct collecting *collecting)
{
	struct keeper *keeper = g_new0(struct keeper, 1);

	keeper->config = config;
	keeper->stop_timeout = config->stop_timeout;
	keeper->line = line;
	keeper->queue = queue;
	keeper->progress = progress;
	keeper->collecting = collecting;
	keeper->recover = (struct recover){.config = config,
		.line = line,
		.queue = queue,
		.progress = progress,
		.stopping = stopping,
		.left_out = left_out,
		.data = keeper};
	keeper->files_ns = FILES_NS;
	keeper->poll_ns = CLAMP(config->live_timer / 2, POLL_MIN_NS, POLL_MAX_NS);
	keeper->named = g_hash_table_new(NULL, NULL);
	keeper->live = livereader_create(config, line, progress);
	keeper->watch = watch_create(config);
	if (keeper->watch)
		return keeper;
	g_hash_table_unref(keeper->named);
	livereader_destroy(keeper->live);
	g_free(keeper);
	return NULL;
}

void keeper_configure(struct keeper *keeper, const struct config *config)
{
	keeper->stop_timeout = config->stop_timeout;
	watch_set_level(keeper->watch, config->level);
}

void keeper_destroy(struct keeper *keeper)
{
	watch_destroy(keeper->watch);
	g_hash_table_unref(keeper->named);
	livereader_destroy(keeper->live);
	g_free(keeper);
}

/* The wall clock */

static void look_at_clock(struct keeper *keeper)
{
	int64_t now = clock_monotonic(), by;

	if (now - keeper->looked < LOOK_NS)
		return;
	keeper->looked = now;
	if (!clock_steps_look(progress_steps(keeper->progress), &by))
		return;
	ledger_add(CLOCK_STEPS_SEEN, 1);
	positions_moved(progress_positions(keeper->progress));
	log_warning(
		"the wall clock stepped by %.3f s: what was recorded before and after it keeps its own time",
		(double)by / NS_PER_SECOND);
}

/* Files that are of no use any more */

/* Returns false if that may fare better when it is tried again. */
static bool remove_files(const struct keeper *keeper, const struct session_identity *session)
{
	struct relayfiles *files;
	char error[512];
	enum relayfiles_status status =
		relayfiles_open(keeper->config->relay_output, session, &files, error, sizeof(error));
	bool removed;

	if (status != RELAYFILES_OK)
		return status != RELAYFILES_BUSY;
	removed = relay_remove(files);
	relayfiles_close(files);
	return removed;
}

void keeper_clean(struct keeper *keeper)
{
	const GArray *over = progress_over(keeper->progress);
	bool last;

	if (!over->len || clock_monotonic() < keeper->clean_next)
		return;
	last = ++keeper->cleanings >= CLEANINGS_MAX;
	for (guint i = over->len; i-- > 0;)
		if (remove_files(keeper, &g_array_index(over, struct session_identity, i)) || last)
			progress_removed(keeper->progress, i);
	keeper->clean_next = over->len ? clock_monotonic() + CLEAN_NS : 0;
	if (!over->len)
		keeper->cleanings = 0;
}

/* The end of a session */

/* The session at hand is read to its end, and nobody writes it any more. */
static void end_session(struct keeper *keeper)
{
	const struct session_identity *session = progress_session(keeper->progress);

	keeper->ended = session->created;
	g_hash_table_remove_all(keeper->named);
	keeper->lack[0] = '\0';
	keeper->stalls = 0;
	keeper->files_ns = FILES_NS;
	progress_end(keeper->progress);
}

/* It is tried again for a while: if it goes on failing, what is recorded now is worth more. */
static void recovery_failed(struct keeper *keeper, const char *error)
{
	collecting_waits(keeper->collecting, error);
	keeper->recover.give_up = ++keeper->failed >= FAILED_MAX;
}

/* Reads what is left of the session at hand; false if that did not come to an end. */
static bool read_rest(struct keeper *keeper)
{
	char error[512];

	collecting_stopping(keeper->collecting);
	switch (recover_rest(&keeper->recover, error, sizeof(error))) {
	case RECOVER_OK:
		return true;
	case RECOVER_UNREADABLE:
		livereader_complain(keeper->live, error);
		return true;
	case RECOVER_FAILED:
		recovery_failed(keeper, error);
		return false;
	default:
		return false;
	}
}

/*
 * Waits until relayd has let go of session @name, which is gone: until then more of it may come to disk, and
 * babeltrace2, which attaches to all sessions of a name, would wait for this one's metadata for ever. It
 * never lets go once a new session of the name records. False if it holds on to it.
 */
static bool wait_for_release(struct keeper *keeper, const char *name)
{
	int64_t begun = clock_monotonic(), waited = 0;

	while (!collecting_stopping(keeper->collecting)) {
		collecting_asks(keeper->collecting, "lttng-relayd");
		if (!relaylist_has(keeper->config, name)) {
			keeper->held = false;
			return true;
		}
		waited = clock_monotonic() - begun;
		keeper->held |= waited >= HELD_NS;
		if (keeper->held)
			return false;
		if (waited >= HELD_TOLD_NS)
			collecting_waits(keeper->collecting,
				"lttng-relayd still has a session of this host and name that is gone, or "
				"somebody else's: it is waited for");
		line_tick(keeper->line, clock_monotonic(), true);
		progress_tick(keeper->progress);
		collecting_pause(keeper->collecting, HELD_PAUSE_NS);
	}
	return true;
}

/* The session at hand is gone, and the agent did not end it. Returns whether to go on at once. */
static bool lose_session(struct keeper *keeper, const char *why)
{
	const struct session_identity *session = progress_session(keeper->progress);

	if (!read_rest(keeper))
		return false;
	ledger_add(SESSIONS_LOST, 1);
	log_warning(
		"LTTng session `%s` is over: %s; what was in its buffers, and not yet at the relay, is lost",
		session->name, why);
	end_session(keeper);
	return true;
}

/* The same, if nothing else has its name, and so relayd is about to be done with it. */
static bool lose_gone(struct keeper *keeper, const char *why)
{
	wait_for_release(keeper, progress_session(keeper->progress)->name);
	return lose_session(keeper, why);
}

/* Ends the session at hand, and reads it to its end, first live, if it can be (@reader), then from files. */
static void finish_session(struct keeper *keeper, struct session *session, struct reader *reader)
{
	enum reader_status status = READER_MORE;
	int64_t deadline = collecting_deadline(keeper->collecting);

	if (!deadline)
		deadline = clock_monotonic() + keeper->stop_timeout;
	keeper->draining = true;
	watch_set(keeper->watch, NULL);
	collecting_asks(keeper->collecting, "lttng-sessiond");
	session_stop(session, deadline - clock_monotonic());
	session_destroy(session);
	while (reader && (status == READER_MORE || status == READER_IDLE) && clock_monotonic() < deadline) {
		collecting_asks(keeper->collecting, "lttng-relayd");
		status = reader_step(reader);
		progress_tick(keeper->progress);
		if (status == READER_IDLE)
			g_usleep(POLL_MAX_NS / 10000);
	}
	if (reader && status != READER_END)
		log_warning("the session did not end in time: what it still held is not delivered");
	if (read_rest(keeper))
		end_session(keeper);
	keeper->draining = false;
}

/* Reading */

static bool disk_is_full(const struct keeper *keeper, char *why, size_t size)
{
	struct statvfs disk;

	if (statvfs(keeper->config->relay_output, &disk) != 0 || disk.f_bavail * disk.f_frsize >= ROOM_BYTES)
		return false;
	snprintf(why, size,
		"the disk of lttng-relayd is full (%s): make room there, or lower `disk` in [session]",
		keeper->config->relay_output);
	return true;
}

/* The session's streams ended, or the session did: it is no good any more, whatever the session daemon says
 * of it. */
static void condemn(struct keeper *keeper, bool gone, char *why, size_t size)
{
	keeper->condemned = progress_session(keeper->progress)->created;
	if (disk_is_full(keeper, why, size))
		return;
	snprintf(why, size, "%s",
		gone ? "the session is gone: lttng-sessiond or lttng-relayd has ended"
		     : "lttng-relayd cannot write the session (see its log)");
}

static int64_t events_read(void)
{
	struct ledger rows;

	ledger_read(&rows, NULL);
	return rows.row[EVENTS_READ];
}

/* Live reading stalls: it is attached to anew, or, if that does not help, read from files for a while. */
static void count_stall(struct keeper *keeper, bool moved, char *why, size_t size)
{
	snprintf(why, size, "lttng-relayd does not send what it has recorded: it is attached to anew");
	if (moved) {
		keeper->stalls = 0;
		keeper->files_ns = FILES_NS;
	}
	keeper->stalls++;
}

enum read_end {
	READ_STOPPED,
	READ_MISSES, /* there is more than the reader knows of */
	READ_LOST    /* @why says what happened */
};

/* Reads until something ends it. */
static enum read_end read_on(struct keeper *keeper, struct reader *reader, char *why, size_t size)
{
	int64_t before = events_read();
	enum reader_status status = READER_MORE;
	int64_t ending = 0;
	enum unread_verdict verdict = UNREAD_NOTHING;

	while ((status == READER_MORE || status == READER_IDLE) && !verdict) {
		if (collecting_stopping(keeper->collecting))
			return READ_STOPPED;
		collecting_asks(keeper->collecting, "lttng-relayd");
		status = reader_step(reader);
		look_at_clock(keeper);
		progress_tick(keeper->progress);
		keeper_clean(keeper);
		if (status == READER_IDLE && !ending)
			verdict = livereader_look(keeper->live, reader);
		if (status == READER_IDLE && !verdict)
			collecting_pause(keeper->collecting, keeper->poll_ns);
		if (!ending && (reader_ended_streams(reader) || watch_gone(keeper->watch)))
			ending = clock_monotonic();
		if (ending && clock_monotonic() - ending >= GONE_NS)
			break;
	}
	if (verdict == UNREAD_TRACE)
		return READ_MISSES;
	if (verdict == UNREAD_STALL)
		count_stall(keeper, events_read() != before, why, size);
	else if (status == READER_END)
		condemn(keeper, true, why, size);
	else if (status == READER_ERROR)
		snprintf(why, size, "the connection to lttng-relayd is lost (%s)", reader_error(reader));
	else if (watch_gone(keeper->watch))
		snprintf(why, size, "somebody destroyed the session");
	else
		condemn(keeper, false, why, size);
	return collecting_stopping(keeper->collecting) ? READ_STOPPED : READ_LOST;
}

/* Whether no checkpoint knew the session. It may be another agent's: nothing of it is delivered before it is
 * attached to, as only one can be. */
static bool is_unknown(const struct session_identity *session)
{
	return !*session->settings;
}

/* Whether live reading stalled so often that the session is read from files now, and then tried again. */
static bool stalled_too_often(struct keeper *keeper)
{
	if (keeper->stalls < STALLS_MAX)
		return false;
	keeper->stalls = STALLS_MAX - 1;
	keeper->unreadable = UNREADABLE_MAX;
	return true;
}

static enum attached attach(struct keeper *keeper, struct session *session, struct reader **reader)
{
	char error[512];
	enum attached attached;

	if (stalled_too_often(keeper))
		return ATTACHED_UNREADABLE;
	look_at_clock(keeper);
	collecting_asks(keeper->collecting, "lttng-relayd");
	attached = livereader_attach(keeper->live, session, reader, error, sizeof(error));
	if (attached == ATTACHED_UNREADABLE && is_unknown(progress_session(keeper->progress))) {
		attached = ATTACHED_NOT;
		g_strlcat(error,
			"; does another agent read it, with the same `name` and another `state-directory`? "
			"If none does, destroy it (lttng destroy)",
			sizeof(error));
	}
	if (attached == ATTACHED_UNREADABLE && progress_session(keeper->progress)->created == keeper->failing)
		keeper->unreadable++;
	else
		keeper->unreadable = 0;
	keeper->failing = progress_session(keeper->progress)->created;
	if (attached != ATTACHED && keeper->unreadable < UNREADABLE_MAX)
		collecting_waits(keeper->collecting, error);
	return attached;
}

/* Reads the session live, to whatever ends it. */
static bool collect(struct keeper *keeper, struct session *session, struct reader *reader, bool new)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	char why[512];
	enum read_end end;

	if (new)
		ledger_add(SESSIONS_CREATED, 1);
	collecting_begins(keeper->collecting, identity->name, new);
	watch_set(keeper->watch, identity);
	end = read_on(keeper, reader, why, sizeof(why));
	if (end == READ_LOST)
		collecting_waits(keeper->collecting, why);
	else if (end == READ_STOPPED && !progress_keeps(keeper->progress))
		finish_session(keeper, session, reader);
	watch_set(keeper->watch, NULL);
	keeper->again = end == READ_MISSES;
	return false;
}

/* A session that is there */

/* Reads what is on disk until little is left; false if it cannot go on. */
static bool catch_up(struct keeper *keeper, uint64_t enough)
{
	enum recover_status status;
	uint64_t found;
	char error[512];

	collecting_stopping(keeper->collecting);
	do
		status = recover_pass(&keeper->recover, enough, &found, error, sizeof(error));
	while (status == RECOVER_OK && enough && found > enough);
	if (status == RECOVER_UNREADABLE)
		livereader_complain(keeper->live, error);
	if (status == RECOVER_FAILED)
		recovery_failed(keeper, error);
	if (status == RECOVER_OK) {
		keeper->failed = 0;
		keeper->recover.give_up = false;
	}
	return status == RECOVER_OK || status == RECOVER_UNREADABLE;
}

/* Reads on where a reader attached; @same: the session is as the configuration wants it. */
static bool go_on(struct keeper *keeper, struct session *session, struct reader *reader, bool same)
{
	char error[512];

	if (!catch_up(keeper, 0))
		return false;
	reader_hold(reader, false);
	if (!same) {
		log_info("[session] is not what it was: the session of before is read to its end, and a new "
			 "one "
			 "made");
		finish_session(keeper, session, reader);
		return true;
	}
	if (!keeper->missing) {
		collecting_asks(keeper->collecting, "lttng-sessiond");
		if (session_start(session, error, sizeof(error)) != SESSION_OK) {
			collecting_waits(keeper->collecting, error);
			return false;
		}
	}
	return collect(keeper, session, reader, false);
}

/*
 * Reads the session from relayd's files, pass by pass: babeltrace2 fails on it live, where one user's
 * metadata end the reading for all, and nobody can tell it to leave a trace out. Returns after a while, so
 * that the reader may try again.
 */
static bool collect_files(struct keeper *keeper, struct session *session, bool same)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	int64_t until = clock_monotonic() + keeper->files_ns;

	if (keeper->unreadable == UNREADABLE_MAX)
		log_warning("LTTng session `%s` cannot be read live: it is read from lttng-relayd's files, "
			    "once a second",
			identity->name);
	watch_set(keeper->watch, identity);
	while (same && !collecting_stopping(keeper->collecting) && clock_monotonic() < until &&
		!watch_gone(keeper->watch) && catch_up(keeper, 0)) {
		collecting_lacks(keeper->collecting, identity->name,
			keeper->lack[0] ? keeper->lack
					: "the session cannot be read live: it is read from lttng-relayd's "
					  "files, once a second");
		look_at_clock(keeper);
		line_tick(keeper->line, clock_monotonic(), true);
		progress_tick(keeper->progress);
		keeper_clean(keeper);
		collecting_pause(keeper->collecting, FILES_PAUSE_NS);
	}
	watch_set(keeper->watch, NULL);
	if (keeper->stalls)
		keeper->files_ns = MIN(2 * keeper->files_ns, FILES_MAX_NS);
	if (same && !collecting_stopping(keeper->collecting))
		return false;
	if (!same || !progress_keeps(keeper->progress))
		finish_session(keeper, session, NULL);
	return !same;
}

/* Takes up the session at hand, which is there. Returns whether to go on at once. */
static bool resume(struct keeper *keeper)
{
	const struct session_identity *identity = progress_session(keeper->progress);
	struct session *session = session_adopt(keeper->config, identity->name);
	struct reader *reader = NULL;
	char settings[sizeof(identity->settings)];
	bool at_once = false;

	session_settings(keeper->config, settings, sizeof(settings));
	if (identity->created == keeper->condemned) {
		session_destroy(session);
		at_once = lose_gone(keeper, "its streams have ended");
	} else if (is_unknown(identity) || catch_up(keeper, LITTLE_BYTES)) {
		switch (attach(keeper, session, &reader)) {
		case ATTACHED:
			at_once = go_on(keeper, session, reader, !strcmp(settings, identity->settings));
			break;
		case ATTACHED_UNKNOWN:
			session_destroy(session);
			at_once = lose_gone(keeper, "lttng-relayd has ended");
			break;
		case ATTACHED_UNREADABLE:
			if (keeper->unreadable >= UNREADABLE_MAX)
				at_once =
					collect_files(keeper, session, !strcmp(settings, identity->settings));
			break;
		default:
			break;
		}
	}
	if (reader)
		reader_close(reader);
	session_free(session);
	return at_once;
}

/* A session of our name that no checkpoint knows: nobody knows what of it is done, so it is read as a whole,
 * and ended; but not if it is not an agent's. Returns whether to go on at once. */
static bool take_unknown(struct keeper *keeper, uint64_t created)
{
	struct session_identity identity = {.created = created};
	char error[512];

	if (session_check(keeper->config, error, sizeof(error)) != SESSION_OK) {
		collecting_waits(keeper->collecting, error);
		return false;
	}
	log_warning("an LTTng session `%s` is there that this agent has no checkpoint of: all that is on "
		    "disk of it "
		    "is delivered, perhaps again",
		keeper->config->session_name);
	g_strlcpy(identity.name, keeper->config->session_name, sizeof(identity.name));
	progress_begin(keeper->progress, &identity);
	return true;
}

/* A new session */

/* A session that nobody can attach to (a wrong `relay-live-port`) is made anew less and less often. */
static void back_off(struct keeper *keeper)
{
	keeper->pause = CLAMP(2 * keeper->pause, PAUSE_MIN_NS, PAUSE_MAX_NS);
	keeper->create_next = clock_monotonic() + keeper->pause;
}

static bool has_room(struct keeper *keeper)
{
	char error[512];

	if (!disk_is_full(keeper, error, sizeof(error)))
		return true;
	collecting_waits(keeper->collecting, error);
	return false;
}

/* Starts a new session that is read from files for now, as relayd holds on to another of its name. */
static bool start_unread(struct keeper *keeper, struct session *session)
{
	char error[512];

	collecting_asks(keeper->collecting, "lttng-sessiond");
	if (session_start(session, error, sizeof(error)) == SESSION_OK) {
		ledger_add(SESSIONS_CREATED, 1);
		keeper->stalls = STALLS_MAX;
		return true;
	}
	collecting_waits(keeper->collecting, error);
	session_destroy(session);
	end_session(keeper);
	return false;
}

static bool create(struct keeper *keeper)
{
	struct session_identity identity = {0};
	struct session *session;
	struct reader *reader = NULL;
	char error[512];
	bool at_once = false, released;

	/* relayd's folder is named by the second */
	if ((uint64_t)(clock_wall() / NS_PER_SECOND) == keeper->ended ||
		clock_monotonic() < keeper->create_next || !has_room(keeper))
		return false;
	released = wait_for_release(keeper, keeper->config->session_name);
	if (collecting_stopping(keeper->collecting))
		return false;
	collecting_asks(keeper->collecting, "lttng-sessiond");
	if (session_create(keeper->config, watch_level(keeper->watch), &identity, error, sizeof(error)) !=
		SESSION_OK) {
		collecting_waits(keeper->collecting, error);
		return false;
	}
	session = session_adopt(keeper->config, identity.name);
	progress_begin(keeper->progress, &identity);
	if (!released) {
		at_once = start_unread(keeper, session);
	} else if (attach(keeper, session, &reader) == ATTACHED) {
		keeper->pause = 0;
		reader_hold(reader, false);
		collecting_asks(keeper->collecting, "lttng-sessiond");
		if (session_start(session, error, sizeof(error)) == SESSION_OK)
			at_once = collect(keeper, session, reader, true);
		else
			collecting_waits(keeper->collecting, error);
	} else {
		session_destroy(session);
		end_session(keeper);
		back_off(keeper);
	}
	if (reader)
		reader_close(reader);
	session_free(session);
	return at_once;
}

/* The session is there, and records: the session daemon, which may hang, has nothing to do with it. */
static bool attach_again(struct keeper *keeper)
{
	struct session *session;
	bool at_once;

	keeper->missing = true;
	keeper->again = false;
	at_once = resume(keeper);
	keeper->missing = false;

	/* a stop came before it was attached to */
	if (collecting_stopping(keeper->collecting) && !progress_keeps(keeper->progress) &&
		progress_session(keeper->progress)) {
		session = session_adopt(keeper->config, progress_session(keeper->progress)->name);
		finish_session(keeper, session, NULL);
		session_free(session);
	}
	return at_once;
}

static bool find_or_create(struct keeper *keeper)
{
	const struct session_identity *known = progress_session(keeper->progress);
	uint64_t created = 0;
	char error[512];

	collecting_asks(keeper->collecting, "lttng-sessiond");
	switch (session_find(keeper->config, known ? known->name : keeper->config->session_name, &created,
		error, sizeof(error))) {
	case SESSION_OK:
		if (known && created == known->created)
			return resume(keeper);
		if (known)
			return lose_session(keeper, "another of its name is in its place");
		if (created == keeper->ended)
			return false; /* the daemon is about to be done with it */
		return take_unknown(keeper, created);
	case SESSION_NONE:
		return known ? lose_gone(keeper, "lttng-sessiond does not know it any more") : create(keeper);
	default:
		collecting_waits(keeper->collecting, error);
		return false;
	}
}

bool keeper_run(struct keeper *keeper)
{
	bool at_once = find_or_create(keeper);

	while (keeper->again)
		at_once = attach_again(keeper);
	return at_once;
}
