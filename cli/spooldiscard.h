/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin spool discard`: gives up what waits in the spools. */
#ifndef SPOOLDISCARD_H
#define SPOOLDISCARD_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct spooldiscard {
	const struct config *config;
	const char *output; /* NULL: all */
	int64_t older_ns;   /* 0: of any age */
	bool yes;           /* do not ask */
};

/* Reads a time such as 3h; returns false if it is none. */
bool spooldiscard_read_time(const char *text, int64_t *ns);

/* Returns an exit code, having logged what is wrong. */
int spooldiscard(const struct spooldiscard *request);

#endif
