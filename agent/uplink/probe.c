/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/probe.h"

#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "uplink/link.h"

/* What the limit of all exceeds that of each part by. */
#define MORE_NS(timeout) MIN((timeout) / 10, 250 * NS_PER_MS)

/* So long the end of an answer is waited for that has begun. */
#define PATIENCE_NS (1 * NS_PER_SECOND)

struct probe {
	struct address address;
	char server[ADDRESS_TEXT];
	int64_t timeout_ns, started;
	const struct run *run;
	struct wire *wire;
	struct proxy *proxy;
	struct link *link;
	struct event *deadline;
	bool up;
	struct probe_result result;
	void (*ended)(void *data);
	void *data;
};

/* The first end counts. */
static void end(struct probe *probe, enum probe_end how, enum fault fault, const char *words)
{
	struct probe_result *result = &probe->result;

	if (result->end != PROBE_OPEN)
		return;
	result->end = how;
	result->fault = fault;
	result->took_ns = clock_monotonic() - probe->started;
	g_strlcpy(result->words, words, sizeof(result->words));
	event_del(probe->deadline);
	probe->ended(probe->data);
}

static void on_up(void *data)
{
	struct probe *probe = data;

	probe->up = true;
	link_send(probe->link, probe->run, probe);
}

static void on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data)
{
	struct probe *probe = data;

	(void)cargo;
	probe->result.unended = reply->unended;
	end(probe,
		/* of one span it may say that it took the call, and threw away the span */
		kind == REPLY_GOOD      ? reply->lost ? PROBE_REFUSED : PROBE_ACCEPTED
		: kind == REPLY_REFUSED ? PROBE_REFUSED
					: PROBE_LATER,
		FAULT_NONE, reply->words);
}

static void on_idle(void *data)
{
	(void)data;
}

static void on_down(enum fault fault, const char *why, void *data)
{
	end(data, PROBE_FAILED, fault, why);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct probe *probe = data;
	char why[64];

	(void)fd;
	(void)what;
	if (link_take_rest(probe->link))
		return;
	snprintf(why, sizeof(why), "no %s within %g s", probe->up ? "answer" : "connection",
		(double)probe->timeout_ns / 1e9);
	end(probe, PROBE_FAILED, probe->up ? FAULT_NO_ANSWER : FAULT_CONNECT_TIMEOUT, why);
}

struct probe *probe_create(struct event_base *base, const struct uplink_options *options,
	const struct address *address, struct tls *tls, const struct run *run)
{
	struct probe *probe = memory_get(sizeof(*probe));
	struct link_handler handler = {on_up, on_answered, on_idle, on_down, probe};
	struct timeval time = clock_timeval(options->timeout_ns + MORE_NS(options->timeout_ns));
	struct link_options link = {.window = 1, .patience_ns = PATIENCE_NS};

	probe->address = *address;
	probe->timeout_ns = options->timeout_ns;
	probe->run = run;
	probe->started = clock_monotonic();
	address_print(address, probe->server);
	probe->result.server = probe->server;
	probe->wire = uplink_create_wire(options, address);
	probe->proxy = proxy_create(options->proxy, options->proxy_secret_file);
	probe->deadline = evtimer_new(base, on_deadline, probe);
	if (!probe->deadline)
		g_error("out of memory");
	event_add(probe->deadline, &time);
	link.connection = (struct connection_options){.address = &probe->address,
		.timeout_ns = options->timeout_ns,
		.tls = tls,
		.proxy = probe->proxy};
	probe->link = link_create(base, &link, probe->wire, &handler);
	return probe;
}

void probe_on_end(struct probe *probe, void (*ended)(void *data), void *data)
{
	probe->ended = ended;
	probe->data = data;
}

const struct probe_result *probe_result(const struct probe *probe)
{
	return &probe->result;
}

void probe_destroy(struct probe *probe)
{
	bool whole;

	while (link_take_back(probe->link, &whole))
		;
	link_destroy(probe->link);
	event_free(probe->deadline);
	probe->wire->destroy(probe->wire);
	proxy_free(probe->proxy);
	free(probe);
}
