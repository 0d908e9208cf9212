/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket's file: one agent has it, and a dead agent's is taken over. */
#ifndef STATUS_CONTROLSOCKET_H
#define STATUS_CONTROLSOCKET_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Whether no other agent has the control socket; if one has, that is logged. To be asked before anything else
 * is tried, as all that would fail for the same reason.
 */
bool controlsocket_is_free(const struct config *config);

/*
 * Returns a socket that is bound to @path, for the agent's user and group; -1 having logged why there is
 * none, and @hopeless becomes true where only another configuration helps.
 */
int controlsocket_bind(const char *path, bool *hopeless);

#endif
