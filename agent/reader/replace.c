/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replacing a session of which a stream is stuck: keeperparts.h.
 *
 * A program that is killed, or stopped, between reserving room in its ring buffer and the end of what it
 * writes there holds up all that its user's programs record on that CPU, and live reading for all. LTTng
 * before 2.15 never gets past it. So another session is made beside the stuck one. Once all programs record
 * in it the old one is stopped; what both have is taken once (overlap.h). The old one is read to its end, as
 * far as it goes, and then taken down (cleanup.c). What the stuck ring buffers hold is lost, but for what the
 * new session has, too. How much that is nobody can tell: each is counted as a lost packet.
 */
#include "reader/keeperparts.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "core/ledger.h"
#include "reader/decode/relaylist.h"
#include "session/measure.h"
#include "session/newer.h"
#include "session/relayprobe.h"
#include "session/sharedmemory.h"
#include "session/wellness.h"

/* The pause after a session was replaced, or could not be: from, and up to. */
#define PAUSE_NS (5 * NS_PER_SECOND)
#define PAUSE_MAX_NS (300 * NS_PER_SECOND)
/* Who needs no other session for so long begins anew. */
#define CALM_NS (60 * NS_PER_SECOND)
/* While no stream moves, it is found out so often whether that is still so; */
#define PROBE_PAUSE_NS (30 * NS_PER_SECOND)
/* and while nothing comes, and the look at the streams has not told why, so soon again. */
#define PROBE_AGAIN_NS (1 * NS_PER_SECOND)
/* While the session is read from files, the pause between two looks. */
#define LOOK_PAUSE_NS (2 * NS_PER_SECOND)
/* While the kernel's streams alone stand still it is a longer one, as nothing is read during a look, */
#define KERNEL_PAUSE_NS (10 * NS_PER_SECOND)
/* and live reading is not tried for so long. */
#define KERNEL_NS (15 * NS_PER_SECOND)
/* Streams of a session that begins may come so late, if there are any; and the pause between two looks. */
#define BEGINS_NS (2 * NS_PER_SECOND)
#define BEGINS_PAUSE_US 100000
/* While a daemon does not answer for which another session would wait, that is found out so often. */
#define CHANGE_PAUSE_NS (10 * NS_PER_SECOND)
/* So long nothing may come of what the old session still has. */
#define PENDING_NS (2 * NS_PER_SECOND)

/* Says whose streams are stuck. */
static void describe(struct keeper *keeper, const GArray *stuck)
{
	g_autoptr(GString) users = g_string_new(NULL);
	uint64_t last = 0;
	unsigned count = 0;

	for (guint i = 0; i < stuck->len && users->len < sizeof(keeper->stuck) / 4; i++) {
		const struct viewer_stream *stream = &g_array_index(stuck, struct viewer_stream, i);

		if (count && stream->user == last)
			continue;
		g_string_append_printf(users, "%s%" G_GUINT64_FORMAT, count++ ? ", " : "", stream->user);
		last = stream->user;
	}
	snprintf(keeper->stuck, sizeof(keeper->stuck),
		"a program of %s %s was killed, or is stopped, in the middle of recording an event: what %s "
		"programs record on the same CPU does not come",
		count > 1 ? "each of users" : "user", users->str, count > 1 ? "these users'" : "that user's");
}

bool keeper_find_name(struct keeper *keeper, char *name, size_t size)
{
	const struct session_identity *at_hand = progress_session(keeper->progress);
	const char *taken = at_hand ? at_hand->name : "";
	struct session_identity other = {0};
	char error[512];
	uint64_t created;

	for (unsigned number = 0; number < SESSION_NAMES; number++) {
		session_name(keeper->config, number, other.name, sizeof(other.name));
		g_strlcpy(name, other.name, size);
		if (strcmp(name, taken) != 0 &&
			session_find(keeper->config, name, &created, error, sizeof(error)) == SESSION_NONE &&
			!relaylist_has(keeper->config, &other))
			return true;
	}
	return false;
}

/* Both sessions have buffers for a while. Whose do not find room records nothing, so it is better to wait. */
static bool has_room(const struct keeper *keeper, char *error, size_t error_size)
{
	struct sharedmemory memory = {0};
	struct user_buffers buffers;
	char needed[HUMAN_MAX], there[HUMAN_MAX];
	uint64_t need;

	sharedmemory_refresh(&memory);
	measure_buffers(keeper->config, progress_session(keeper->progress), &buffers);
	need = userbuffers_sum(&buffers);
	if (!memory.size || memory.free >= need)
		return true;
	snprintf(error, error_size,
		"the buffers of another one take %s in " SHAREDMEMORY_FOLDER
		", where %s are free: make room there",
		human_size(needed, need), human_size(there, memory.free));
	return false;
}

/* The session that was to take over is not to, or is gone. */
static void lose_other(struct keeper *keeper)
{
	int64_t alone = progress_lose_next(keeper->progress);

	if (!alone)
		return;
	ledger_add(SESSIONS_LOST, 1);
	keeper->lost_since = alone;
}

/* Whether the session is there that a reader has made which was killed then. If somebody has destroyed it
 * since, it is forgotten. */
static bool has_other(struct keeper *keeper)
{
	const struct session_identity *other = progress_next(keeper->progress);

	if (!other || !keeper_is_gone(keeper, other))
		return other != NULL;
	log_warning("LTTng session `%s`, which was to take the place of `%s`, was gone before it had",
		other->name, progress_session(keeper->progress)->name);
	lose_other(keeper);
	return false;
}

static void destroy_other(struct keeper *keeper)
{
	struct session *session = session_adopt(keeper->config, progress_next(keeper->progress));

	session_destroy(session);
	session_free(session);
	lose_other(keeper);
}

/* Whether the session that is there is the one to take over: one that records nothing yet may be of before
 * the settings were changed, or ring buffers were to grow. */
static bool is_of_use(const struct keeper *keeper)
{
	return progress_may_both_record(keeper->progress) ||
	       session_has_settings(keeper->config, progress_next(keeper->progress));
}

/* Makes the session that is to take over, unless it is there. */
static bool make_other(struct keeper *keeper, char *error, size_t error_size)
{
	struct session_identity identity = {0};
	char name[256];

	if (has_other(keeper)) {
		if (is_of_use(keeper))
			return true;
		destroy_other(keeper);
	}
	if (!has_room(keeper, error, error_size))
		return false;
	if (!keeper_find_name(keeper, name, sizeof(name))) {
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

/* Whether somebody's buffers did not find room in the other session, as /dev/shm was filled meanwhile: their
 * programs would record nothing in it, for as long as it lives. */
static bool lacks_buffers(const struct keeper *keeper)
{
	struct sharedmemory memory;
	struct user_buffers here, there;

	measure_buffers(keeper->config, progress_next(keeper->progress), &there);
	if (!there.known || there.lacking)
		return there.lacking;
	/* there may be no trace of them at all; or they have left */
	measure_buffers(keeper->config, progress_session(keeper->progress), &here);
	sharedmemory_look(keeper->config, &memory);
	return userbuffers_sum(&there) < userbuffers_sum(&here) && memory.size && memory.free < memory.need;
}

static bool discard_other(struct keeper *keeper, char *error, size_t error_size)
{
	destroy_other(keeper);
	g_strlcpy(error,
		"somebody's buffers found no room in " SHAREDMEMORY_FOLDER ", which is full: make room there",
		error_size);
	return false;
}

/* The other session records from here on, beside this one. */
static bool begin_other(struct keeper *keeper, char *error, size_t error_size)
{
	const char *other = progress_next(keeper->progress)->name;

	progress_both_record(keeper->progress);
	if (session_start_mute(keeper->config, other, error, error_size) != SESSION_OK) {
		progress_none_follows(keeper->progress);
		return false;
	}
	if (lacks_buffers(keeper))
		return discard_other(keeper, error, error_size);
	return session_unmute(keeper->config, other, error, error_size) == SESSION_OK;
}

/* How the other session took over. */
struct taken_over {
	int64_t since; /* it records; CLOCK_MONOTONIC ns */
	bool gone;     /* this one was not there any more: there was a time in which neither recorded */
	bool holds;    /* the other one is there */
	bool all;      /* all that this one had has come to the relay, unless a stream is stuck */
};

/* Waits for what the old session still has, which records no more, as long as some of it comes, and reads it
 * meanwhile. Returns whether all has come. */
static bool await_rest(struct keeper *keeper, struct session *session)
{
	struct positions *positions = progress_positions(keeper->progress);
	uint64_t moves;

	do {
		moves = positions_moves(positions);
		if (session_stop(session, true, PENDING_NS))
			return true;
	} while (keeper_catch_up(keeper, 0) && positions_moves(positions) != moves);
	return false;
}

/* The other session records from here on, and this one no more. */
static bool take_over(struct keeper *keeper, struct taken_over *taken, char *error, size_t error_size)
{
	struct session *session;

	if (!begin_other(keeper, error, error_size))
		return false;
	taken->since = clock_monotonic();
	g_usleep(OVERLAP_NS / 1000);
	watch_stop(keeper->watch);
	session = session_adopt(keeper->config, progress_session(keeper->progress));
	/* before it is, as that may take a while: a reader that goes on from here stops it, and does not
	 * start it */
	progress_one_records(keeper->progress);
	session_stop(session, true, 0);
	taken->all = await_rest(keeper, session);
	session_free(session);
	taken->gone = keeper_is_gone(keeper, progress_session(keeper->progress));
	taken->holds = !taken->gone || !keeper_is_gone(keeper, progress_next(keeper->progress));
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

/* The session was destroyed, or its daemon ended, while another one took its place. */
static bool lose_replaced(struct keeper *keeper, const struct taken_over *taken)
{
	bool lost = keeper_lose_gone(keeper, "it was gone before another one had taken its place");

	if (lost && taken->holds)
		keeper_records(keeper, taken->since);
	return lost;
}

/* Reads the rest of the session that was replaced. */
static bool end_replaced(struct keeper *keeper, const struct taken_over *taken, guint streams)
{
	char unread[512];

	if (taken->gone)
		return lose_replaced(keeper, taken);
	if (!keeper_read_rest(keeper, unread, sizeof(unread)))
		return false;
	if (*unread)
		livereader_complain(keeper->live, unread);
	ledger_add(PACKETS_LOST_STUCK, streams);
	keeper_end(keeper);
	return true;
}

static bool has_kernel(const struct session_identity *session)
{
	return session && session_has_kernel(session);
}

/* Whether LTTng's daemons do: or else they would be waited for, the kernel's also where a session has its
 * channel though the configuration does not want it any more. */
static bool answer(const struct keeper *keeper)
{
	bool kernel = config_reads_kernel(keeper->config) || has_kernel(progress_session(keeper->progress)) ||
		      has_kernel(progress_next(keeper->progress));

	return wellness_all_answer(keeper->config->tracing_group, kernel);
}

static bool all_answer(const struct keeper *keeper, char *error, size_t error_size)
{
	if (answer(keeper))
		return true;
	g_strlcpy(error, "one of LTTng's daemons does not answer", error_size);
	return false;
}

static bool replace(struct keeper *keeper, guint streams)
{
	struct taken_over taken;
	char error[512] = "";

	runstate_calls(keeper->state, DAEMON_SESSION);
	if (!all_answer(keeper, error, sizeof(error)) || !make_other(keeper, error, sizeof(error)) ||
		!take_over(keeper, &taken, error, sizeof(error))) {
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
	return end_replaced(keeper, &taken, streams);
}

/* No stream is stuck, or it is not known; @still: none moves; @silent: a daemon does not answer, so nobody
 * else is to blame. Returns whether to go on at once. */
static bool go_on(struct keeper *keeper, bool still, bool silent)
{
	keeper->stuck[0] = '\0';
	keeper->probe_next = clock_monotonic() + (still ? PROBE_PAUSE_NS : PROBE_AGAIN_NS);
	if (still)
		keeper_consumer_stands_still(keeper, true);
	else if (keeper->stalled && !silent)
		keeper_stalled(keeper, keeper->helped);
	return !keeper->stalled;
}

/* For who looks whether this reader hangs: a look at the streams may take longer than a daemon has. */
static void turn(void *data)
{
	struct keeper *keeper = data;

	runstate_calls(keeper->state, DAEMON_RELAY);
}

static enum probed probe_session(struct keeper *keeper, const struct session_identity *session, GArray *stuck)
{
	turn(keeper);
	return relayprobe_run(keeper->config, session, stuck, turn, keeper);
}

static enum probed probe(struct keeper *keeper, GArray *stuck)
{
	g_array_set_size(stuck, 0);
	return probe_session(keeper, progress_session(keeper->progress), stuck);
}

/* The same for the other session, in which nothing is recorded yet. */
static enum probed probe_other(struct keeper *keeper)
{
	g_autoptr(GArray) still = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	const struct session_identity *other = progress_next(keeper->progress);
	int64_t until = clock_monotonic() + BEGINS_NS;
	enum probed probed;

	do {
		probed = probe_session(keeper, other, still);
		if (probed != PROBED_NOTHING && probed != PROBED_ALONE)
			break;
		g_usleep(BEGINS_PAUSE_US);
	} while (clock_monotonic() < until);
	return probed;
}

/* Makes another session, in which nothing is recorded yet, unless it is there. */
static bool begin_mute(struct keeper *keeper)
{
	char error[512] = "";

	if (clock_monotonic() < keeper->other_next)
		return false;
	runstate_calls(keeper->state, DAEMON_SESSION);
	if (make_other(keeper, error, sizeof(error)) &&
		session_start_mute(keeper->config, progress_next(keeper->progress)->name, error,
			sizeof(error)) == SESSION_OK)
		return true;
	log_warning("no other LTTng session can be made to find out why nothing comes: %s", error);
	keeper->other_next = clock_monotonic() + PROBE_PAUSE_NS;
	return false;
}

/*
 * No stream moves: lttng-consumerd passes on nothing, or each of them is stuck, as there is one CPU, say. If
 * those of another session move, and still none of this one's, it is the latter; where there are none, as no
 * program runs, it is taken for that. If they do not move, the other session is left as it is: the consumer
 * daemon would not end it. @silent: a daemon does not answer, which the status names, and would be waited
 * for.
 */
static enum probed find_out(struct keeper *keeper, GArray *stuck, bool *silent)
{
	enum probed probed;

	*silent = !answer(keeper);
	if (*silent)
		return PROBED_FAILED;
	if (!begin_mute(keeper))
		return PROBED_STILL;
	probed = probe_other(keeper);
	if (probed == PROBED_STILL || probed == PROBED_FAILED)
		return probed;
	probed = probe(keeper, stuck);
	return probed == PROBED_STILL ? PROBED_STUCK : probed;
}

/* The same as probe(), where nothing else hints at it: two looks must agree; one does with the last one if
 * that is still told. */
static enum probed probe_twice(struct keeper *keeper, GArray *stuck)
{
	enum probed probed = probe(keeper, stuck);

	if (probed == PROBED_KERNEL && keeper->stuck[0] && keeper->stuck_reason == REASON_KERNEL_CONSUMER)
		return probed;
	if ((probed == PROBED_STUCK || probed == PROBED_STILL || probed == PROBED_KERNEL) &&
		probe(keeper, stuck) != probed)
		probed = PROBED_MOVES;
	return probed;
}

/* How many ring buffers of the old session hold what does not come any more. Nobody is attached. */
static guint count_held_up(struct keeper *keeper, const struct taken_over *taken)
{
	g_autoptr(GArray) stuck = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	const char *name = progress_session(keeper->progress)->name;
	enum probed probed = newer_heals() ? PROBED_MOVES : probe_twice(keeper, stuck);

	if (probed == PROBED_STUCK || probed == PROBED_STILL) {
		describe(keeper, stuck);
		log_warning(
			"LTTng session `%s`, which has ended: %s, and is lost; how much that is LTTng does "
			"not tell",
			name, keeper->stuck);
		keeper->stuck[0] = '\0';
		return stuck->len;
	}
	if (!taken->all)
		log_warning("LTTng session `%s` has ended, and some of what it had did not come to "
			    "lttng-relayd in time, and is lost; how much that is LTTng does not tell",
			name);
	return !taken->all;
}

bool keeper_was_replaced(struct keeper *keeper)
{
	return progress_is_replaced(keeper->progress) && has_other(keeper);
}

bool keeper_end_replaced(struct keeper *keeper, struct session *session)
{
	struct taken_over taken = {.all = await_rest(keeper, session)};

	return end_replaced(keeper, &taken, count_held_up(keeper, &taken));
}

void keeper_forgets_mute(struct keeper *keeper)
{
	const struct session_identity *other = progress_next(keeper->progress);

	if (other && !progress_may_both_record(keeper->progress) && keeper_is_gone(keeper, other))
		progress_lose_next(keeper->progress);
}

static void detach(struct keeper *keeper, struct reader **attached)
{
	if (*attached)
		reader_close(*attached);
	*attached = NULL;
	runstate_live(keeper->state, false);
}

void keeper_waits_for_kernel(struct keeper *keeper)
{
	bool waits = session_waits_for_kernel(keeper->config, progress_session(keeper->progress));

	keeper->change_next = waits ? clock_monotonic() + CHANGE_PAUSE_NS : 0;
}

bool keeper_puts_off(struct keeper *keeper)
{
	char error[128];
	bool told = keeper->change_next != 0;

	keeper->change_next = 0;
	if (!keeper_knows_session(keeper) || all_answer(keeper, error, sizeof(error)))
		return false;
	if (!told)
		log_warning("no LTTng session can take the place of `%s` as yet: %s",
			progress_session(keeper->progress)->name, error);
	keeper->change_next = clock_monotonic() + CHANGE_PAUSE_NS;
	return true;
}

bool keeper_may_change(struct keeper *keeper)
{
	if (!keeper->change_next || clock_monotonic() < keeper->change_next)
		return false;
	keeper->change_next = clock_monotonic() + CHANGE_PAUSE_NS;
	return answer(keeper);
}

bool keeper_hand_over(struct keeper *keeper, struct reader **attached, bool *at_once)
{
	struct taken_over taken;
	char error[512] = "";

	if (keeper_puts_off(keeper))
		return false;
	runstate_calls(keeper->state, DAEMON_SESSION);
	if (make_other(keeper, error, sizeof(error)) && take_over(keeper, &taken, error, sizeof(error))) {
		detach(keeper, attached);
		*at_once = end_replaced(keeper, &taken, taken.gone ? 0 : count_held_up(keeper, &taken));
		return true;
	}
	log_warning("no LTTng session can take the place of `%s`: %s",
		progress_session(keeper->progress)->name, error);
	return false;
}

static void show(struct keeper *keeper, enum reason reason)
{
	keeper->still = false;
	keeper->stuck_reason = reason;
	if (keeper->no_files[0])
		return; /* nothing is read, which is told */
	runstate_collects_in_part(
		keeper->state, progress_session(keeper->progress)->name, reason, keeper->stuck);
}

static void show_stuck(struct keeper *keeper, const GArray *stuck)
{
	describe(keeper, stuck);
	show(keeper, REASON_STREAM_STUCK);
}

/* Another session would not help, and could not be made: it would wait for the same daemon. */
static void show_kernel(struct keeper *keeper)
{
	keeper->look_next = clock_monotonic() + KERNEL_PAUSE_NS;
	keeper->kernel_until = clock_monotonic() + KERNEL_NS;
	g_strlcpy(keeper->stuck,
		"the kernel is not recorded: its lttng-consumerd passes on nothing; until it does, the "
		"session is "
		"read from lttng-relayd's files, once a second",
		sizeof(keeper->stuck));
	show(keeper, REASON_KERNEL_CONSUMER);
}

bool keeper_stands_still(struct keeper *keeper)
{
	g_autoptr(GArray) stuck = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	bool silent = false;
	enum probed probed;

	keeper->stands_still = false;
	probed = probe(keeper, stuck);
	/* what comes to relayd's files lttng-consumerd has passed on; and what attaching again may help
	 * against does not tell of it */
	if (probed == PROBED_STILL && (keeper->again || livereader_grows(keeper->live)))
		probed = PROBED_MOVES;
	if (probed == PROBED_STILL)
		probed = find_out(keeper, stuck, &silent);
	if (probed == PROBED_KERNEL) {
		show_kernel(keeper);
		keeper->use_files = keeper->again = true; /* and so nobody asks the session daemon */
		return false;
	}
	if (probed != PROBED_STUCK)
		return go_on(keeper, probed == PROBED_STILL, silent);
	keeper->again = false; /* it would not help */
	show_stuck(keeper, stuck);
	if (clock_monotonic() >= keeper->replace_next)
		return replace(keeper, stuck->len);
	keeper->use_files = true;
	return false;
}

/* Files do not tell what stands still, nor, if they are not there, that they should be. */
bool keeper_looks_aside(struct keeper *keeper, bool *at_once)
{
	g_autoptr(GArray) stuck = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	enum probed probed;
	bool silent;

	if (clock_monotonic() < keeper->look_next)
		return false;
	probed = probe_twice(keeper, stuck);
	if (probed == PROBED_STILL)
		probed = find_out(keeper, stuck, &silent);
	keeper->look_next = clock_monotonic() + LOOK_PAUSE_NS;
	if (probed == PROBED_FAILED)
		return false;
	keeper->recover.has_streams = probed != PROBED_NOTHING;
	keeper_consumer_stands_still(keeper, probed == PROBED_STILL);
	keeper->stuck[0] = '\0';
	if (probed == PROBED_KERNEL)
		show_kernel(keeper);
	if (probed != PROBED_STUCK)
		return false;
	show_stuck(keeper, stuck);
	if (clock_monotonic() < keeper->replace_next)
		return false;
	*at_once = replace(keeper, stuck->len);
	return true;
}
