/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A fake collector that speaks HTTP on loopback, in the loop of the test: it checks requests strictly,
 * unpacks what they bring, and answers with the bytes that it is told to. For spans that begin with "span "
 * and are no Thrift.
 */
#ifndef WEBPEER_H
#define WEBPEER_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>
#include <glib.h>

#include "net/squeeze.h"

struct webpeer {
	struct event_base *base;
	/* To be set by the test; good at any time. */
	const char *const *answers; /* to the requests in turn; the last, before the NULL, stays */
	const char *refusal;        /* to a request with a span that is bad */
	bool (*bad)(const char *span);
	const char *path;
	const char *host;   /* NULL: its own address */
	const char *header; /* that each request must have; NULL: any */
	enum squeeze_kind compression;
	bool lingers; /* what it said it closes stays open */
	bool early;   /* answer when the head is there, and close */
	/* What happened. */
	unsigned int connections, requests, refused;
	unsigned int open_max; /* requests that came in one piece */
	GPtrArray *taken;      /* the spans of requests whose answer begins with "HTTP/1.1 2" */
	/* Its own. */
	unsigned int next;
	uint16_t port;
	struct evconnlistener *listener;
	GList *clients;
};

#define WEB_GOOD "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"

struct webpeer *webpeer_create(struct event_base *base);
void webpeer_destroy(struct webpeer *peer);

/* Says this on all connections, whether it was asked or not, and goes on as after an answer. */
void webpeer_say(struct webpeer *peer, const char *answer);

/* Sets what it answers from here on. */
void webpeer_set_answers(struct webpeer *peer, const char *const *answers);

#endif
