/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/lookup.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include <event2/dns.h>
#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"

/* A question under way. Its answer may come after the look-up is gone, so it has a life of its own. */
struct question {
	struct lookup *owner; /* NULL: gone */
};

struct lookup {
	struct event_base *base;
	char host[256];
	char port[8];
	struct timeval timeout;
	const char *resolv_conf;
	lookup_done *done;
	void *data;
	struct event *step; /* to begin, and to tell after the answer or the deadline */
	struct evdns_base *dns;
	struct question *question; /* NULL: none under way */
	bool answered;
	struct evutil_addrinfo *addresses;
	char why[320];
};

static void on_answer(int error, struct evutil_addrinfo *addresses, void *arg)
{
	struct question *question = arg;
	struct lookup *lookup = question->owner;

	free(question);
	if (!lookup) {
		if (addresses)
			evutil_freeaddrinfo(addresses);
		return;
	}
	lookup->question = NULL;
	lookup->answered = true;
	lookup->addresses = addresses;
	if (error)
		snprintf(lookup->why, sizeof(lookup->why), "no address for %s: %s", lookup->host,
			error == EVUTIL_EAI_NONAME ? "the name is not known" : evutil_gai_strerror(error));
	/* Not from here: what follows may end the resolver that is calling us. */
	event_active(lookup->step, EV_TIMEOUT, 1);
}

static void ask(struct lookup *lookup)
{
	struct evutil_addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = EVUTIL_AI_NUMERICSERV};

	lookup->question = memory_get(sizeof(*lookup->question));
	lookup->question->owner = lookup;
	lookup->dns = evdns_base_new(lookup->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!lookup->dns) {
		on_answer(EVUTIL_EAI_MEMORY, NULL, lookup->question);
		return;
	}
	/* Without a resolv.conf it asks the local host, as the C library does. */
	evdns_base_resolv_conf_parse(
		lookup->dns, DNS_OPTIONS_ALL, lookup->resolv_conf ? lookup->resolv_conf : "/etc/resolv.conf");
	/* Some servers never answer about IPv6: with an IPv4 address at hand that is no reason to wait long.
	 */
	evdns_base_set_option(lookup->dns, "getaddrinfo-allow-skew:", "0.3");
	evdns_getaddrinfo(lookup->dns, lookup->host, lookup->port, &hints, on_answer, lookup->question);
	if (lookup->question)
		event_add(lookup->step, &lookup->timeout);
}

static void stop_asking(struct lookup *lookup)
{
	if (lookup->question)
		lookup->question->owner = NULL;
	lookup->question = NULL;
	if (lookup->dns)
		evdns_base_free(lookup->dns, 1);
	lookup->dns = NULL;
}

/* An address in digits needs no resolver. */
static bool read_digits(struct lookup *lookup)
{
	struct evutil_addrinfo hints = {.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = EVUTIL_AI_NUMERICHOST | EVUTIL_AI_NUMERICSERV};

	return evutil_getaddrinfo(lookup->host, lookup->port, &hints, &lookup->addresses) == 0;
}

static void tell(struct lookup *lookup)
{
	struct evutil_addrinfo *addresses = lookup->addresses;

	lookup->addresses = NULL;
	lookup->done(addresses, addresses ? NULL : lookup->why, lookup->data);
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *lookup = arg;

	(void)fd;
	(void)what;
	if (lookup->question) {
		snprintf(lookup->why, sizeof(lookup->why), "no answer from DNS about %s", lookup->host);
		stop_asking(lookup);
		tell(lookup);
	} else if (lookup->answered || read_digits(lookup)) {
		stop_asking(lookup);
		tell(lookup);
	} else {
		ask(lookup);
	}
}

struct lookup *lookup_create(struct event_base *base, const char *host, uint16_t port, int64_t timeout_ns,
	const char *resolv_conf, lookup_done *done, void *data)
{
	struct lookup *lookup = memory_get(sizeof(*lookup));

	lookup->base = base;
	g_strlcpy(lookup->host, host, sizeof(lookup->host));
	snprintf(lookup->port, sizeof(lookup->port), "%u", port);
	lookup->timeout.tv_sec = timeout_ns / NS_PER_SECOND;
	lookup->timeout.tv_usec = timeout_ns % NS_PER_SECOND / 1000;
	lookup->resolv_conf = resolv_conf;
	lookup->done = done;
	lookup->data = data;
	lookup->step = evtimer_new(base, on_step, lookup);
	if (!lookup->step)
		g_error("out of memory");
	event_active(lookup->step, EV_TIMEOUT, 1);
	return lookup;
}

void lookup_destroy(struct lookup *lookup)
{
	if (!lookup)
		return;
	stop_asking(lookup);
	if (lookup->addresses)
		evutil_freeaddrinfo(lookup->addresses);
	event_free(lookup->step);
	free(lookup);
}
