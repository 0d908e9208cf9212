/* SPDX-License-Identifier: BSD-2-Clause */
/* The rooms put together and run: what `main` starts, and what stops on SIGTERM. */
#ifndef AGENT_H
#define AGENT_H

#include "config.h"

/* Runs until SIGTERM or SIGINT; returns the exit code. What cannot be started was logged. */
int agent_run(const struct config *config);

#endif
