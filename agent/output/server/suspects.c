/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/suspects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "queue/aside.h"

/* How much longer than a server's the rests of one may become that is proven to be guilty. */
#define REST_FACTOR 20

struct suspects {
	const struct server_shared *shared;
	struct server *server;    /* the one in use */
	struct server *tried;     /* the one that `link` leads to */
	struct delivery delivery; /* of one suspect */
	struct link *link;        /* NULL: between two tries */
	struct backoff backoff;
	struct event *deadline;
	uint32_t took;   /* good answers since the last bad one */
	bool untried;    /* since it was set aside */
	bool sure;       /* if the open call fails, it is due to its spans */
	bool rests;      /* the try is over */
	int64_t rest_ns; /* the server asks for so long */
	char error[256]; /* what is proven */
};

static void end_try(struct suspects *suspects)
{
	struct piece *piece;
	bool whole;

	if (!suspects->link)
		return;
	while ((piece = link_take_back(suspects->link, &whole))) {
		piece->sent_before |= whole;
		bisect_put_last(&suspects->delivery.bisect, piece);
	}
	link_destroy(suspects->link);
	suspects->link = NULL;
	event_del(suspects->deadline);
}

/* As a server's, until it is proven that the server works, and trying more often helps nobody. */
static void set_pace(struct suspects *suspects)
{
	const struct server_shared *shared = suspects->shared;
	bool proven = suspects->error[0];

	backoff_set_pace(&suspects->backoff, proven ? shared->is->retry_max : shared->is->retry_min,
		(proven ? REST_FACTOR : 1) * shared->is->retry_max);
}

static void rest(struct suspects *suspects)
{
	end_try(suspects);
	backoff_begin(&suspects->backoff, suspects->rest_ns);
	suspects->rests = false;
	suspects->rest_ns = 0;
}

/* Who asks for time gets no suspects before that is over, either. */
static bool is_asked(const struct suspects *suspects)
{
	const struct server *server = suspects->link ? suspects->tried : suspects->server;

	return backoff_is_asked(&server->backoff);
}

/* Judging */

static void prove(struct suspects *suspects, const char *why)
{
	if (!suspects->error[0])
		log_warning("output %s: the server takes other spans, but fails each time that certain ones "
			    "come (%s): these are set aside, and sent separately until the bad one is found",
			suspects->tried->label, why);
	g_strlcpy(suspects->error, why, sizeof(suspects->error));
	set_pace(suspects);
}

static void drop(struct suspects *suspects, struct piece *piece, const char *why)
{
	char words[300];

	snprintf(words, sizeof(words), "the server fails each time that this span comes: %s", why);
	delivery_drop(&suspects->delivery, piece, words);
	health_refused(&suspects->tried->health, 1, words);
}

/* The server failed on @piece. Others go first from here on. */
static void judge(struct suspects *suspects, struct piece *piece, const char *why)
{
	struct bisect *bisect = &suspects->delivery.bisect;
	bool sure = suspects->sure;

	suspects->took = 0;
	suspects->rests = true;
	if (sure)
		prove(suspects, why);
	if (sure && piece->count == 1 && ++piece->failures >= SUSPECTS_PROOFS) {
		drop(suspects, piece, why);
		return;
	}
	if (sure && piece->count > 1)
		bisect_put_last(bisect, piece_split(piece));
	bisect_put_last(bisect, piece);
}

/* Calls */

static void count_error(struct suspects *suspects, enum fault fault)
{
	if (fault_row(fault) != ACCOUNT_ROWS)
		account_add(queue_account(suspects->shared->queue), fault_row(fault), 1);
}

static bool send_next(struct suspects *suspects)
{
	struct piece *piece = delivery_take(&suspects->delivery, DELIVERY_BEGUN, 0);
	struct timeval time = clock_timeval(suspects->shared->is->timeout);
	struct run run;

	if (!piece)
		return false;
	delivery_sends(&suspects->delivery, piece);
	piece_run(piece, &run);
	ratelimit_spend(suspects->shared->rate, link_send(suspects->link, &run, piece), clock_monotonic());
	suspects->sure = suspects->took > 0 && !suspects->tried->health.failing &&
			 courtesy_takes_most(&suspects->tried->courtesy);
	suspects->untried = false;
	event_add(suspects->deadline, &time);
	return true;
}

static void try(struct suspects *suspects);

/* Takes the next suspect, when there is one. It waits for a good answer to others, or for a rest to be over.
 */
static void take_suspect(struct suspects *suspects)
{
	struct piece *piece = NULL;
	struct entry *entry;

	while (!piece && (entry = aside_take(suspects->shared->queue)))
		piece = delivery_add(&suspects->delivery, entry);
	if (!piece)
		return;
	bisect_put_last(&suspects->delivery.bisect, piece);
	suspects->error[0] = '\0';
	suspects->untried = true;
	set_pace(suspects);
	if (suspects->took > 0)
		try(suspects);
	else
		backoff_begin(&suspects->backoff, 0);
}

/* What is next, when nothing is open. */
static void go_on(struct suspects *suspects)
{
	if (delivery_empty(&suspects->delivery)) {
		end_try(suspects);
		suspects->rests = false;
		suspects->error[0] = '\0';
		take_suspect(suspects);
	} else if (suspects->rests) {
		rest(suspects);
	} else if (!suspects->link) {
		try(suspects);
	} else if (is_asked(suspects) || !send_next(suspects)) {
		rest(suspects); /* what is left waits for the server to take something */
	}
	suspects->shared->news(suspects->server, SERVER_IDLE, suspects->shared->data);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct suspects *suspects = arg;
	struct piece *piece;
	char why[64];
	bool whole;

	(void)fd;
	(void)what;
	snprintf(why, sizeof(why), "no answer within %g s", (double)suspects->shared->is->timeout / 1e9);
	piece = link_take_back(suspects->link, &whole);
	count_error(suspects, FAULT_NO_ANSWER);
	piece->sent_before |= whole;
	judge(suspects, piece, why);
	go_on(suspects);
}

static void take_good(struct suspects *suspects, struct piece *piece, const struct reply *reply)
{
	uint32_t lost = (uint32_t)MIN(reply->lost, piece->count);

	if (lost)
		health_refused(&suspects->tried->health, lost, reply->words);
	delivery_took(&suspects->delivery, piece, lost);
	backoff_connected(&suspects->backoff);
	backoff_good(&suspects->backoff, clock_monotonic());
	if (!is_asked(suspects))
		health_took(&suspects->tried->health);
}

static void take_put_off(struct suspects *suspects, struct piece *piece, const struct reply *reply)
{
	count_error(suspects, FAULT_TRY_LATER);
	suspects->rest_ns = reply->wait_ns;
	suspects->rests = true;
	if (reply->later)
		bisect_put_last(&suspects->delivery.bisect, piece);
	else
		judge(suspects, piece, reply->words);
}

static void on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data)
{
	struct suspects *suspects = data;

	event_del(suspects->deadline);
	if (kind == REPLY_GOOD) {
		take_good(suspects, cargo, reply);
		suspects->shared->news(suspects->tried, SERVER_TOOK, suspects->shared->data);
	} else if (kind == REPLY_REFUSED) {
		account_add(queue_account(suspects->shared->queue), OUTPUT_ERRORS_REFUSED, 1);
		if (delivery_refused(&suspects->delivery, cargo, reply->words))
			health_refused(&suspects->tried->health, 1, reply->words);
	} else {
		take_put_off(suspects, cargo, reply);
	}
}

/* The link */

static void on_up(void *data)
{
	go_on(data);
}

static void on_idle(void *data)
{
	struct suspects *suspects = data;

	if (link_open(suspects->link) == 0)
		go_on(suspects);
}

static void on_down(enum fault fault, const char *why, void *data)
{
	struct suspects *suspects = data;
	bool whole;
	struct piece *piece = link_take_back(suspects->link, &whole);

	if (fault != FAULT_NONE) {
		count_error(suspects, fault);
		suspects->rests = true;
	}
	if (piece) {
		piece->sent_before |= whole;
		judge(suspects, piece, why);
	}
	end_try(suspects);
	go_on(suspects);
}

static void try(struct suspects *suspects)
{
	struct link_handler handler = {on_up, on_answered, on_idle, on_down, suspects};

	if (is_asked(suspects)) {
		rest(suspects);
		return;
	}
	backoff_end(&suspects->backoff);
	suspects->tried = suspects->server;
	suspects->link = server_link(suspects->tried, 1, true, &handler);
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	try(arg);
}

/* For the uplink */

void suspects_use(struct suspects *suspects, struct server *server)
{
	suspects->server = server;
	if (delivery_empty(&suspects->delivery) && !suspects->link)
		take_suspect(suspects);
}

void suspects_others_took(struct suspects *suspects)
{
	suspects->took++;
	bisect_took(&suspects->delivery.bisect);
	/* Most suspects are innocent: it was the server, which works again. */
	if (suspects->untried && suspects->backoff.on)
		try(suspects);
}

void suspects_others_failed(struct suspects *suspects)
{
	suspects->took = 0;
}

void suspects_read_state(const struct suspects *suspects, struct suspects_state *state)
{
	const struct parcel *parcel;

	state->spans = aside_spans(suspects->shared->queue);
	TAILQ_FOREACH(parcel, &suspects->delivery.parcels, link)
	state->spans += parcel->left;
	g_strlcpy(state->error, suspects->error, sizeof(state->error));
}

struct suspects *suspects_create(const struct server_shared *shared, struct server *server)
{
	struct suspects *suspects = memory_get(sizeof(*suspects));

	suspects->shared = shared;
	suspects->server = server;
	delivery_init(&suspects->delivery, shared->queue, shared->format);
	backoff_init(&suspects->backoff, shared->base, on_rested, suspects);
	set_pace(suspects);
	suspects->deadline = evtimer_new(shared->base, on_deadline, suspects);
	if (!suspects->deadline)
		g_error("out of memory");
	return suspects;
}

void suspects_destroy(struct suspects *suspects)
{
	end_try(suspects);
	delivery_give_back(&suspects->delivery);
	backoff_free(&suspects->backoff);
	event_free(suspects->deadline);
	free(suspects);
}
