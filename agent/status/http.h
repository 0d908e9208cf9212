/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's own HTTP: /metrics, /healthz, /readyz, /status.json and the page (pageserve.h) on a loopback
 * port, and the same on the control socket. Read only, but for the orders that the control socket takes:
 * orders.h.
 */
#ifndef STATUS_HTTP_H
#define STATUS_HTTP_H

#include <stdbool.h>

#include <event2/event.h>

#include "config/config.h"
#include "status/status.h"

struct http;

/*
 * Listens as the configuration says. @source is borrowed. Returns NULL having logged what is wrong with the
 * control socket: a folder that is not there, another agent that owns it; @hopeless becomes
 * true where only another configuration helps. A port that cannot be had is tried
 * again later.
 */
struct http *http_create(struct event_base *base, const struct status_source *source, bool *hopeless);

/* The port's socket is among those @staying. */
void http_stay(const struct http *http, struct listen_staying *staying);

/*
 * Serves the port @address ("" for none) instead of the current one, and is among those @staying from then
 * on. Returns -1 having logged why that fails; the current one then stays.
 */
int http_move(struct http *http, const char *address, struct listen_staying *staying);

/* Serves the port @address again, which it left a moment ago, or once it can be had. */
void http_move_back(struct http *http, const char *address);

/* Why the port does not listen although it should; "" if all is as it should be. Changes in place. */
const char *http_error(const struct http *http);

/* Stops listening, and removes the control socket. */
void http_destroy(struct http *http);

#endif
