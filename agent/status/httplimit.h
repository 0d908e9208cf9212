/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits to the connections that an HTTP server holds, which libevent's does not have: to their number, and
 * to the time that each takes from its beginning to its end. One that comes when there are as many as there
 * may be takes the place of the oldest of whoever has the most, so that nobody shuts others out. Out of
 * descriptors the server waits, as the loop would spin otherwise.
 */
#ifndef STATUS_HTTPLIMIT_H
#define STATUS_HTTPLIMIT_H

#include <stdbool.h>
#include <stddef.h>

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

/* Each has a buffer of a request's headers at most. */
#define HTTP_CONNECTIONS_MAX 32
/* A connection is for one request: to send it, and to take the answer, it has so long. */
#define HTTP_CONNECTION_SECONDS 10

struct http_limit;

/* From now on @server accepts by @listener within the limits. Both are borrowed. */
struct http_limit *http_limit_create(
	struct event_base *base, struct evhttp *server, struct evconnlistener *listener);

/* This connection stays for as long as its peer likes, and makes no place for others. */
void http_limit_keep(struct http_limit *limit, struct bufferevent *connection);

/* So many bytes of answers wait for those who asked. */
size_t http_limit_waiting(const struct http_limit *limit);

/*
 * Whether it was sent away, as so much waits already that another answer might be more than there is memory
 * for. Whether the agent lives is always said.
 */
bool http_limit_send_away(struct evhttp_request *request, size_t waiting);

/* To be called once the server is freed, and before the loop goes on. */
void http_limit_destroy(struct http_limit *limit);

#endif
