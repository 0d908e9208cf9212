/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/lookup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "net/question.h"

/*
 * Some name servers never answer queries for IPv6, and the C library waits long for them. After this time the
 * look-up also asks for IPv4 alone, and takes the first answer.
 */
#define BOTH_NS (500 * NS_PER_MS)

struct lookup {
	char host[256];
	char port[8];
	int64_t timeout_ns;
	lookup_done *done;
	void *data;
	struct event *timer;    /* for the start, for asking for IPv4 alone, and for giving up */
	struct event *answered; /* activated when a question is answered */
	struct question *both;  /* for IPv6 and IPv4; NULL: not asked, or ended */
	struct question *ipv4;  /* for IPv4 alone; the same */
	bool alone;             /* it has asked for IPv4 alone */
};

static void set_timer(struct lookup *lookup, int64_t ns)
{
	struct timeval time = clock_timeval(ns);

	event_add(lookup->timer, &time);
}

static void end_questions(struct lookup *lookup)
{
	question_end(lookup->both);
	question_end(lookup->ipv4);
	lookup->both = lookup->ipv4 = NULL;
}

static void tell(struct lookup *lookup, struct addrinfo *addresses)
{
	event_del(lookup->timer);
	end_questions(lookup);
	lookup->done(addresses, NULL, lookup->data);
}

static void tell_failure(struct lookup *lookup, const char *reason)
{
	char why[640];

	snprintf(why, sizeof(why), "no address for %s: %s", lookup->host, reason);
	event_del(lookup->timer);
	end_questions(lookup);
	lookup->done(NULL, why, lookup->data);
}

static void on_answered(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *lookup = arg;
	struct addrinfo *addresses = NULL;
	char why[300];

	(void)fd;
	(void)what;
	if (lookup->ipv4 && question_answer(lookup->ipv4, &addresses, why, sizeof(why))) {
		question_end(lookup->ipv4);
		lookup->ipv4 = NULL;
	}
	if (addresses)
		tell(lookup, addresses);
	else if (!lookup->both || !question_answer(lookup->both, &addresses, why, sizeof(why)))
		return;
	else if (addresses)
		tell(lookup, addresses);
	else
		tell_failure(lookup, why);
}

/* A numeric address needs no name server. */
static bool read_digits(const struct lookup *lookup, struct addrinfo **addresses)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};

	return getaddrinfo(lookup->host, lookup->port, &hints, addresses) == 0;
}

static void begin(struct lookup *lookup)
{
	struct addrinfo *addresses;

	if (read_digits(lookup, &addresses)) {
		tell(lookup, addresses);
		return;
	}
	lookup->both = question_ask(lookup->host, lookup->port, AF_UNSPEC, lookup->answered);
	if (lookup->both)
		set_timer(lookup, MIN(BOTH_NS, lookup->timeout_ns));
	else
		tell_failure(lookup, "cannot start a thread to ask for it");
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *lookup = arg;
	char why[64];

	(void)fd;
	(void)what;
	if (!lookup->both) {
		begin(lookup);
	} else if (!lookup->alone && lookup->timeout_ns > BOTH_NS) {
		lookup->alone = true;
		lookup->ipv4 = question_ask(lookup->host, lookup->port, AF_INET, lookup->answered);
		set_timer(lookup, lookup->timeout_ns - BOTH_NS);
	} else {
		snprintf(why, sizeof(why), "the name service does not answer within %g s",
			(double)lookup->timeout_ns / 1e9);
		tell_failure(lookup, why);
	}
}

struct lookup *lookup_create(struct event_base *base, const struct address *address, int64_t timeout_ns,
	lookup_done *done, void *data)
{
	struct lookup *lookup = memory_get(sizeof(*lookup));

	g_strlcpy(lookup->host, address->host, sizeof(lookup->host));
	snprintf(lookup->port, sizeof(lookup->port), "%u", address->port);
	lookup->timeout_ns = timeout_ns;
	lookup->done = done;
	lookup->data = data;
	lookup->timer = evtimer_new(base, on_timer, lookup);
	lookup->answered = event_new(base, -1, 0, on_answered, lookup);
	if (!lookup->timer || !lookup->answered)
		g_error("out of memory");
	event_active(lookup->timer, EV_TIMEOUT, 1);
	return lookup;
}

void lookup_destroy(struct lookup *lookup)
{
	if (!lookup)
		return;
	end_questions(lookup);
	event_free(lookup->timer);
	event_free(lookup->answered);
	free(lookup);
}
