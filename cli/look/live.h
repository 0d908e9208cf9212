/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin top` on the terminal: the statistics anew every few seconds, and what is done with keys. */
#ifndef LOOK_LIVE_H
#define LOOK_LIVE_H

#include "look/ranking.h"

/* Runs until it is ended; returns an exit code. @path: of the control socket. */
int live_run(const char *path, const struct ranking *ranking, double seconds);

#endif
