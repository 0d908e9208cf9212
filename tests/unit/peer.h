/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fake Scribe server on loopback, in the loop of the test: takes calls, and answers them as it is told to,
 * well or badly. It remembers what it took.
 */
#ifndef PEER_H
#define PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>
#include <glib.h>
#include <openssl/ssl.h>

#include "core/traceid.h"

/* What to do with a call. */
enum peer_act {
	PEER_OK,
	PEER_OLD_OK, /* in a header without version */
	PEER_TRY_LATER,
	PEER_EXCEPTION, /* "no room for <the call's number>" */
	PEER_BAD_SPAN,  /* an exception too: "bad span <what it is>" */
	PEER_SILENT,
	PEER_CLOSE,
	PEER_HALF_AND_HANG, /* half of the reply */
	PEER_HALF_AND_CLOSE,
	PEER_GARBAGE,
	PEER_TEXT, /* in a frame, as Zipkin does */
	PEER_HTTP,
	PEER_WRONG_SEQID,
	PEER_TWICE, /* the same reply */
};

struct peer {
	struct event_base *base;
	/* To be set by the test; good at any time. */
	const enum peer_act *acts; /* for the calls in turn, over all connections; the last stays */
	size_t act_count;
	bool (*bad)(
		const char *span); /* a call with such a span is refused: PEER_BAD_SPAN; NULL: none is bad */
	enum peer_act bad_act;     /* what such a call gets, unless 0; it is not taken */
	int delay_ms;              /* between two answers */
	size_t close_after;        /* bytes of a connection, unless 0 */
	bool hears;                /* it says which traces are wanted, to whom asks: */
	const struct trace_id *says; /* these, */
	size_t says_count;
	bool answer_early; /* before the call is there as a whole */
	SSL_CTX *tls;      /* speak it; NULL: plain TCP */
	bool tls_renews;   /* it wants other keys before each answer */
	/* What happened. */
	unsigned int connections, calls, open_max, refused, replayed, asked;
	GArray *told;         /* struct trace_id: of wanted traces, in order */
	GPtrArray *taken;     /* the spans of calls that were answered OK, or not at all, in order */
	GHashTable *counts;   /* span to how often it was taken */
	GArray *connected_at; /* of each connection, CLOCK_MONOTONIC ns */
	/* Its own. */
	const char *address;
	uint16_t port;
	struct evconnlistener *listener;
	GList *clients;
};

/* Listens on @address, on a port that is free, and answers each call with OK. */
struct peer *peer_create(struct event_base *base, const char *address);

/* The same on that port. */
struct peer *peer_create_on(struct event_base *base, const char *address, uint16_t port);
void peer_destroy(struct peer *peer);

/* Sets what it does from here on. @acts is borrowed. */
void peer_set_acts(struct peer *peer, const enum peer_act *acts, size_t count);

/* Closes the port and all connections; and opens the port again. */
void peer_stop(struct peer *peer);
void peer_start(struct peer *peer);

/* Closes the connections only. */
void peer_hang_up(struct peer *peer);

/* How often a span was taken. */
unsigned int peer_count(struct peer *peer, const char *span);

#endif
