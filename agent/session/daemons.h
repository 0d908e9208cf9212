/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LTTng's daemons as children of the agent, where nobody else runs them: a relay daemon if the configuration
 * says port 0, on free ports of loopback, and for an agent of a user's own (--user) a session daemon, unless
 * the user has one.
 *
 * They end with the agent, however it ends, and are started again when they end before it.
 */
#ifndef SESSION_DAEMONS_H
#define SESSION_DAEMONS_H

#include <event2/event.h>

#include "config/config.h"
#include "core/reason.h"

struct daemons;

/* Finds free ports for the relay daemon, if @config leaves them open. Returns -1 having logged why it cannot.
 */
int daemons_choose_ports(struct config *config);

/*
 * Starts what is needed, which may be nothing, and waits until it answers, some seconds at most. NULL having
 * logged what is missing. @config is borrowed; it has its ports. What
 * earlier runs left with a relay of our own is removed, unless this one @goes_on from there.
 */
struct daemons *daemons_create(struct event_base *base, const struct config *config, bool goes_on);

/* To be called every few seconds with what is wrong with collecting: those of its own that hold for long what
 * is recorded are ended by force, and so started again. */
void daemons_mend(struct daemons *daemons, enum reason reason);

/* Ends them: the reader must not need them any more. */
void daemons_destroy(struct daemons *daemons);

#endif
