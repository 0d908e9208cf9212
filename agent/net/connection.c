/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/connection.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/util.h>
#include <glib.h>
#include <openssl/err.h>

#include "base/clock.h"
#include "base/memory.h"
#include "net/lookup.h"
#include "net/tls.h"
#include "net/tunnel.h"

/* The most input that is buffered while the handler does not drain it. */
#define INPUT_MAX (256 * 1024)
/* The most bytes handed to the kernel in one call. */
#define WRITE_MAX (1024 * 1024)

struct connection {
	struct event_base *base;
	struct connection_options options;
	struct connection_handler handler;
	struct timeval timeout;
	struct lookup *lookup;
	struct addrinfo *addresses;
	GArray *ranking;    /* of struct ranked: the same in order; NULL: not known yet */
	guint next;         /* in it, to be tried */
	char why_not[320];  /* the preferred one is not reached; "" */
	evutil_socket_t fd; /* connecting; -1: none */
	struct event *connecting;
	struct tunnel *tunnel;      /* while it is asked for */
	struct buffer login;        /* at the proxy */
	struct bufferevent *stream; /* once connected */
	struct event *shaking;      /* the handshake's deadline */
	bool up, heard;             /* heard: bytes came */
	int64_t up_ns;              /* since when */
	bool asked;                 /* the server asked for a certificate of ours */
	enum fault fault;           /* what keeps the latest try from being up, */
	char why[320];              /* in words */
};

/* Keeps the system's words for an error, in the middle of a sentence. */
static void keep_error(struct connection *connection, int error)
{
	snprintf(connection->why, sizeof(connection->why), "%s", strerror(error));
	connection->why[0] = g_ascii_tolower(connection->why[0]);
}

/* Keeps what keeps us from the server, or from the proxy before it. */
static void keep_unreached(struct connection *connection, enum fault fault, const char *why)
{
	const bool proxy = connection->options.proxy;

	connection->fault = proxy ? FAULT_PROXY : fault;
	snprintf(connection->why, sizeof(connection->why), "%s%c%s",
		proxy ? "the proxy cannot be reached: " : "", g_ascii_tolower(*why), why + 1);
}

static void try_addresses(struct connection *connection);

/*
 * libevent frees a bufferevent's buffers in a later iteration of the loop, but the owner of their contents
 * may not wait for that. So the output is emptied here. It may be frozen at the front for everyone but the
 * bufferevent, which no longer writes.
 */
static void drop_stream(struct connection *connection)
{
	struct evbuffer *output;

	if (!connection->stream)
		return;
	output = bufferevent_get_output(connection->stream);
	bufferevent_disable(connection->stream, EV_READ | EV_WRITE);
	evbuffer_unfreeze(output, 1);
	evbuffer_drain(output, evbuffer_get_length(output));
	bufferevent_free(connection->stream);
	connection->stream = NULL;
}

/* The stream ended: if it was not up yet, try the next address. */
static void end_stream(struct connection *connection)
{
	event_del(connection->shaking);
	if (connection->up) {
		connection->handler.down(connection->fault, connection->why, connection->handler.data);
	} else {
		drop_stream(connection);
		try_addresses(connection);
	}
}

static void on_readable(struct bufferevent *stream, void *arg)
{
	struct connection *connection = arg;

	if (connection->options.tls && !connection->heard)
		tls_note_answer(connection->options.tls, bufferevent_openssl_get_ssl(stream),
			connection->options.address);
	connection->heard = true;
	connection->handler.readable(bufferevent_get_input(stream), connection->handler.data);
}

/* A server may close on a client whose certificate it misses before its reason can be read. Once the
 * connection is up it does so only with TLS 1.3, which lets the client speak first, no later than it would
 * answer, and not if it has taken this certificate before. */
static bool may_miss_certificate(const struct connection *connection, const SSL *session)
{
	if (!connection->asked || connection->heard)
		return false;
	return !connection->up ||
	       (SSL_version(session) == TLS1_3_VERSION &&
		       clock_monotonic() - connection->up_ns < connection->options.timeout_ns &&
		       !tls_had_answer(connection->options.tls, connection->options.address));
}

/* Lets TLS say why the stream ended; FAULT_NONE if it does not know. */
static enum fault explain(struct connection *connection)
{
	SSL *session = bufferevent_openssl_get_ssl(connection->stream);
	unsigned long error, first = 0;
	enum fault fault;
	size_t used;

	/* libevent tells the latest first, and some not at all. */
	while ((error = bufferevent_get_openssl_error(connection->stream)))
		first = ERR_GET_LIB(error) == ERR_LIB_SSL ? error : first;
	while ((error = ERR_get_error()))
		first = first ? first : error;
	fault = tls_explain(connection->options.tls, session, connection->options.address->host, first,
		connection->why, sizeof(connection->why));
	if ((fault && fault != FAULT_TLS) || !may_miss_certificate(connection, session))
		return fault;
	used = strlen(connection->why);
	snprintf(connection->why + used, sizeof(connection->why) - used,
		"; it had asked for a client certificate (`tls-certificate`, `tls-key`)");
	return FAULT_TLS_ASKED;
}

static void on_stream_event(struct bufferevent *stream, short what, void *arg)
{
	struct connection *connection = arg;
	const int error = EVUTIL_SOCKET_ERROR();
	const bool closed = what & BEV_EVENT_EOF || error == 0;
	enum fault fault = FAULT_NONE;

	if (what & BEV_EVENT_CONNECTED) {
		event_del(connection->shaking);
		connection->up = true;
		connection->up_ns = clock_monotonic();
		connection->handler.up(connection->handler.data);
		return;
	}
	bufferevent_disable(stream, EV_READ | EV_WRITE);
	if (closed)
		snprintf(connection->why, sizeof(connection->why), "the %s closed the connection%s",
			connection->options.proxy && !connection->options.tls ? "proxy" : "server",
			connection->up ? "" : " in the TLS handshake");
	else
		keep_error(connection, error);
	if (connection->options.tls)
		fault = explain(connection);
	if (!fault)
		fault = connection->up ? FAULT_CLOSED : closed ? FAULT_TLS : FAULT_CONNECT;
	connection->fault = fault;
	end_stream(connection);
}

static void on_shaking(evutil_socket_t fd, short what, void *arg)
{
	struct connection *connection = arg;

	(void)fd;
	(void)what;
	connection->fault = FAULT_TLS_NONE;
	snprintf(connection->why, sizeof(connection->why),
		"no answer from the server to the TLS handshake within %g s",
		(double)connection->options.timeout_ns / 1e9);
	end_stream(connection);
}

static void stop_connecting(struct connection *connection)
{
	if (connection->connecting)
		event_free(connection->connecting);
	connection->connecting = NULL;
	tunnel_destroy(connection->tunnel);
	connection->tunnel = NULL;
	if (connection->fd >= 0)
		close(connection->fd);
	connection->fd = -1;
}

static struct bufferevent *open_stream(struct connection *connection)
{
	struct bufferevent *stream;
	SSL *session;

	if (!connection->options.tls)
		return bufferevent_socket_new(connection->base, connection->fd, BEV_OPT_CLOSE_ON_FREE);
	connection->asked = false;
	session = tls_open(connection->options.tls, connection->options.address, &connection->asked);
	if (!session)
		return NULL;
	stream = bufferevent_openssl_socket_new(
		connection->base, connection->fd, session, BUFFEREVENT_SSL_CONNECTING, BEV_OPT_CLOSE_ON_FREE);
	if (stream) {
		/* A connection that is reset has ended, too. */
		bufferevent_openssl_set_allow_dirty_shutdown(stream, 1);
		event_add(connection->shaking, &connection->timeout);
	} else {
		SSL_free(session);
	}
	return stream;
}

/* The socket is connected: a stream takes it over. Returns false if memory is short. */
static bool become_stream(struct connection *connection)
{
	connection->stream = open_stream(connection);
	if (!connection->stream)
		return false;
	connection->fd = -1;
	stop_connecting(connection);
	bufferevent_setcb(connection->stream, on_readable, NULL, on_stream_event, connection);
	bufferevent_setwatermark(connection->stream, EV_READ, 0, INPUT_MAX);
	/*
	 * By default libevent writes 16 KiB at a time: thirty calls for a batch. With TLS it must not be more
	 * than a record: of what one SSL_write() leaves, libevent goes on with the next piece of its buffer.
	 */
	if (!connection->options.tls)
		bufferevent_set_max_single_write(connection->stream, WRITE_MAX);
	bufferevent_enable(connection->stream, EV_READ | EV_WRITE);
	return true;
}

static void on_tunnel(enum fault fault, const char *why, void *data)
{
	struct connection *connection = data;

	if (!fault && become_stream(connection))
		return;
	connection->fault = fault ? fault : FAULT_CONNECT;
	g_strlcpy(connection->why, fault ? why : "out of memory", sizeof(connection->why));
	stop_connecting(connection);
	try_addresses(connection);
}

/* Returns false if memory is short. */
static bool ask_for_tunnel(struct connection *connection)
{
	const struct connection_options *options = &connection->options;
	struct tunnel_options tunnel = {
		connection->fd, options->address, &connection->login, options->timeout_ns};

	event_free(connection->connecting);
	connection->connecting = NULL;
	connection->tunnel = tunnel_create(connection->base, &tunnel, on_tunnel, connection);
	return connection->tunnel;
}

static void on_connecting(evutil_socket_t fd, short what, void *arg)
{
	struct connection *connection = arg;
	int error = 0;
	socklen_t size = sizeof(error);
	bool tunnels;

	if (what & EV_TIMEOUT)
		error = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	tunnels = connection->options.proxy && connection->options.tls;
	if (!error && !(tunnels ? ask_for_tunnel(connection) : become_stream(connection)))
		error = ENOMEM;
	if (error) {
		keep_unreached(connection, fault_of_connect(error), strerror(error));
		stop_connecting(connection);
		try_addresses(connection);
	} else if (!connection->options.tls) {
		connection->up = true;
		connection->handler.up(connection->handler.data);
	}
}

/* Starts to connect to one address; returns whether on_connecting will be called with the result. */
static bool try_address(struct connection *connection, const struct addrinfo *address)
{
	int one = 1;

	connection->fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (connection->fd < 0)
		goto fail;
	/* Send a batch at once, not when the previous one is acknowledged. */
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
	keep_unreached(connection, fault_of_connect(errno), strerror(errno));
	stop_connecting(connection);
	return false;
}

/* The one that was tried last; NULL: none was. */
static const struct ranked *tried(const struct connection *connection)
{
	return connection->next ? &g_array_index(connection->ranking, struct ranked, connection->next - 1)
				: NULL;
}

/* What keeps us from the preferred one is told beside the one that is reached. */
static void note_failed(struct connection *connection)
{
	const struct ranked *ranked = tried(connection);

	if (ranked && ranked->rank == 0)
		g_strlcpy(connection->why_not, connection->why, sizeof(connection->why_not));
}

/*
 * Continues with the remaining addresses. Must be the last action in a callback, because the handler may
 * destroy the connection.
 */
static void try_addresses(struct connection *connection)
{
	GArray *ranking = connection->ranking;

	note_failed(connection);
	while (connection->next < ranking->len) {
		if (try_address(
			    connection, g_array_index(ranking, struct ranked, connection->next++).address))
			return;
		note_failed(connection);
	}
	connection->handler.down(connection->fault, connection->why, connection->handler.data);
}

/* Of TLS, and the password at the proxy; false if they do not do. */
static bool read_files(struct connection *connection)
{
	const struct connection_options *options = &connection->options;

	if (options->tls && !tls_ready(options->tls, connection->why, sizeof(connection->why))) {
		connection->fault = FAULT_TLS_FILES;
		return false;
	}
	if (options->proxy && !proxy_put_login(options->proxy, &connection->login, connection->why,
				      sizeof(connection->why))) {
		connection->fault = FAULT_PASSWORD;
		return false;
	}
	return true;
}

static void on_lookup(struct addrinfo *addresses, const char *why, void *data)
{
	struct connection *connection = data;

	connection->addresses = addresses;
	if (!addresses)
		keep_unreached(connection, FAULT_NO_ADDRESS, why);
	connection->ranking = ranking_create(read_files(connection) ? addresses : NULL,
		connection->options.node, connection->options.avoided, connection->options.beside);
	try_addresses(connection);
}

struct connection *connection_create(struct event_base *base, const struct connection_options *options,
	const struct connection_handler *handler)
{
	struct connection *connection = memory_get(sizeof(*connection));

	connection->base = base;
	connection->options = *options;
	connection->handler = *handler;
	connection->timeout.tv_sec = options->timeout_ns / NS_PER_SECOND;
	connection->timeout.tv_usec = options->timeout_ns % NS_PER_SECOND / 1000;
	connection->fd = -1;
	connection->shaking = evtimer_new(base, on_shaking, connection);
	if (!connection->shaking)
		g_error("out of memory");
	connection->lookup =
		lookup_create(base, options->proxy ? proxy_address(options->proxy) : options->address,
			options->timeout_ns, on_lookup, connection);
	return connection;
}

void connection_destroy(struct connection *connection)
{
	if (!connection)
		return;
	lookup_destroy(connection->lookup);
	stop_connecting(connection);
	drop_stream(connection);
	if (connection->ranking)
		g_array_unref(connection->ranking);
	if (connection->addresses)
		freeaddrinfo(connection->addresses);
	event_free(connection->shaking);
	if (connection->login.data)
		explicit_bzero(connection->login.data, connection->login.size);
	buffer_free(&connection->login);
	free(connection);
}

struct evbuffer *connection_output(struct connection *connection)
{
	return bufferevent_get_output(connection->stream);
}

struct evbuffer *connection_input(struct connection *connection)
{
	return bufferevent_get_input(connection->stream);
}

void connection_reached(const struct connection *connection, struct reached *reached)
{
	const struct ranked *at = tried(connection);

	memset(reached, 0, sizeof(*reached));
	memcpy(reached->address, at->text, sizeof(reached->address));
	for (guint i = 0; i < connection->ranking->len; i++) {
		const struct ranked *one = &g_array_index(connection->ranking, struct ranked, i);

		if (one->rank == 0)
			memcpy(reached->preferred, one->text, sizeof(reached->preferred));
	}
	reached->weight = at->weight;
	reached->rank = at->rank;
	reached->count = connection->ranking->len;
	memcpy(reached->why, connection->why_not, sizeof(reached->why));
}
