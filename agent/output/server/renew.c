/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Replaces a server's link that is old, or that leads elsewhere than this node prefers. The next one comes up
 * while the old one serves. Then the old one gets no more calls, and once all that it has are answered, the
 * next one gets them: nothing is sent twice, and the pause is no longer than those answers take.
 */
#include "output/server/parts.h"

#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"

/* At random, so that the agents of a cluster do not all come back at once. */
static int64_t until_return(const struct server *server)
{
	return (int64_t)(g_random_double_range(0.5, 1.5) * (double)server->shared->is->return_interval);
}

void server_plan_renewal(struct server *server)
{
	if (!server->shared->node)
		return;
	link_reached(server->link, &server->reached);
	/* one that was avoided was not tried */
	if (server->reached.rank > 0 && !*server->reached.why)
		g_strlcpy(server->reached.why, server->health.last, sizeof(server->reached.why));
	server_set_timer(server->renewal,
		server->reached.rank > 0
			? until_return(server)
			: (int64_t)(g_random_double_range(0.8, 1.2) * (double)server->shared->age_ns));
}

static void drop_next(struct server *server)
{
	link_destroy(server->next);
	server->next = NULL;
	server->next_up = false;
}

void server_end_renewal(struct server *server)
{
	drop_next(server);
	event_del(server->renewal);
}

/* The old one stays, for now. */
static void give_up(struct server *server)
{
	drop_next(server);
	server_set_timer(server->renewal, until_return(server));
}

void server_drop_next(struct server *server)
{
	if (server->next)
		give_up(server);
}

static void use_next(struct server *server)
{
	server->next_up = true;
	server_pump(server);
}

static void on_up(void *data)
{
	struct server *server = data;
	struct reached reached;

	link_reached(server->next, &reached);
	if (reached.rank > 0 && reached.rank >= server->reached.rank) {
		g_strlcpy(server->reached.why, reached.why, sizeof(reached.why));
		give_up(server);
	} else if (server->shared->tls) {
		server_set_timer(server->renewal, SERVER_PROVE_NS);
	} else {
		use_next(server);
	}
}

static void on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data)
{
	(void)kind;
	(void)reply;
	(void)cargo;
	(void)data;
}

static void on_idle(void *data)
{
	(void)data;
}

static void on_down(enum fault fault, const char *why, void *data)
{
	(void)fault;
	(void)why;
	give_up(data);
}

/* Time for another link, or the one that comes up has shown that it stays. */
static void on_time(evutil_socket_t fd, short what, void *arg)
{
	struct server *server = arg;
	struct link_handler handler = {on_up, on_answered, on_idle, on_down, server};

	(void)fd;
	(void)what;
	if (server->next) {
		use_next(server);
	} else if (server->role != SERVER_SERVING || !server->up || server->health.failing) {
		server_set_timer(server->renewal, until_return(server));
	} else {
		server->avoided.count = 0;
		server->next = server_link(server, server->shared->is->window, false, &handler);
	}
}

void server_init_renewal(struct server *server)
{
	server->renewal = evtimer_new(server->shared->base, on_time, server);
	if (!server->renewal)
		g_error("out of memory");
}

void server_change_link(struct server *server)
{
	const struct link_handler handler = server_handler(server);
	struct link *old = server->link;

	server->link = server->next;
	server->next = NULL;
	server->next_up = server->answered = false;
	asking_end(server);
	link_set_handler(server->link, &handler);
	link_destroy(old);
	server_plan_renewal(server);
}

void server_avoid_address(struct server *server)
{
	if (server->shared->node && server->reached.count > 1)
		avoided_add(&server->avoided, server->reached.weight,
			clock_monotonic() + (int64_t)until_return(server));
}

void server_forget_avoided(struct server *server)
{
	if (clock_monotonic() >= server->avoided.until)
		server->avoided.count = 0;
}
