/* SPDX-License-Identifier: BSD-2-Clause */
/* The inlet as its parts and the protocols share it. All but what `lock` guards is its thread's. */
#ifndef INLET_INNER_H
#define INLET_INNER_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <glib.h>

#include "encode/spanread.h"
#include "inlet/inlet.h"
#include "net/peer.h"
#include "queue/fanout.h"
#include "stats/names.h"

/* Memory that is kept for the next call. */
#define KEPT_BYTES (64 * 1024)
/* No call is larger: classic servers take as much. */
#define FRAME_MAX (16 * 1024 * 1024)
/* Nor a message, once its base64 is read. */
#define MESSAGE_MAX (1024 * 1024)
/* Calls of a connection that wait for their answer, at most (limits_calls); it is not read from meanwhile. */
#define CALLS_MAX 64
/* The configuration's. */
struct inlet_limits {
	char category[128];
	bool safe; /* OK says: delivered or on disk */
	unsigned connections;
	size_t bytes;
	int64_t timeout_ns;
};

/* The answer that Log() has. */
enum answer { ANSWER_OK = 0, ANSWER_TRY_LATER = 1 };

/* A call until it is answered. A protocol's own begins with it. */
struct call {
	struct call *next;
	struct connection *connection;
	struct group *group; /* it waits for; NULL: the reply is there */
	bool wants_reply;
	uint32_t messages; /* or spans */
	bool closes;       /* the connection, once it is answered */
	struct buffer reply;
};

/* How senders speak: one for each way, each in files of its own. All in the inlet's thread. */
struct protocol {
	const char *key;         /* of [input], which sets its address (config/inputtypes.h) */
	enum batch_format spans; /* what its senders' spans are, as items */
	/* What is its own of an inlet (inlet->own), and of a connection (connection->own). */
	void *(*create)(void);
	void (*destroy)(void *own);
	void *(*open)(struct connection *connection);
	void (*close)(void *own);
	/*
	 * Takes from what has come, up to the end of one call at most, which it answers or puts into a group.
	 * Returns how much it has used: 0 if more has to come. -1, with the reason in @why: it is no such
	 * protocol.
	 */
	ssize_t (*take)(
		struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size);
	/* What the call handed over is safe, or is to be sent again: writes the reply. */
	void (*answer)(struct call *call, enum answer answer);
	/* Of protocols that use what has come before a call is whole; NULL for others: whether one has begun
	 * and is not whole, and the memory that it takes. */
	bool (*is_unfinished)(const struct connection *connection);
	size_t (*room)(const struct connection *connection);
	/* No more calls are taken. May be NULL. */
	void (*stop)(struct connection *connection);
};

/* A user of this node, or an address, who has connections. */
struct holder {
	struct peer peer; /* first: it is the key */
	unsigned connections, guests;
	size_t bytes; /* of calls that are not whole */
};

struct connection {
	struct inlet *inlet;
	struct bufferevent *bev;
	char peer[PEER_TEXT]; /* for the log */
	struct holder *holder;
	bool guest;  /* there was no room for it: it is told to try later, and has to go soon */
	bool served; /* a call with messages has come */
	GList link;
	void *own; /* the protocol's */
	struct buffer in;
	size_t parsed;              /* bytes of it */
	size_t weighed;             /* the memory for it, as it was entered last */
	struct call *first, **last; /* answered in their order */
	unsigned calls;
	uint64_t calls_begun; /* so many were, ever */
	bool paused;          /* it is not read from */
	int64_t came;         /* when it was let in, */
	int64_t heard;        /* when something came, */
	int64_t begun;   /* and when what is not whole yet did; CLOCK_MONOTONIC ns; 0: nothing is begun */
	size_t come;     /* so many bytes since then */
	bool closing;    /* once what was written is read */
	int64_t written; /* since when answers wait for the peer to read them; 0: none does */
	int64_t lingers; /* since when all is said, and what comes is thrown away; 0: it does not */
};

/* What a call, or several, have of each kind, in bytes. */
struct weight {
	size_t of[KINDS];
};

/* Calls that are handed over together, and answered together. */
struct group {
	GList link;
	GPtrArray *calls;           /* of struct call *; those whose connection is gone are taken out */
	struct batch *spans;        /* as their senders packed them */
	bool takes_spans;           /* an output does */
	struct batch *messages;     /* NULL: no output takes any */
	struct buffer traits;       /* struct trait: the spans' */
	bool counted;               /* they are of this node's programs, and so of its statistics, */
	unsigned namer;             /* by this one of the inlet's: */
	struct buffer named, words; /* their struct named, and what these mean */
	struct ledger change;       /* to be posted with them */
	size_t largest[KINDS];      /* item that all outputs take which take any of its kind */
	struct weight weight;       /* of the calls */
	struct receipt *receipt;
	int64_t handed;
	bool safe; /* all of it is delivered, or on disk */
};

enum opening { OPEN_MESSAGES = 1, OPEN_COUNTED = 2, OPENINGS = 4 };

/* Why a message is no span of ours. */
enum refusal { REFUSED_CATEGORY, REFUSED_MALFORMED, REFUSED_ID, REFUSED_OVERSIZE, TAKEN, REFUSALS = TAKEN };

/* What is logged for each of these only so often. */
enum saying {
	SAY_REFUSED /* and the reasons for it */,
	SAY_GARBAGE = SAY_REFUSED + REFUSALS,
	SAY_SILENT,
	SAY_CROWDED,
	SAY_LOOP,
	SAY_FOREIGN_CALL,
	SAYINGS
};

struct inlet {
	struct inlet_options options;
	const struct protocol *protocol;
	void *own; /* the protocol's */
	pthread_t thread;
	struct event_base *base;
	struct waker *wake;  /* somebody asks for something, or something is settled */
	struct event *over;  /* whether all is answered is looked at again, at the end */
	struct event *hand;  /* a group is to be handed over */
	struct event *sweep; /* the time of silence, once a second while there is anybody */
	struct evconnlistener *listener;
	struct event *resume; /* accepting */
	struct fanout *fanout;
	GQueue connections;  /* of struct connection */
	GHashTable *holders; /* of struct holder: who has these */
	unsigned members, guests;
	GQueue groups; /* of struct group: handed over, the oldest first */
	/* Calls with spans alone do not wait for what becomes of others' messages; and some are counted (enum
	 * opening). NULL: none is begun */
	struct group *open[OPENINGS];
	size_t in_bytes;    /* of all connections */
	struct weight held; /* of all calls that wait */
	bool quiet;         /* it takes no more */
	int64_t began;      /* s since the epoch */
	int64_t ending;     /* until when what waits may be answered; 0: it runs on */
	bool freed_much;    /* which the system may have back; since the last sweep */
	unsigned owing;     /* sweeps since it was, and the system does not have it back yet */
	size_t freed;       /* so many bytes at once, if they are very many */
	/* scratch memory */
	struct buffer scratch, encoded;
	struct names *names[2]; /* for the statistics, as the namers; NULL: none was needed yet */
	struct span_memory memory;
	atomic_uint configured; /* so often it was; any thread's */
	struct {
		int64_t at; /* when it was said last */
		unsigned unsaid;
	} said[SAYINGS];

	pthread_mutex_t lock; /* guards what follows */
	struct inlet_limits limits;
	struct inlet_state state;
	int listening; /* a socket to take up; -1: none */
	int current;   /* the one that is listened to, or will be; -1: none */
	bool moved;    /* `listening` is new */
	bool stop, finish;
};

/* Copies what is configured. */
struct inlet_limits inlet_limits(struct inlet *inlet);

/* Logs, but one of a kind only every ten seconds, saying how many were not logged. */
void inlet_say(struct inlet *inlet, enum saying what, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* There is something to sweep. */
void inlet_sweep_soon(struct inlet *inlet);

/* What a new connection gets. */
enum seat { SEAT_NONE, SEAT_GUEST, SEAT_MEMBER };

/* connection.c */

void connection_accept(struct inlet *inlet, evutil_socket_t fd, const struct sockaddr *address,
	const struct peer *peer, enum seat seat);

/* Closes it, and counts it in @row. */
void connection_close(struct connection *connection, enum ledger_row row);
void connection_end(struct connection *connection);

/* Sends the replies that are due, and goes on reading if it may. */
void connection_flush(struct connection *connection);

/* For protocols that answer in any order: the call, whose reply was written, is over. */
void connection_end_call(struct connection *connection, struct call *call);

/* Nothing comes at it at the moment: memory for what did goes. */
void connection_rest(struct connection *connection);

/* Bytes for the peer. */
void connection_write(struct connection *connection, const void *data, size_t size);

/* It is closed once the peer has read what was written, and has nothing more to say, or a moment later. */
void connection_close_soon(struct connection *connection);

/* holders.c */

void holders_init(struct inlet *inlet);
void holders_free(struct inlet *inlet);

/* NULL: it has none. */
const struct holder *holders_find(const struct inlet *inlet, const struct peer *peer);

/* The connection is, or is no more, among those that @peer holds. */
void holders_enter(struct connection *connection, const struct peer *peer);
void holders_leave(struct connection *connection);

/* The memory for what has come may have changed. */
void holders_weigh(struct connection *connection);

/* There is none any more. */
void holders_weigh_out(struct connection *connection);

/* How many have any; guests are none. */
unsigned holders_count(const struct inlet *inlet);

/* Who has the most connections; NULL: nobody has any. */
const struct holder *holders_largest(const struct inlet *inlet);

/* limits.c */

/* For each of the inputs that listen: as many as the configuration says, if the process may have so many
 * sockets for all of them, and some for all else. */
unsigned limits_connections(const struct config *config);

/* Makes room for one more connection, of @peer's, if it can. */
enum seat limits_admit(struct inlet *inlet, const struct peer *peer);

/* Whether the connection has a place of its own, maybe from now on. */
bool limits_promote(struct connection *connection);

/* So many calls may wait at each connection. */
unsigned limits_calls(struct inlet *inlet);

/* Whether it is a guest who has to go. */
bool limits_overstays(const struct connection *connection, int64_t now);

/* @connection took more memory; returns false if it had to be closed. */
bool limits_grown(struct connection *connection);

/* timeouts.c */

/* Whether it is in the middle of a call for longer than @timeout already, at a rate that is no progress. */
bool timeouts_is_stalled(const struct connection *connection, int64_t now, int64_t timeout);

/* Closes those that are silent, or slow, where they should not be. */
void timeouts_sweep(struct inlet *inlet);

/* call.c */

/* A call of @size bytes, whose first member is a struct call, behind those of the connection. */
void *call_begin(struct connection *connection, size_t size, uint32_t messages, bool wants_reply);
void call_free(struct call *call);

/* What a call's messages, or spans, became. */
struct taken {
	uint32_t taken, refused[REFUSALS];
	char why[300]; /* of the first that was refused */
	enum refusal reason;
};

/* Other outputs, if there are, from this call on. */
void call_take_up_outlets(struct inlet *inlet);

/* Whether there is room for a call of this weight, here and at the outputs; others are told to try later. */
bool call_has_room(struct inlet *inlet, const struct weight *weight);

/* Nothing of it is taken; @also is counted, too, unless it is MESSAGES_PUT_OFF. */
void call_put_off(struct call *call, enum ledger_row also);

/* @count of its @of messages, or spans, have been here before: that is logged, and in the state. */
void call_tell_loop(const struct call *call, uint32_t count, uint32_t of);

/* @count of its spans have been taken again and again: the same. */
void call_tell_again(const struct call *call, uint32_t count);

/* Counts what became of a call that was put into @group: it waits for that, if anything was taken; false:
 * nothing was, and it is to be answered. */
bool call_enter(
	struct call *call, struct group *group, const struct weight *weight, const struct taken *taken);

/* group.c */

/* The one that calls of this weight are added to. */
struct group *group_open(const struct connection *connection, const struct weight *weight);

/* The call, of this weight, waits for it from now on. */
void group_add(struct group *group, struct call *call, const struct weight *weight);
void group_forget_call(struct call *call);

/* Nothing was added to it by a call for which it was opened: the next one opens it anew, for the outputs that
 * there are then. */
void group_give_up(struct inlet *inlet, struct group *group);

/* Hands over those that are open. */
void group_hand(struct inlet *inlet);

static inline size_t weight_sum(const struct weight *weight)
{
	return weight->of[KIND_SPANS] + weight->of[KIND_MESSAGES];
}

static inline void weight_add(struct weight *to, const struct weight *more)
{
	for (int kind = 0; kind < KINDS; kind++)
		to->of[kind] += more->of[kind];
}

/* Answers what is safe by now, or will not be. */
void group_look(struct inlet *inlet);
void group_end_all(struct inlet *inlet);

/* count.c */

/* Whether the connection's spans are for the statistics. */
bool count_is_due(const struct connection *connection);

/* Notes what is looked at of the span that was added last. */
void count_note(struct group *group, const struct connection *connection, const struct span *span);
struct items count_items(const struct group *group);

/* The spans, as count_items has them, were handed on; */
void count_take(struct inlet *inlet, const struct group *group, const struct items *spans);

/* or put off. */
void count_forget(struct inlet *inlet, const struct group *group);
void count_free(struct group *group);

/* listener.c */

void listener_take_up(struct inlet *inlet, int fd);
void listener_close(struct inlet *inlet);

#endif
