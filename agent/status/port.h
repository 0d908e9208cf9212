/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The TCP port that an HTTP server listens on. One that cannot be had is no reason to do without the agent:
 * it is tried again until it is free. A change of the address never leaves a time in which nothing listens.
 */
#ifndef STATUS_PORT_H
#define STATUS_PORT_H

#include <stdbool.h>
#include <stddef.h>

#include <event2/event.h>
#include <event2/http.h>

#include "net/listen.h"

struct port;

/* A port that is not open. Each time that it opens it asks @serve for a server, with @data. */
struct port *port_create(struct event_base *base, struct evhttp *(*serve)(void *data), void *data);

/* Opens it at @address; if that fails, the log says so, and it is tried again until it works. */
void port_open(struct port *port, const char *address);

/* The socket that listens; -1: none does. */
int port_socket(const struct port *port);

/* Changes to @address ("" for none), and is among those @staying from then on. Returns -1, having logged why,
 * if that fails; then nothing changes. */
int port_move(struct port *port, const char *address, struct listen_staying *staying);

/* Changes back to @address, which was left a moment ago; while it cannot be had, it is tried again. */
void port_move_back(struct port *port, const char *address);

/* So many bytes of answers wait for those who asked. */
size_t port_waiting(const struct port *port);

/* Why nothing listens although something should: a clause; "" if all is as it should be. */
const char *port_error(const struct port *port);

/* Whether an address can be had now; otherwise @why says why not. */
bool port_try(const char *address, char *why, size_t size);

void port_destroy(struct port *port);

#endif
