/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/httplimit.h"

#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <glib.h>

#include "base/clock.h"

/* Between two looks at the connections there are. */
#define SWEEP_NS (100 * NS_PER_MS)
/* Between two looks whether there are descriptors again. */
#define REST_NS NS_PER_SECOND
/* While so many bytes of answers wait for those who asked, there is no other one: it may have 12 MB. */
#define WAITING_MAX (32 * 1024 * 1024)
/* So many may be on their way out, so so many come at once at most while all places are taken. */
#define ENDING_MAX 16
#define SLOTS (HTTP_CONNECTIONS_MAX + ENDING_MAX)

struct connection {
	struct bufferevent *is; /* with a reference of ours */
	int64_t deadline;       /* CLOCK_MONOTONIC ns */
	bool cut;               /* it is on its way out */
	bool kept;              /* for as long as its peer likes */
};

struct http_limit {
	struct evconnlistener *listener;
	struct event *sweep;           /* due while there are connections */
	struct event *rest;            /* due while there are no descriptors */
	struct connection open[SLOTS]; /* the oldest first */
	int count;
	struct http_limit *next;
};

/* All there are: libevent tells of a failure by the listener alone. Used by the loop's thread only. */
static struct http_limit *limits;

/* libevent takes the callbacks away from a connection that it frees, and tells nobody else. */
static bool has_ended(struct bufferevent *connection)
{
	bufferevent_data_cb read, write;
	bufferevent_event_cb event;
	void *data;

	bufferevent_getcb(connection, &read, &write, &event, &data);
	return !read && !write && !event;
}

/* libevent sees that the peer has hung up, and ends it. */
static void cut(struct connection *connection)
{
	connection->cut = true;
	shutdown(bufferevent_getfd(connection->is), SHUT_RDWR);
}

/*
 * Ends our share in the connections that have ended, ends those whose time is up, and takes new ones if there
 * is room. The descriptors are closed only now, with the last reference, as libevent still has them in its
 * list of what is waited for.
 */
static void sweep(struct http_limit *limit)
{
	const struct timeval time = clock_timeval(SWEEP_NS);
	int64_t now = clock_monotonic();
	int kept = 0;

	for (int i = 0; i < limit->count; i++) {
		struct connection *connection = &limit->open[i];

		if (has_ended(connection->is)) {
			bufferevent_decref(connection->is);
			continue;
		}
		if (!connection->cut && !connection->kept && now >= connection->deadline)
			cut(connection);
		limit->open[kept++] = *connection;
	}
	limit->count = kept;
	if (kept < SLOTS && !event_pending(limit->rest, EV_TIMEOUT, NULL))
		evconnlistener_enable(limit->listener);
	if (kept > 0)
		event_add(limit->sweep, &time);
}

static void on_sweep(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	sweep(data);
}

/* Who it is from: the address, of IPv6 what one host may have all of. All on the control socket are alike. */
static uint64_t peer_of(struct bufferevent *connection)
{
	struct sockaddr_storage from = {0};
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&from;
	const uint8_t *bytes = six->sin6_addr.s6_addr;
	socklen_t size = sizeof(from);
	uint64_t peer = 0;

	getpeername(bufferevent_getfd(connection), (struct sockaddr *)&from, &size);
	if (from.ss_family == AF_INET)
		return ((const struct sockaddr_in *)&from)->sin_addr.s_addr;
	if (from.ss_family == AF_INET6)
		memcpy(&peer, IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? bytes + 8 : bytes, sizeof(peer));
	return peer;
}

/* If there is no place left, ends the oldest connection of the address that has the most. */
static void make_place(struct http_limit *limit)
{
	uint64_t peers[SLOTS];
	int alive = 0, most = 0, oldest = -1;

	for (int i = 0; i < limit->count; i++)
		alive += !limit->open[i].cut;
	if (alive < HTTP_CONNECTIONS_MAX)
		return;
	for (int i = 0; i < limit->count; i++)
		peers[i] = limit->open[i].cut ? 0 : peer_of(limit->open[i].is);
	for (int i = 0; i < limit->count; i++) {
		int has = 0;

		for (int k = i; k < limit->count && !limit->open[i].cut; k++)
			has += !limit->open[k].cut && peers[k] == peers[i];
		if (has > most && !limit->open[i].kept) {
			most = has;
			oldest = i;
		}
	}
	if (oldest >= 0)
		cut(&limit->open[oldest]);
}

/* A connection is about to be set up: what it is made of. There is a slot, as the listener rests otherwise.
 */
static struct bufferevent *on_connection(struct event_base *base, void *data)
{
	struct http_limit *limit = data;
	struct bufferevent *connection = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	if (!connection)
		return NULL;
	sweep(limit);
	make_place(limit);
	bufferevent_incref(connection);
	limit->open[limit->count++] = (struct connection){
		connection, clock_monotonic() + HTTP_CONNECTION_SECONDS * NS_PER_SECOND, false};
	if (limit->count == SLOTS)
		evconnlistener_disable(limit->listener);
	if (!event_pending(limit->sweep, EV_TIMEOUT, NULL))
		event_add(limit->sweep, &(struct timeval){0, SWEEP_NS / 1000});
	return connection;
}

/*
 * No descriptor is left for another connection. The listener would be ready for ever, and the loop would do
 * nothing else.
 */
static void on_accept_error(struct evconnlistener *listener, void *data)
{
	const struct timeval time = clock_timeval(REST_NS);
	struct http_limit *limit = limits;

	(void)data; /* the server's own */
	while (limit && limit->listener != listener)
		limit = limit->next;
	evconnlistener_disable(listener);
	if (limit)
		event_add(limit->rest, &time);
}

struct http_limit *http_limit_create(
	struct event_base *base, struct evhttp *server, struct evconnlistener *listener)
{
	struct http_limit *limit = g_new0(struct http_limit, 1);

	limit->listener = listener;
	limit->sweep = evtimer_new(base, on_sweep, limit);
	limit->rest = evtimer_new(base, on_sweep, limit);
	limit->next = limits;
	limits = limit;
	evhttp_set_bevcb(server, on_connection, limit);
	evconnlistener_set_error_cb(listener, on_accept_error);
	return limit;
}

void http_limit_keep(struct http_limit *limit, struct bufferevent *connection)
{
	for (int i = 0; i < limit->count; i++)
		limit->open[i].kept |= limit->open[i].is == connection;
}

size_t http_limit_waiting(const struct http_limit *limit)
{
	size_t waiting = 0;

	for (int i = 0; i < limit->count; i++)
		waiting += evbuffer_get_length(bufferevent_get_output(limit->open[i].is));
	return waiting;
}

bool http_limit_send_away(struct evhttp_request *request, size_t waiting)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	if (waiting < WAITING_MAX || !path || !strcmp(path, "/healthz") || !strcmp(path, "/readyz"))
		return false;
	evhttp_send_error(request, HTTP_SERVUNAVAIL, NULL);
	return true;
}

void http_limit_destroy(struct http_limit *limit)
{
	struct http_limit **at = &limits;

	while (*at != limit)
		at = &(*at)->next;
	*at = limit->next;
	for (int i = 0; i < limit->count; i++)
		bufferevent_decref(limit->open[i].is);
	event_free(limit->sweep);
	event_free(limit->rest);
	g_free(limit);
}
