/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe of one server: a link with one call. */
#include "output/uplink/probe.h"
#include "output/server/servers.h"

#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "config/outputtype.h"
#include "output/server/link.h"

/* What the limit of all exceeds that of each part by. */
#define MORE_NS(timeout) MIN((timeout) / 10, 250 * NS_PER_MS)

/* So long the end of an answer is waited for that has begun. */
#define PATIENCE_NS (1 * NS_PER_SECOND)

struct serverprobe {
	struct probe probe;
	struct address address;
	char server[ADDRESS_TEXT];
	int64_t timeout_ns;
	struct wire *wire;
	struct tls *tls;
	struct proxy *proxy;
	struct link *link;
	bool up;
};

static void on_up(void *data)
{
	struct serverprobe *probe = data;

	probe->up = true;
	link_send(probe->link, probe->probe.run, probe);
}

static void on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data)
{
	struct serverprobe *probe = data;

	(void)cargo;
	probe->probe.result.unended = reply->unended;
	probe_end(&probe->probe,
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
	probe_end(data, PROBE_FAILED, fault, why);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct serverprobe *probe = data;
	char why[64];

	(void)fd;
	(void)what;
	if (link_take_rest(probe->link))
		return;
	snprintf(why, sizeof(why), "no %s within %g s", probe->up ? "answer" : "connection",
		(double)probe->timeout_ns / 1e9);
	probe_end(&probe->probe, PROBE_FAILED, probe->up ? FAULT_NO_ANSWER : FAULT_CONNECT_TIMEOUT, why);
}

static void destroy(struct probe *owned)
{
	struct serverprobe *probe = (struct serverprobe *)owned;
	bool whole;

	while (link_take_back(probe->link, &whole))
		;
	link_destroy(probe->link);
	probe->wire->destroy(probe->wire);
	tls_free(probe->tls);
	proxy_free(probe->proxy);
	free(probe);
}

static struct probe *create(struct event_base *base, const struct uplink_options *options,
	const struct address *address, const struct run *run)
{
	struct serverprobe *probe = memory_get(sizeof(*probe));
	struct link_handler handler = {on_up, on_answered, on_idle, on_down, probe};
	struct link_options link = {.window = 1, .patience_ns = PATIENCE_NS};
	const struct output_config *is = options->is;

	probe->probe.destroy = destroy;
	probe_init(&probe->probe, base, run, is->timeout + MORE_NS(is->timeout), on_deadline);
	probe->address = *address;
	probe->timeout_ns = is->timeout;
	address_print(address, probe->server);
	probe->probe.result.server = probe->server;
	probe->wire = uplink_types[is->type]->wire(options, address);
	/* with files that do not do it is the connection that says so */
	uplink_create_tls(options, &probe->tls);
	probe->proxy = proxy_create(is->proxy, is->proxy_secret_file);
	link.connection = (struct connection_options){.address = &probe->address,
		.timeout_ns = is->timeout,
		.tls = probe->tls,
		.proxy = probe->proxy};
	probe->link = link_create(base, &link, probe->wire, &handler);
	return &probe->probe;
}

size_t serverprobe_begin(struct event_base *base, const struct uplink_options *options, const struct run *run,
	struct probe *probes[ADDRESSES_MAX])
{
	struct address addresses[ADDRESSES_MAX];
	size_t count = output_servers(options->is, addresses);

	for (size_t i = 0; i < count; i++)
		probes[i] = create(base, options, &addresses[i], run);
	return count;
}
