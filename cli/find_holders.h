/* SPDX-License-Identifier: BSD-2-Clause */
/* Whoever keeps programs from being registered with LTTng's session daemon: it waits for each connection. */
#ifndef FIND_HOLDERS_H
#define FIND_HOLDERS_H

#include "census.h"

/*
 * If any connection waits to be registered, names in @census the processes that have connections to the
 * session daemon and no thread of LTTng's, or more that wait than LTTng's library makes. Looks for a second
 * or so. Of other users' processes only root can tell.
 */
void find_holders(struct census *census, const char *tracing_group);

#endif
