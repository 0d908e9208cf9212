/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A limit to the connections that an HTTP server holds, which libevent's does not have: beyond it they wait
 * in the kernel until others have ended. Also out of descriptors it waits, as the loop would spin otherwise.
 */
#ifndef STATUS_HTTPLIMIT_H
#define STATUS_HTTPLIMIT_H

#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>

/* Each has a buffer of a request's headers at most, and ends when it is silent for the server's time-out. */
#define HTTP_CONNECTIONS_MAX 32

struct http_limit;

/* From now on @server accepts by @listener within the limit. Both are borrowed. */
struct http_limit *http_limit_create(
	struct event_base *base, struct evhttp *server, struct evconnlistener *listener);

/* To be called once the server is freed. */
void http_limit_destroy(struct http_limit *limit);

#endif
