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

#include "encode/spanread.h"
#include "inlet/inlet.h"
#include "queue/fanout.h"
#include "wire/scribecall.h"
#include "wire/tbinaryend.h"

/* Memory that is kept for the next call. */
#define KEPT_BYTES (64 * 1024)
/* No call is larger: classic servers take as much. */
#define FRAME_MAX (16 * 1024 * 1024)
/* Nor a message, once its base64 is read. */
#define MESSAGE_MAX (1024 * 1024)
/* Calls of a connection that wait for their answer; it is not read from meanwhile. */
#define CALLS_MAX 64
/* ADDRESS:PORT, with brackets around IPv6 and a NUL. */
#define PEER_SIZE 64

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

struct connection {
	struct inlet *inlet;
	struct bufferevent *bev;
	char peer[PEER_SIZE];
	GList link;
	enum { SPEECH_UNKNOWN, SPEECH_FRAMED, SPEECH_UNFRAMED } speech;
	struct buffer in;
	size_t parsed; /* bytes of it */
	struct tbinaryend end;
	struct call *first, **last;
	unsigned calls;
	bool paused;     /* it is not read from */
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
	GPtrArray *calls; /* of struct call *; those whose connection is gone are taken out */
	struct batch *items[BATCH_FORMATS]; /* spans in each format that is wanted, and messages */
	struct buffer traits;               /* of the spans */
	struct ledger change;               /* to be posted with them */
	uint32_t count;                     /* of spans */
	size_t largest;                     /* message that all outputs take which take any, as an item */
	struct weight weight;               /* of the calls */
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
	GQueue connections; /* of struct connection */
	GQueue groups;      /* of struct group: handed over, the oldest first */
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
	struct spanread_memory memory;
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

/* connection.c */

void connection_accept(struct inlet *inlet, evutil_socket_t fd, const struct sockaddr *address);

/* Closes it, and counts it in @row. */
void connection_close(struct connection *connection, enum ledger_row row);
void connection_end(struct connection *connection);

/* Sends the replies that are due, and goes on reading if it may. */
void connection_flush(struct connection *connection);

/* crowd.c */

/* Makes room for one more connection; false if there is none. */
bool crowd_admits(struct inlet *inlet);

/* @connection took more memory; returns false if it had to be closed. */
bool crowd_grown(struct connection *connection);

/* Closes those that are silent where they should not be. */
void crowd_sweep(struct inlet *inlet);

/* answer.c */

/* Answers the call, or puts it into a group; false, with the reason in @why, if it is none. */
bool answer_call(struct connection *connection, const uint8_t *data, size_t size, char *why, size_t why_size);
void answer_log(struct call *call, enum answer answer);
void call_free(struct call *call);

/* messages.c */

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
