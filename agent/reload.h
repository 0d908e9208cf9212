/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload (SIGHUP): the configuration is read again, and takes effect only if all of it is good. A new one
 * is made of it and of the running one, which is not written: other threads read it. The rooms take what can
 * change while the agent runs, and what cannot is named in the log; no span is lost.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "config/config.h"
#include "status/status.h"

struct collector;
struct fanout;
struct http;
struct outputs;
struct pipeline;

/* What it applies to, borrowed. */
struct reload {
	const char *file;            /* as given to config_load */
	const struct config *config; /* what is in effect: the start's, or `merged` */
	struct config *merged;       /* owned; NULL before the first reload */
	struct event_base *base;
	struct outputs *outputs;
	struct fanout *fanout;
	struct pipeline *pipeline;
	struct collector *collector;
	struct http *http;
	struct reload_state state;
};

/*
 * Does it, and logs the result. Returns whether anything has changed. `config` is then another one, and the
 * last reload's is gone; the start's stays.
 */
bool reload_run(struct reload *reload);

/* Frees the last reload's configuration. */
void reload_free(struct reload *reload);

#endif
