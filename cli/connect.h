/* SPDX-License-Identifier: BSD-2-Clause */
/* Tries each output for real: a span goes to each of its servers, as the agent would send it. */
#ifndef CONNECT_H
#define CONNECT_H

#include <stdbool.h>

#include "config/config.h"

/*
 * Prints a line for each server, which says what came back, and how long that took. All are tried side by
 * side. Whether all accepted the span.
 */
bool connect_try(const struct config *config);

#endif
