/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/port.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <event2/listener.h>
#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "net/listen.h"
#include "status/httplimit.h"

#define RETRY_NS (2 * NS_PER_SECOND)

/* What listens; all NULL while nothing does. */
struct door {
	struct evhttp *server;
	struct evconnlistener *listener; /* the server's */
	struct http_limit *limit;
};

struct port {
	struct event_base *base;
	struct evhttp *(*serve)(void *data);
	void *data;
	char *address; /* where it listens, or should */
	struct door door;
	struct event *retry; /* due while it should listen, and does not */
	char error[256];
};

/* Opening */

static void open_door(struct port *port, int fd)
{
	struct door *door = &port->door;

	door->listener = evconnlistener_new(port->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 0, fd);
	door->server = port->serve(port->data);
	door->limit = http_limit_create(port->base, door->server, door->listener);
	evhttp_bind_listener(door->server, door->listener);
}

static void close_door(struct door *door)
{
	if (door->server)
		evhttp_free(door->server);
	if (door->limit)
		http_limit_destroy(door->limit);
	*door = (struct door){0};
}

/* Waiting for an address that cannot be had */

static void try_later(struct port *port)
{
	const struct timeval time = clock_timeval(RETRY_NS);

	event_add(port->retry, &time);
}

static void on_retry(evutil_socket_t fd, short what, void *data)
{
	struct port *port = data;
	int listening = listen_at(port->address, NULL, LISTEN_AGAIN_NS, port->error, sizeof(port->error));

	(void)fd;
	(void)what;
	if (listening < 0) {
		try_later(port);
		return;
	}
	open_door(port, listening);
	port->error[0] = '\0';
	log_info("listening on %s now", port->address);
}

/* For the owner */

struct port *port_create(struct event_base *base, struct evhttp *(*serve)(void *data), void *data)
{
	struct port *port = g_new0(struct port, 1);

	port->base = base;
	port->serve = serve;
	port->data = data;
	port->address = g_strdup("");
	port->retry = evtimer_new(base, on_retry, port);
	return port;
}

void port_open(struct port *port, const char *address)
{
	int fd = listen_at(address, NULL, LISTEN_FIRST_NS, port->error, sizeof(port->error));

	g_free(port->address);
	port->address = g_strdup(address);
	if (fd >= 0) {
		open_door(port, fd);
		port->error[0] = '\0';
		return;
	}
	log_warning("cannot listen on %s: %s; the agent runs without it, and keeps trying (is another agent "
		    "running? `http` in [agent] sets the address)",
		address, port->error);
	try_later(port);
}

int port_socket(const struct port *port)
{
	return port->door.listener ? evconnlistener_get_fd(port->door.listener) : -1;
}

int port_move(struct port *port, const char *address, struct listen_staying *staying)
{
	struct door before = port->door;
	int old = port_socket(port), fd = -1;
	char why[sizeof(port->error)];

	if (*address) {
		if (old >= 0)
			listen_share(old, true);
		fd = listen_at(address, staying, LISTEN_FIRST_NS, why, sizeof(why));
		if (old >= 0)
			listen_share(old, false);
		if (fd < 0) {
			log_error(
				"cannot listen on %s: %s (`http` in [agent] sets the address)", address, why);
			return -1;
		}
		listen_share(fd, false);
		listen_stay(staying, fd);
	}
	port->door = (struct door){0};
	if (fd >= 0)
		open_door(port, fd);
	close_door(&before);
	event_del(port->retry);
	port->error[0] = '\0';
	g_free(port->address);
	port->address = g_strdup(address);
	return 0;
}

void port_move_back(struct port *port, const char *address)
{
	if (port_move(port, address, &(struct listen_staying){0}) == 0)
		return;
	close_door(&port->door);
	port_open(port, address);
}

size_t port_waiting(const struct port *port)
{
	return port->door.limit ? http_limit_waiting(port->door.limit) : 0;
}

const char *port_error(const struct port *port)
{
	return port->error;
}

bool port_try(const char *address, char *why, size_t size)
{
	int fd = listen_at(address, NULL, LISTEN_FIRST_NS, why, size);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void port_destroy(struct port *port)
{
	close_door(&port->door);
	event_free(port->retry);
	g_free(port->address);
	g_free(port);
}
