/* SPDX-License-Identifier: BSD-2-Clause */
/* The relay daemon's ports, looked at from outside. */
#ifndef SESSION_RELAYPORT_H
#define SESSION_RELAYPORT_H

#include <stdbool.h>

#include "config/config.h"

/* A relay that runs listens on all of them. */
#define RELAYPORTS 3

/* On how many of the relay's ports something listens on this node, and which is the first of these. */
unsigned relayport_listeners(const struct config *config, unsigned *first);

/* Whether the relay should be on this node, and does not run, as not all of its ports have a listener. */
bool relayport_missing(const struct config *config);

#endif
