/* SPDX-License-Identifier: BSD-2-Clause */
#include "connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/bufferevent.h>
#include <event2/dns.h>
#include <event2/util.h>
#include <glib.h>

/* Input that the handler leaves lying is read no further than this. */
#define INPUT_MAX (256 * 1024)
/* Handed to the kernel in one call, at most. */
#define WRITE_MAX (1024 * 1024)

/* A look-up under way. Its answer may come after the connection is gone, so it has a life of its own. */
struct lookup {
	struct connection *owner; /* NULL: gone */
};

struct connection {
	struct event_base *base;
	struct connection_handler handler;
	char *host;
	char port[8];
	struct timeval timeout;
	struct event *step; /* to begin, and to go on after the look-up or its deadline */
	struct evdns_base *dns;
	struct lookup *lookup; /* NULL: not under way */
	bool looked_up;
	struct evutil_addrinfo *addresses, *next;
	evutil_socket_t fd; /* connecting; -1: none */
	struct event *connecting;
	struct bufferevent *stream; /* once connected */
	char why[320];
};

/* Keeps the system's words for an error, in the middle of a sentence. */
static void keep_error(struct connection *connection, int error)
{
	snprintf(connection->why, sizeof(connection->why), "%s", strerror(error));
	connection->why[0] = g_ascii_tolower(connection->why[0]);
}

static void on_readable(struct bufferevent *stream, void *arg)
{
	struct connection *connection = arg;

	connection->handler.readable(bufferevent_get_input(stream), connection->handler.data);
}

static void on_stream_event(struct bufferevent *stream, short what, void *arg)
{
	struct connection *connection = arg;
	int error = EVUTIL_SOCKET_ERROR();

	bufferevent_disable(stream, EV_READ | EV_WRITE);
	if (what & BEV_EVENT_EOF)
		snprintf(connection->why, sizeof(connection->why), "the server closed the connection");
	else
		keep_error(connection, error);
	connection->handler.down(true, connection->why, connection->handler.data);
}

static void stop_connecting(struct connection *connection)
{
	if (connection->connecting)
		event_free(connection->connecting);
	connection->connecting = NULL;
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
}

/* The socket is connected: from here on it is a stream's. Returns false where memory is short. */
static bool become_stream(struct connection *connection)
{
	evutil_socket_t fd = connection->fd;

	connection->stream = bufferevent_socket_new(connection->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!connection->stream)
		return false;
	connection->fd = -1;
	stop_connecting(connection);
	bufferevent_setcb(connection->stream, on_readable, NULL, on_stream_event, connection);
	bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_MAX);
	/* libevent would hand the kernel 16 KiB at a time: thirty calls for a batch. */
	bufferevent_set_max_single_write(connection->stream, WRITE_MAX);
	bufferevent_enable(connection->stream, EV_READ | EV_WRITE);
	return true;
}

static void try_addresses(struct connection *connection);

static void on_connecting(evutil_socket_t fd, short what, void *arg)
{
	struct connection *connection = arg;
	int error = 0;
	socklen_t size = sizeof(error);

	if (what & EV_TIMEOUT)
		error = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	if (!error && !become_stream(connection))
		error = ENOMEM;
	if (error) {
		keep_error(connection, error);
		stop_connecting(connection);
		try_addresses(connection);
	} else {
		connection->handler.up(connection->handler.data);
	}
}

/* Starts to connect to one address; returns whether on_connecting will tell how it went. */
static bool try_address(struct connection *connection, const struct evutil_addrinfo *address)
{
	int one = 1;

	connection->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		goto fail;
	/* A batch goes out at once, and not when its predecessor is acknowledged. */
	setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (connect(connection->fd, address->ai_addr, address->ai_addrlen) < 0 && errno != EINPROGRESS)
		goto fail;
	errno = ENOMEM;
	connection->connecting =
		event_new(connection->base, connection->fd, EV_WRITE, on_connecting, connection);
	if (!connection->connecting || event_add(connection->connecting, &connection->timeout) < 0)
		goto fail;
	return true;
fail:
	keep_error(connection, errno);
	stop_connecting(connection);
	return false;
}

/* Goes on with the addresses that are left; the last thing to do in a callback, as the handler may destroy
 * us. */
static void try_addresses(struct connection *connection)
{
	while (connection->next) {
		const struct evutil_addrinfo *address = connection->next;

		connection->next = address->ai_next;
		if (try_address(connection, address))
			return;
	}
	connection->handler.down(false, connection->why, connection->handler.data);
}

static void on_lookup(int error, struct evutil_addrinfo *addresses, void *arg)
{
	struct lookup *lookup = arg;
	struct connection *connection = lookup->owner;

	g_free(lookup);
	if (!connection) {
		if (addresses)
			evutil_freeaddrinfo(addresses);
		return;
	}
	connection->lookup = NULL;
	connection->looked_up = true;
	connection->addresses = connection->next = addresses;
	if (error)
		snprintf(connection->why, sizeof(connection->why), "no address for %s: %s", connection->host,
			error == EVUTIL_EAI_NONAME ? "the name is not known" : evutil_gai_strerror(error));
	/* Not from here: what follows may end the resolver that is calling us. */
	event_active(connection->step, EV_TIMEOUT, 1);
}

/* The resolver is made for each look-up, so that it goes by today's /etc/resolv.conf and /etc/hosts. */
static void start_lookup(struct connection *connection, const struct evutil_addrinfo *hints)
{
	connection->lookup = g_new0(struct lookup, 1);
	connection->lookup->owner = connection;
	connection->dns = evdns_base_new(connection->base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!connection->dns) {
		on_lookup(EVUTIL_EAI_MEMORY, NULL, connection->lookup);
		return;
	}
	/* Without a resolv.conf it asks the local host, as the C library does. */
	evdns_base_resolv_conf_parse(connection->dns, DNS_OPTIONS_ALL, "/etc/resolv.conf");
	/* Some servers never answer about IPv6: with an IPv4 address at hand that is no reason to wait long.
	 */
	evdns_base_set_option(connection->dns, "getaddrinfo-allow-skew:", "0.3");
	evdns_getaddrinfo(
		connection->dns, connection->host, connection->port, hints, on_lookup, connection->lookup);
	if (connection->lookup)
		event_add(connection->step, &connection->timeout);
}

static void stop_lookup(struct connection *connection)
{
	if (connection->lookup)
		connection->lookup->owner = NULL;
	connection->lookup = NULL;
	if (connection->dns)
		evdns_base_free(connection->dns, 1);
	connection->dns = NULL;
}

static void begin(struct connection *connection)
{
	struct evutil_addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = EVUTIL_AI_NUMERICHOST | EVUTIL_AI_NUMERICSERV,
	};

	if (evutil_getaddrinfo(connection->host, connection->port, &hints, &connection->addresses) == 0) {
		connection->next = connection->addresses;
		try_addresses(connection);
	} else {
		hints.ai_flags = EVUTIL_AI_NUMERICSERV;
		start_lookup(connection, &hints);
	}
}

static void on_step(evutil_socket_t fd, short what, void *arg)
{
	struct connection *connection = arg;

	(void)fd;
	(void)what;
	if (connection->looked_up) {
		stop_lookup(connection);
		try_addresses(connection);
	} else if (connection->lookup) {
		stop_lookup(connection);
		snprintf(connection->why, sizeof(connection->why), "no answer from DNS about %s",
			connection->host);
		try_addresses(connection);
	} else {
		begin(connection);
	}
}

struct connection *connection_create(struct event_base *base, const char *host, uint16_t port,
	int64_t timeout_ns, const struct connection_handler *handler)
{
	struct connection *connection = g_new0(struct connection, 1);

	connection->base = base;
	connection->handler = *handler;
	connection->host = g_strdup(host);
	snprintf(connection->port, sizeof(connection->port), "%u", port);
	connection->timeout.tv_sec = timeout_ns / 1000000000;
	connection->timeout.tv_usec = timeout_ns % 1000000000 / 1000;
	connection->fd = -1;
	connection->step = evtimer_new(base, on_step, connection);
	if (!connection->step)
		g_error("out of memory");
	event_active(connection->step, EV_TIMEOUT, 1);
	return connection;
}

/*
 * libevent frees a bufferevent's buffers in a later round of the loop. Their owner may not wait for that, so
 * the output is emptied here: it is frozen at the front against everyone but the bufferevent, which does not
 * write any more.
 */
static void drop_output(struct bufferevent *stream)
{
	struct evbuffer *output = bufferevent_get_output(stream);

	bufferevent_disable(stream, EV_READ | EV_WRITE);
	evbuffer_unfreeze(output, 1);
	evbuffer_drain(output, evbuffer_get_length(output));
}

void connection_destroy(struct connection *connection)
{
	if (!connection)
		return;
	stop_lookup(connection);
	stop_connecting(connection);
	if (connection->stream) {
		drop_output(connection->stream);
		bufferevent_free(connection->stream);
	}
	if (connection->addresses)
		evutil_freeaddrinfo(connection->addresses);
	event_free(connection->step);
	g_free(connection->host);
	g_free(connection);
}

struct evbuffer *connection_output(struct connection *connection)
{
	return bufferevent_get_output(connection->stream);
}
