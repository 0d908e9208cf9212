/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/httplimit.h"

#include <stdbool.h>

#include <event2/bufferevent.h>
#include <glib.h>

/* Between two looks at the connections there are. */
#define SWEEP_MS 100

struct http_limit {
	struct evconnlistener *listener;
	struct event *sweep;                            /* due while there are connections */
	struct bufferevent *open[HTTP_CONNECTIONS_MAX]; /* with a reference of ours */
	int count;
};

/* libevent takes the callbacks away from a connection that it frees, and tells nobody else. */
static bool has_ended(struct bufferevent *connection)
{
	bufferevent_data_cb read, write;
	bufferevent_event_cb event;
	void *data;

	bufferevent_getcb(connection, &read, &write, &event, &data);
	return !read && !write && !event;
}

/*
 * Ends our share in the connections that have ended, and takes new ones if there is room. Their descriptors
 * are closed only now, with the last reference, as libevent still has them in its list of what is waited for.
 */
static void sweep(struct http_limit *limit)
{
	const struct timeval time = {0, SWEEP_MS * 1000};
	int kept = 0;

	for (int i = 0; i < limit->count; i++) {
		if (has_ended(limit->open[i]))
			bufferevent_decref(limit->open[i]);
		else
			limit->open[kept++] = limit->open[i];
	}
	limit->count = kept;
	if (kept < HTTP_CONNECTIONS_MAX)
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

/* A connection is about to be set up: what it is made of. */
static struct bufferevent *on_connection(struct event_base *base, void *data)
{
	struct http_limit *limit = data;
	struct bufferevent *connection = bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	sweep(limit);
	/* there is room, as the listener rests otherwise; but for one a second while descriptors are short */
	if (connection && limit->count < HTTP_CONNECTIONS_MAX) {
		bufferevent_incref(connection);
		limit->open[limit->count++] = connection;
	}
	if (limit->count == HTTP_CONNECTIONS_MAX)
		evconnlistener_disable(limit->listener);
	if (!event_pending(limit->sweep, EV_TIMEOUT, NULL))
		event_add(limit->sweep, &(struct timeval){0, SWEEP_MS * 1000});
	return connection;
}

static void on_rested(evutil_socket_t fd, short what, void *listener)
{
	(void)fd;
	(void)what;
	evconnlistener_enable(listener);
}

/*
 * No descriptor is left for another connection. The listener would be ready for ever, and the loop would do
 * nothing else. (At the end the loop does not run any more, so that the listener is never woken after its
 * end.)
 */
static void on_accept_error(struct evconnlistener *listener, void *data)
{
	const struct timeval second = {1, 0};

	(void)data; /* the server's own */
	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT, on_rested, listener, &second);
}

struct http_limit *http_limit_create(
	struct event_base *base, struct evhttp *server, struct evconnlistener *listener)
{
	struct http_limit *limit = g_new0(struct http_limit, 1);

	limit->listener = listener;
	limit->sweep = evtimer_new(base, on_sweep, limit);
	evhttp_set_bevcb(server, on_connection, limit);
	evconnlistener_set_error_cb(listener, on_accept_error);
	return limit;
}

void http_limit_destroy(struct http_limit *limit)
{
	for (int i = 0; i < limit->count; i++)
		bufferevent_decref(limit->open[i]);
	event_free(limit->sweep);
	g_free(limit);
}
