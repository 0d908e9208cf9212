/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/unread.h"

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "session/relayscan.h"

/* Between two looks, or longer: a look takes a few dozen system calls for each user, so it gets no more than
 * this part of the time. */
#define PERIOD_NS (1 * NS_PER_SECOND)
#define PERIOD_MAX_NS (30 * NS_PER_SECOND)
#define LOOK_PART 200
/* So many looks in a row must find packets of a trace before the agent attaches again for it, */
#define TRACE_LOOKS 2
/* and so many must find unread packets, and nothing that came, before live reading counts as stalled. */
#define STALL_LOOKS 3
/* To attach takes reading the metadata of all users: the next time comes no sooner than so many times that.
 */
#define ATTACH_PART 5
/* A trace that did not come is tried again after twice this, then twice as long, up to: */
#define PAUSE_NS (1 * NS_PER_SECOND)
#define PAUSE_MAX_NS (30 * NS_PER_SECOND)
/* After so many tries the log says that it does not come. */
#define TRIES_TOLD 3

/* A trace with packets on disk that do not come. */
struct trace {
	uint64_t user;
	unsigned looks;  /* in a row that found such packets */
	uint64_t newest; /* of these packets: its begin clock */
	bool untold;     /* relayd has not told the reader of the trace */
	unsigned tries;  /* to have it by attaching again, */
	bool told;       /* so many that the log says so */
	uint64_t tried;  /* newest at the last try: if no more came, attaching again does not help */
	int64_t next;    /* try, not before */
};

struct unread {
	int64_t period;
	GHashTable *traces;  /* by stream_key_trace; of struct trace, owned */
	bool had_streams;    /* the session, when the reader attached */
	uint64_t moves;      /* of the positions, at the last look, */
	int64_t events;      /* and what the ledger had read */
	unsigned still;      /* looks in a row that found unread packets, and nothing that came */
	uint64_t newest;     /* of these packets, at the last look: its begin clock */
	bool grows;          /* it is newer than at the look before */
	int64_t look_next;   /* not before; CLOCK_MONOTONIC ns, as below */
	int64_t attach_next; /* not before */
	int64_t verdict_at;  /* when the last one was given, until the next look; 0: there was none */
};

struct look {
	struct unread *unread;
	struct relayfiles *files;
	const struct positions *positions;
	const struct reader *reader;
	int64_t now;
	bool moved;       /* something has come since the last look */
	bool unread_told; /* there are packets of traces that the reader should read */
	bool untold;      /* there are some of traces that it does not know of */
	uint64_t newest;  /* of programs' packets that do not come: its begin clock */
};

struct unread *unread_create(int64_t live_timer)
{
	struct unread *unread = g_new0(struct unread, 1);

	unread->period = MAX(PERIOD_NS, 2 * live_timer);
	unread->traces = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return unread;
}

void unread_destroy(struct unread *unread)
{
	g_hash_table_destroy(unread->traces);
	g_free(unread);
}

void unread_clear(struct unread *unread)
{
	g_hash_table_remove_all(unread->traces);
}

void unread_attach(struct unread *unread, const struct positions *positions)
{
	unread->had_streams = positions_count(positions) > 0;
	unread->still = 0;
}

bool unread_is_due(const struct unread *unread)
{
	return clock_monotonic() >= unread->look_next;
}

static bool has_moved(struct unread *unread, const struct positions *positions)
{
	uint64_t moves = positions_moves(positions);
	struct ledger rows;
	bool moved;

	ledger_read(&rows);
	moved = moves != unread->moves || rows.row[EVENTS_READ] != unread->events;
	unread->moves = moves;
	unread->events = rows.row[EVENTS_READ];
	return moved;
}

static struct trace *get_trace(struct unread *unread, const struct stream_key *key)
{
	gpointer number = GSIZE_TO_POINTER(stream_key_trace(key));
	struct trace *trace = g_hash_table_lookup(unread->traces, number);

	if (!trace) {
		trace = g_new0(struct trace, 1);
		trace->user = key->user;
		g_hash_table_insert(unread->traces, number, trace);
	}
	return trace;
}

/* It comes. */
static void forget_trace(struct unread *unread, const struct stream_key *key)
{
	gpointer number = GSIZE_TO_POINTER(stream_key_trace(key));
	const struct trace *trace = g_hash_table_lookup(unread->traces, number);

	if (trace && trace->told)
		log_info("spans of user %" G_GUINT64_FORMAT " come live again", trace->user);
	g_hash_table_remove(unread->traces, number);
}

/* Whether the reader knows of the trace, or should: without any stream it asks relayd for streams all the
 * time, and when it attaches relayd lists all that are there. */
static bool should_come(const struct look *look, const struct stream_key *key, const struct trace *trace)
{
	if (reader_has_trace(look->reader, key))
		return true;
	return !reader_traces(look->reader) && (!look->unread->had_streams || trace->tries);
}

/* Looks at one trace that is on disk. */
static void look_at(void *data, const struct stream_key *key)
{
	struct look *look = data;
	struct trace *trace;

	if (look->moved && reader_has_trace(look->reader, key)) {
		forget_trace(look->unread, key);
		return;
	}
	trace = get_trace(look->unread, key);
	/* packets without events are not worth to be attached for */
	trace->newest = relay_newest(look->files, key, look->positions);
	trace->looks = trace->newest ? trace->looks + 1 : 0;
	if (key->user != KERNEL_USER) /* which another consumer daemon has passed on */
		look->newest = MAX(look->newest, trace->newest);
	trace->untold = !should_come(look, key, trace);
	if (!trace->looks)
		return;
	if (trace->untold)
		look->untold |= trace->looks >= TRACE_LOOKS && look->now >= trace->next;
	else
		look->unread_told |= !trace->tries || trace->newest > trace->tried;
}

/* All that do not come are attached to together. */
static void note_try(struct unread *unread, enum unread_verdict verdict, int64_t now)
{
	struct trace *trace;
	GHashTableIter iter;

	g_hash_table_iter_init(&iter, unread->traces);
	while (g_hash_table_iter_next(&iter, NULL, (gpointer *)&trace)) {
		if (!trace->looks)
			continue;
		trace->looks = 0;
		trace->tried = trace->newest;
		trace->tries++;
		trace->next = now + clock_backoff(PAUSE_NS, trace->tries, PAUSE_MAX_NS);
		if (verdict != UNREAD_TRACE || !trace->untold)
			continue;
		if (trace->tries == 1)
			log_info("user %" G_GUINT64_FORMAT
				 " has programs that lttng-relayd does not report while all others are "
				 "idle: attaching to the session again",
				trace->user);
		else if (trace->tries == TRIES_TOLD) {
			trace->told = true;
			log_warning("spans of user %" G_GUINT64_FORMAT
				    " do not come live: they are read from lttng-relayd's files, after a "
				    "while every %d s",
				trace->user, (int)(PAUSE_MAX_NS / NS_PER_SECOND));
		}
	}
	unread->still = 0;
	unread->verdict_at = now;
}

bool unread_grows(const struct unread *unread)
{
	return unread->grows;
}

static enum unread_verdict judge(struct unread *unread, const struct look *look, int64_t now)
{
	unread->grows = unread->newest && look->newest > unread->newest;
	unread->newest = look->newest;
	unread->still = look->unread_told && !look->moved ? unread->still + 1 : 0;
	if (unread->still >= STALL_LOOKS)
		return UNREAD_STALL;
	return look->untold && now >= unread->attach_next ? UNREAD_TRACE : UNREAD_NOTHING;
}

enum unread_verdict unread_look(struct unread *unread, struct relayfiles *files,
	const struct positions *positions, const struct reader *reader)
{
	struct look look = {.unread = unread,
		.files = files,
		.positions = positions,
		.reader = reader,
		.now = clock_monotonic(),
		.moved = has_moved(unread, positions)};
	enum unread_verdict verdict;
	int64_t now;

	if (unread->verdict_at)
		unread->attach_next =
			look.now + MIN(ATTACH_PART * (look.now - unread->verdict_at), PAUSE_MAX_NS);
	unread->verdict_at = 0;
	relayfiles_each_trace(files, look_at, &look);
	now = clock_monotonic();
	unread->look_next = now + MAX(unread->period, MIN(LOOK_PART * (now - look.now), PERIOD_MAX_NS));
	verdict = judge(unread, &look, now);
	if (verdict == UNREAD_NOTHING)
		return verdict;
	note_try(unread, verdict, now);
	unread->look_next = now;
	return verdict;
}
