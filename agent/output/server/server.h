/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One server of the uplink: its link, the batches that are on their way to it, and the rests between two
 * tries. Which of several servers is to be used is the uplink's to say, by their roles.
 *
 * A server that fails, or puts off, gives all its batches back to the queue's front and rests for a while, at
 * random up to a bound that doubles. Until it takes spans again it is tried with one call at a time.
 *
 * Where nodes share servers out among them, its name's addresses are such servers, too: a link that is old,
 * or that leads elsewhere than this node prefers, is replaced by another one.
 */
#ifndef OUTPUT_SERVER_SERVER_H
#define OUTPUT_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/proxyurl.h"
#include "config/config.h"
#include "output/server/courtesy.h"
#include "output/server/link.h"
#include "output/uplink/backoff.h"
#include "output/uplink/delivery.h"
#include "output/uplink/health.h"
#include "output/uplink/ratelimit.h"
#include "queue/queue.h"
#include "queue/wanted.h"

enum server_role {
	SERVER_OFF,      /* not used: no link */
	SERVER_RETIRING, /* takes no more batches, and ends its link when those that it has are through */
	SERVER_TRIAL,    /* has to show that it takes spans: one batch at a time */
	SERVER_SERVING
};

enum server_news {
	SERVER_TOOK,   /* spans: a good answer */
	SERVER_WELL,   /* connected, not resting, and there is nothing to send */
	SERVER_FAILED, /* it rests, and its batches are back in the queue */
	SERVER_RESTED, /* its rest is over, and it is off */
	SERVER_IDLE    /* what came from it was dealt with */
};

static inline void server_set_timer(struct event *timer, int64_t ns)
{
	const struct timeval time = clock_timeval(ns);

	event_add(timer, &time);
}

struct server;

/* What all servers have in common; borrowed for their life. */
struct server_shared {
	struct event_base *base;
	struct queue *queue;
	const struct output_config *is;
	enum kind kind;           /* of the items */
	enum batch_format format; /* that the wire sends */
	struct ratelimit *rate;
	struct tls *tls;       /* NULL: plain TCP */
	struct proxy *proxy;   /* NULL: none */
	const char *way;       /* the words for that */
	const char *node;      /* whose weights choose among addresses; NULL: the system's order does */
	struct wanted *wanted; /* the traces that are wanted whole; NULL: nobody asks for any; */
	uint64_t number;       /* the output's there; */
	int64_t age_ns;        /* with a node: after about so long a link is replaced, wherever it leads */
	/* Something happened; the role may be changed from here. Called last of all. */
	void (*news)(struct server *server, enum server_news news, void *data);
	/* The rate allows nothing before @wait_ns are over: pump then. */
	void (*paced)(int64_t wait_ns, void *data);
	/* What the log is to say that is done when this server fails. */
	const char *(*then)(const struct server *server, void *data);
	void *data;
};

/* What is told and heard of wanted traces: asking.c. */
struct asking {
	struct wanted_reader reader; /* of what is told; */
	uint64_t heard;              /* what is before this was heard so long ago that it was passed on */
	uint64_t recent;             /* how far the reader was at an answer since, */
	int64_t recent_at;           /* at this time */
	uint64_t sent, answered;     /* calls on this link, */
	uint64_t from;               /* of which those since this one told and asked; 0: none did */
	int64_t deaf_at;             /* when it said nothing of traces, CLOCK_MONOTONIC ns; 0: never; */
	int64_t at;                  /* when it was asked last; the same */
	struct piece question;       /* the cargo of a call without spans: only its address matters */
};

struct server {
	const struct server_shared *shared;
	struct address address;
	char name[ADDRESS_TEXT];
	char label[ADDRESS_TEXT + PROXYURL_WAY + 64]; /* in the log */
	struct wire *wire;
	enum server_role role;
	struct link *link; /* NULL: between two tries */
	struct link *next; /* comes up to replace it; NULL: none does */
	bool next_up;      /* it is, and `link` gets no more calls */
	struct event *renewal;
	struct reached reached; /* by the link, once up */
	struct avoided avoided;
	bool up;
	bool answered;    /* on this link, so that it served before it ended */
	bool taking;      /* it took something on this link */
	uint32_t unended; /* so many answers in a row had no end */
	struct asking asking;
	struct delivery delivery;
	struct courtesy courtesy;
	struct backoff backoff;
	bool put_off;              /* asked to try later, while calls are open */
	int64_t put_off_ns;        /* for so long */
	unsigned put_off_failures; /* of the batch that was put off */
	bool took;                 /* since the last news */
	bool proving;              /* the deadline is that of a new link to show that it stays */
	struct event *deadline;
	struct health health;
	char refusal[256]; /* the latest */
};

/* A server of the output @output, whose name is copied. @wire becomes the server's. */
struct server *server_create(const struct server_shared *shared, const char *output,
	const struct address *address, struct wire *wire);

/* Gives open batches back to the queue. */
void server_destroy(struct server *server);

/* Does what the role asks for, as far as it can. */
void server_set_role(struct server *server, enum server_role role);

/* Connects, or sends what the window allows, if it is time to. */
void server_pump(struct server *server);

/* A link on the way to @server, for up to @window open calls: its own, and those of who else sends to it,
 * which lead to the same address (@beside), so that one of them says something of the other. */
struct link *server_link(
	const struct server *server, uint32_t window, bool beside, const struct link_handler *handler);

/* Whether its answers have no end: each costs a connection. */
bool server_is_endless(const struct server *server);

/* There may be new batches. */
void server_wake(struct server *server);

/* Asks an agent in its place which traces are wanted, if that is of use, and nothing else does: to be called
 * each second. */
void server_ask(struct server *server);

/* Rests are short from here on, as a stop has no time to sit them out. */
void server_hurry(struct server *server);

#endif
