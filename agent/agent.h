/* SPDX-License-Identifier: BSD-2-Clause */
/* The rooms put together and run: what `main` starts, and what stops on SIGTERM. */
#ifndef AGENT_H
#define AGENT_H

#include "config/config.h"

/*
 * Runs until SIGTERM or SIGINT; returns the exit code. What cannot be started was logged. @file is what
 * config_load read
 * @config from, and reads it from again on SIGHUP.
 */
int agent_run(const struct config *config, const char *file);

#endif
