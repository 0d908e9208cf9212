/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload (SIGHUP): the configuration is read anew, whole, and only if all of it is good does anything
 * change. What can change while the agent runs is given to its room, and what cannot is named; no span is
 * lost by it.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "config/config.h"
#include "status/status.h"

struct batch_queue;
struct collector;
struct http;
struct line;
struct uplink;

/* What it applies to, all borrowed; the uplink is replaced where [output] changes. */
struct reload {
	const char *file; /* as given to config_load */
	struct config *config;
	struct event_base *base;
	struct batch_queue *queue;
	struct line *line;
	struct collector *collector;
	struct http *http;
	struct uplink **uplink;
	struct reload_state state;
};

/* Does it, and logs what came of it. Returns whether anything of the new configuration counts now. */
bool reload_run(struct reload *reload);

#endif
