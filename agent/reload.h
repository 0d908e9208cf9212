/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload (SIGHUP): the configuration is read again, and takes effect only if it has no mistake. It is
 * merged with the running one into a new configuration; the running one is not changed, because other threads
 * read it. What can change while the agent runs is applied; the log names what cannot. No span is lost.
 */
#ifndef RELOAD_H
#define RELOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "status/status.h"

struct supervisor;
struct fanout;
struct http;
struct monitor;
struct outputs;

/* What the reload applies to, borrowed. */
struct reload {
	const char *file;            /* as given to config_load */
	const struct config *config; /* in effect: that of the start, or `merged` */
	struct config *merged;       /* owned; NULL before the first reload */
	struct outputs *outputs;
	struct fanout *fanout;
	struct supervisor *supervisor;
	struct inputs *inputs;
	struct http *http;
	struct monitor *monitor;
	struct reload_state state;
};

/*
 * Reloads, and logs the result. If that is good, `config` is a new one. That of the previous reload is freed,
 * that of the start is kept.
 */
void reload_run(struct reload *reload);

/* Frees the last reload's configuration. */
void reload_free(struct reload *reload);

#endif
