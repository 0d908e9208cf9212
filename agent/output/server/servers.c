/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers of which one gets the spans: in the order of preference. */

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/rendezvous.h"
#include "config/outputtype.h"
#include "output/server/server.h"
#include "output/server/servers.h"
#include "output/server/suspects.h"
#include "output/uplink/ratelimit.h"

/* About so long a connection lasts, where nodes share servers out among them: by then they have noticed
 * addresses that a name has got. */
#define AGE_NS (600 * NS_PER_SECOND)

struct servers {
	struct uplink uplink;
	struct server_shared shared;
	struct server *servers[ADDRESSES_MAX];
	struct suspects *suspects;
	size_t count;
	size_t serving;          /* index of the server in use */
	struct event *returning; /* time to try those that come before it */
	struct event *paced;     /* when a limit of the rate allows more: */
	int64_t paced_at;        /* then, CLOCK_MONOTONIC ns, if it is pending */
	struct event *drained_event;
	struct ratelimit rate;
	char way[PROXYURL_WAY]; /* to all of them */
	char *node;             /* NULL: servers are in the order of the configuration */
	void (*drained)(void *data);
	void *drained_data;
};

/* Called from the loop, so that it may destroy the uplink. */
static void check_drained(struct servers *uplink)
{
	if (uplink->drained && queue_done(uplink->shared.queue))
		event_active(uplink->drained_event, EV_TIMEOUT, 1);
}

static void on_drained(evutil_socket_t fd, short what, void *arg)
{
	struct servers *uplink = arg;
	void (*drained)(void *data) = uplink->drained;

	(void)fd;
	(void)what;
	uplink->drained = NULL;
	if (drained)
		drained(uplink->drained_data);
}

/* Which server */

static size_t index_of(const struct servers *uplink, const struct server *server)
{
	size_t i = 0;

	while (uplink->servers[i] != server)
		i++;
	return i;
}

static bool may_serve(const struct server *server)
{
	return !server->backoff.on || server->backoff.wake_ends;
}

/* Varies the interval, so that the agents of a cluster do not all come back at once. */
static void plan_return(struct servers *uplink)
{
	if (uplink->serving > 0)
		server_set_timer(uplink->returning,
			(int64_t)((0.5 + g_random_double()) * (double)uplink->shared.is->return_interval));
	else
		event_del(uplink->returning);
}

static void serve_by(struct servers *uplink, size_t index)
{
	size_t before = uplink->serving;

	uplink->serving = index;
	for (size_t i = 0; i < uplink->count; i++)
		if (i != index && i != before)
			server_set_role(uplink->servers[i], SERVER_OFF);
	if (before != index)
		server_set_role(uplink->servers[before], SERVER_RETIRING);
	plan_return(uplink);
	server_set_role(uplink->servers[index], SERVER_SERVING);
}

/* After a failure, the first server that is not waiting takes over; if all wait, the current one stays. */
static void replace(struct servers *uplink)
{
	size_t i = 0;

	if (may_serve(uplink->servers[uplink->serving]))
		return;
	while (i < uplink->count && !may_serve(uplink->servers[i]))
		i++;
	if (i < uplink->count)
		serve_by(uplink, i);
	else if (uplink->servers[uplink->serving]->courtesy.busy)
		queue_set_busy(uplink->shared.queue);
	else
		queue_set_delivering(uplink->shared.queue, false);
}

/*
 * Tries the first server from @index on that is preferred to the one in use, and did not ask for a wait; if
 * there is none, later.
 */
static void try_preferred(struct servers *uplink, size_t index)
{
	while (index < uplink->serving && backoff_is_asked(&uplink->servers[index]->backoff))
		index++;
	if (index >= uplink->serving) {
		plan_return(uplink);
		return;
	}
	backoff_end(&uplink->servers[index]->backoff);
	server_set_role(uplink->servers[index], SERVER_TRIAL);
}

static void on_returning(evutil_socket_t fd, short what, void *arg)
{
	struct servers *uplink = arg;

	(void)fd;
	(void)what;
	for (size_t i = 0; i < uplink->serving; i++)
		if (uplink->servers[i]->role == SERVER_TRIAL)
			return;
	try_preferred(uplink, 0);
}

static void on_failed(struct servers *uplink, struct server *server)
{
	size_t index = index_of(uplink, server);
	bool trial = server->role == SERVER_TRIAL;

	if (index == uplink->serving) {
		replace(uplink);
		return;
	}
	server_set_role(server, SERVER_OFF);
	if (trial)
		try_preferred(uplink, index + 1);
	server_pump(uplink->servers[uplink->serving]); /* including what this one gave back */
}

/* The servers' */

static void on_news(struct server *server, enum server_news news, void *data)
{
	struct servers *uplink = data;

	switch (news) {
	case SERVER_TOOK:
		if (server->role == SERVER_TRIAL || may_serve(uplink->servers[uplink->serving]))
			queue_set_delivering(uplink->shared.queue, true);
		suspects_others_took(uplink->suspects);
		if (server->role == SERVER_TRIAL)
			serve_by(uplink, index_of(uplink, server));
		break;
	case SERVER_WELL:
		queue_set_delivering(uplink->shared.queue, true);
		break;
	case SERVER_FAILED:
		suspects_others_failed(uplink->suspects);
		on_failed(uplink, server);
		break;
	case SERVER_RESTED:
		replace(uplink);
		break;
	case SERVER_IDLE:
		break;
	}
	suspects_use(uplink->suspects, uplink->servers[uplink->serving]);
	check_drained(uplink);
}

static void on_pace_wanted(int64_t wait_ns, void *data)
{
	struct servers *uplink = data;
	int64_t at = clock_monotonic() + wait_ns;

	if (event_pending(uplink->paced, EV_TIMEOUT, NULL) && at >= uplink->paced_at)
		return;
	uplink->paced_at = at;
	server_set_timer(uplink->paced, wait_ns);
}

static const char *what_then(const struct server *server, void *data)
{
	static const char *const next[KINDS] = {"spans go to the next server", "events go to the next server",
		"messages go to the next server"};
	const struct servers *uplink = data;

	for (size_t i = 0; i < uplink->count; i++)
		if (uplink->servers[i] != server && may_serve(uplink->servers[i]))
			return next[uplink->shared.kind];
	return health_waits(uplink->shared.kind);
}

/* Servers on trial come first, so that these batches test them. */
static void pump(struct servers *uplink)
{
	for (size_t i = 0; i < uplink->count; i++)
		if (uplink->servers[i]->role != SERVER_OFF)
			server_wake(uplink->servers[i]);
}

static void on_paced(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	pump(arg);
}

/* For the owner of the uplink */

static void wake(struct uplink *owned)
{
	struct servers *uplink = (struct servers *)owned;

	pump(uplink);
	suspects_use(uplink->suspects, uplink->servers[uplink->serving]);
	check_drained(uplink);
}

/* A stop has no time for long waits. */
static void when_drained(struct uplink *owned, void (*done)(void *data), void *data)
{
	struct servers *uplink = (struct servers *)owned;

	uplink->drained = done;
	uplink->drained_data = data;
	for (size_t i = 0; i < uplink->count; i++)
		server_hurry(uplink->servers[i]);
	check_drained(uplink);
}

static void read_state(const struct uplink *owned, struct uplink_state *state)
{
	const struct servers *uplink = (const struct servers *)owned;
	const struct uplink_server_state *serving = &state->servers[uplink->serving];

	memset(state, 0, sizeof(*state));
	state->server_count = (uint32_t)uplink->count;
	for (size_t i = 0; i < uplink->count; i++) {
		const struct server *server = uplink->servers[i];
		struct uplink_server_state *one = &state->servers[i];

		one->server = server->name;
		health_read(&server->health, one);
		one->serving = i == uplink->serving;
		one->asked = server->backoff.asked;
		one->endless = server_is_endless(server);
		one->up = server->up && !server->health.error[0];
		state->calls_open += server->link ? link_open(server->link) : 0;
	}
	state->up = serving->up;
	state->node = uplink->node;
	if (uplink->node && uplink->servers[uplink->serving]->up)
		state->reached = uplink->servers[uplink->serving]->reached;
	suspects_read_state(uplink->suspects, &state->suspects);
	if (uplink->shared.tls)
		g_strlcpy(state->tls_outdated, tls_outdated(uplink->shared.tls), sizeof(state->tls_outdated));
	state->type = output_type_of(uplink->shared.is)->name;
	state->server = serving->server;
	memcpy(state->error, serving->error, sizeof(state->error));
}

static void destroy(struct uplink *owned)
{
	struct servers *uplink = (struct servers *)owned;

	suspects_destroy(uplink->suspects);
	/* The server in use gives back first: it has the youngest batches. */
	server_destroy(uplink->servers[uplink->serving]);
	for (size_t i = 0; i < uplink->count; i++)
		if (i != uplink->serving)
			server_destroy(uplink->servers[i]);
	event_free(uplink->paced);
	event_free(uplink->returning);
	event_free(uplink->drained_event);
	output_config_unref(uplink->shared.is);
	tls_free(uplink->shared.tls);
	proxy_free(uplink->shared.proxy);
	wanted_unref(uplink->shared.wanted);
	g_free(uplink->node);
	g_free(uplink);
}

static void ask(struct uplink *owned)
{
	struct servers *uplink = (struct servers *)owned;

	server_ask(uplink->servers[uplink->serving]);
}

static const struct uplink_kind kind = {
	.destroy = destroy,
	.wake = wake,
	.ask = ask,
	.when_drained = when_drained,
	.read_state = read_state,
};

/* From the options */

static void create_servers(
	struct servers *uplink, const struct uplink_options *options, const struct address *addresses)
{
	uplink->paced = evtimer_new(uplink->shared.base, on_paced, uplink);
	uplink->returning = evtimer_new(uplink->shared.base, on_returning, uplink);
	uplink->drained_event = evtimer_new(uplink->shared.base, on_drained, uplink);
	if (!uplink->paced || !uplink->returning || !uplink->drained_event)
		g_error("out of memory");
	for (size_t i = 0; i < uplink->count; i++)
		uplink->servers[i] = server_create(&uplink->shared, options->name, &addresses[i],
			uplink_types[options->is->type]->wire(options, &addresses[i]));
	uplink->suspects = suspects_create(&uplink->shared, uplink->servers[0]);
}

struct uplink *servers_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options)
{
	const struct output_config *is = options->is;
	struct address addresses[ADDRESSES_MAX];
	size_t count = output_servers(is, addresses);
	struct servers *uplink;
	struct tls *tls;

	if (count == 0) {
		log_error("[%s]: `server = %s` is not HOST:PORT", is->section, is->server);
		return NULL;
	}
	if (!uplink_create_tls(options, &tls))
		return NULL;
	uplink = g_new0(struct servers, 1);
	uplink->uplink.kind = &kind;
	uplink->count = count;
	uplink->node = g_strdup(options->node);
	if (uplink->node)
		rendezvous_sort(uplink->node, addresses, count);
	uplink->rate.limit = is->rate_limit;
	proxyurl_way(is->proxy, uplink->way);
	uplink->shared = (struct server_shared){
		.base = base,
		.queue = queue,
		.is = output_config_ref(is),
		.kind = options->kind,
		.format = uplink_format(is, options->kind),
		.rate = &uplink->rate,
		.tls = tls,
		.proxy = proxy_create(is->proxy, is->proxy_secret_file),
		.way = uplink->way,
		.node = uplink->node,
		.wanted = wanted_ref(options->wanted),
		.number = options->number,
		.age_ns = options->age_ns ? options->age_ns : AGE_NS,
		.news = on_news,
		.paced = on_pace_wanted,
		.then = what_then,
		.data = uplink,
	};
	create_servers(uplink, options, addresses);
	server_set_role(uplink->servers[0], SERVER_SERVING);
	return &uplink->uplink;
}
