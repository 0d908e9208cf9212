/* SPDX-License-Identifier: BSD-2-Clause */
/* Puts the parts of the agent together and runs them until SIGTERM. */
#ifndef AGENT_H
#define AGENT_H

#include "config/config.h"

/*
 * Runs until SIGTERM or SIGINT; returns the exit code. If something cannot be started, it has been logged.
 * @file is where config_load read @config from; SIGHUP reads it again.
 */
int agent_run(const struct config *config, const char *file);

#endif
