/* SPDX-License-Identifier: BSD-2-Clause */
/* The inlet as its parts share it. All but what `lock` guards is its thread's. */
#ifndef INLET_INNER_H
#define INLET_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <glib.h>

#include "base/siphash.h"
#include "encode/spanread.h"
#include "inlet/inlet.h"
#include "net/peer.h"
#include "queue/fanout.h"
#include "wire/scribecall.h"
#include "wire/tbinaryend.h"
#include "wire/trail.h"

/* Memory that is kept for the next call. */
#define KEPT_BYTES (64 * 1024)
/* No call is larger: classic servers take as much. */
#define FRAME_MAX (16 * 1024 * 1024)
/* Nor a message, once its base64 is read. */
#define MESSAGE_MAX (1024 * 1024)
/* Calls of a connection that wait for their answer; it is not read from meanwhile. */
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

/* A call until it is answered: calls of a connection are answered in their order. */
struct call {
	struct call *next;
	struct connection *connection;
	struct group *group; /* it waits for; NULL: the reply is there */
	struct scribecall_id id;
	bool wants_reply;
	uint32_t messages;
	struct buffer reply;
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
	enum { SPEECH_UNKNOWN, SPEECH_FRAMED, SPEECH_UNFRAMED } speech;
	struct buffer in;
	size_t parsed; /* bytes of it */
	struct tbinaryend end;
	struct call *first, **last;
	unsigned calls;
	bool paused;     /* it is not read from */
	int64_t came;    /* when it was let in, */
	int64_t heard;   /* when something came, */
	int64_t begun;   /* and when what is not whole yet did; CLOCK_MONOTONIC ns; 0: nothing is begun */
	int64_t written; /* since when answers wait for the peer to read them; 0: none does */
};

/* What a call, or several, have of each kind, in bytes. */
struct weight {
	size_t of[KINDS];
};

/* Calls that are handed over together, and answered together. */
struct group {
	GList link;
	GPtrArray *calls;       /* of struct call *; those whose connection is gone are taken out */
	struct batch *spans;    /* as their senders packed them */
	bool takes_spans;       /* an output does */
	struct batch *messages; /* NULL: no output takes any */
	struct buffer traits;   /* struct trait: the spans' */
	struct ledger change;   /* to be posted with them */
	size_t largest;         /* message that all outputs take which take any, as an item */
	struct weight weight;   /* of the calls */
	struct receipt *receipt;
	int64_t handed;
	uint64_t number; /* of the record that it waits for; 0: not yet */
};

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

/* With which items are stamped; and when it was drawn, CLOCK_MONOTONIC ns. */
struct circle_key {
	uint8_t bytes[SIPHASH_KEY_SIZE];
	int64_t drawn;
};

struct inlet {
	struct inlet_options options;
	pthread_t thread;
	struct event_base *base;
	struct event *wake;  /* somebody asks for something, or something is settled */
	struct event *hand;  /* a group is to be handed over */
	struct event *sweep; /* the time of silence, once a second while there is anybody */
	struct evconnlistener *listener;
	struct event *resume; /* accepting */
	struct fanout *fanout;
	GQueue connections;  /* of struct connection */
	GHashTable *holders; /* of struct holder: who has these */
	unsigned members, guests;
	GQueue groups; /* of struct group: handed over, the oldest first */
	/* Calls with spans alone do not wait for what becomes of others' messages. NULL: none is begun */
	struct group *open[2];
	size_t in_bytes;    /* of all connections */
	struct weight held; /* of all calls that wait */
	uint64_t asked;     /* the last record's number */
	bool quiet;         /* it takes no more */
	int64_t began;      /* s since the epoch */
	int64_t ending;     /* until when what waits may be answered; 0: it runs on */
	bool freed_much;    /* which the system may have back */
	/* scratch memory */
	struct buffer scratch, encoded;
	struct span_memory memory;
	struct circle_key key;
	atomic_bool key_is_old; /* any thread says so */
	struct {
		int64_t at; /* when it was said last */
		unsigned unsaid;
	} said[SAYINGS];

	_Atomic uint64_t recorded;
	pthread_mutex_t lock; /* guards what follows */
	struct inlet_limits limits;
	struct inlet_state state;
	int listening; /* a socket to take up; -1: none */
	int door;      /* the one that is listened to, or will be; -1: none */
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

/* holders.c */

void holders_init(struct inlet *inlet);
void holders_free(struct inlet *inlet);

/* NULL: it has none. */
const struct holder *holders_find(const struct inlet *inlet, const struct peer *peer);

/* The connection is, or is no more, among those that @peer holds. */
void holders_enter(struct connection *connection, const struct peer *peer);
void holders_leave(struct connection *connection);

/* The memory for what has come has changed, from @room bytes. */
void holders_weigh(struct connection *connection, size_t room);

/* Who has the most connections; NULL: nobody has any. */
const struct holder *holders_largest(const struct inlet *inlet);

/* crowd.c */

/* As many as the configuration says, if the process may have so many sockets, and some for all else. */
unsigned crowd_places(const struct config *config);

/* Makes room for one more connection, of @peer's, if it can. */
enum seat crowd_admit(struct inlet *inlet, const struct peer *peer);

/* Whether the connection has a place of its own, maybe from now on. */
bool crowd_promote(struct connection *connection);

/* Whether it is a guest who has to go. */
bool crowd_overstays(const struct connection *connection, int64_t now);

/* @connection took more memory; returns false if it had to be closed. */
bool crowd_grown(struct connection *connection);

/* patience.c */

/* In the middle of a call; */
bool patience_is_unfinished(const struct connection *connection);

/* and for longer than @patience already, at a rate that is no progress. */
bool patience_is_stalled(const struct connection *connection, int64_t now, int64_t patience);

/* Closes those that are silent, or slow, where they should not be. */
void patience_sweep(struct inlet *inlet);

/* answer.c */

/* Answers the call, or puts it into a group; false, with the reason in @why, if it is none. */
bool answer_call(struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size);
void answer_log(struct call *call, enum answer answer);
void call_free(struct call *call);

/* circle.c */

/* What an item is, wherever it comes by: a span's ids, a message's category and payload. */
struct identity {
	const uint8_t *part[2];
	size_t size[2];
};

/* Whether the item has been here before; */
bool circle_came_round(struct inlet *inlet, const struct trail *trail, const struct identity *identity);

/* it has come one agent further. */
void circle_step(struct inlet *inlet, struct trail *trail, const struct identity *identity);

/* What was here before is not known any more. Any thread. */
void circle_renew(struct inlet *inlet);

/* messages.c */

/* How many of a call's messages have been here before. */
uint32_t messages_come_round(struct inlet *inlet, const struct scribecall *call);

/* What became of a call's messages. */
struct messages {
	uint32_t taken, refused[REFUSALS];
	char why[300]; /* of the first that was refused */
	enum refusal reason;
};

/* What the call has of each kind. */
struct weight messages_weigh(struct inlet *inlet, const struct scribecall *call, size_t bytes);

/* Adds the spans of a call to the group, and what else is taken. */
void messages_take(
	struct inlet *inlet, struct group *group, struct scribecall *call, struct messages *messages);

/* group.c */

/* The one that calls of this weight are added to. */
struct group *group_open(struct inlet *inlet, const struct weight *weight);

/* The call, of this weight, waits for it from now on. */
void group_add(struct group *group, struct call *call, const struct weight *weight);
void group_forget_call(struct call *call);

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

/* door.c */

void door_take_up(struct inlet *inlet, int fd);
void door_close(struct inlet *inlet);

#endif
