/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answers to `blkin tail`, which have no end: spans as they come, while the other side listens. One that
 * does not take them in time gets fewer, and is told how many it has missed. All together take no more than a
 * fixed share of the agent's time.
 */
#ifndef STATUS_TAILS_H
#define STATUS_TAILS_H

#include <event2/event.h>
#include <event2/http.h>

#include "supervise/subscribers.h"

struct tails;

/* @subscribers is borrowed. */
struct tails *tails_create(struct event_base *base, struct subscribers *subscribers);

/* Begins an answer to @request; returns NULL, or why not, as a sentence without an end: it is to be answered
 * otherwise. */
const char *tails_answer(struct tails *tails, struct evhttp_request *request, const char *query);

/* To be called once the server that has the requests is freed. */
void tails_destroy(struct tails *tails);

#endif
