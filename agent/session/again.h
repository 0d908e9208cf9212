/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When LTTng is asked again for what it refused beside spans. Each kind has a time of its own: each question
 * for the kernel's events has a session daemon without the kernel's modules log that they are missing.
 */
#ifndef SESSION_AGAIN_H
#define SESSION_AGAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/reason.h"

/* Of which of the two all is asked for that the configuration wants. */
struct anew {
	bool events, kernel;
};

/* When each was asked for last, CLOCK_MONOTONIC ns. */
struct asked {
	int64_t events, kernel;
};

/* Which of them is due, of those that were left out. */
struct anew again_due(const struct omissions *omissions, const struct asked *asked, int64_t now);

#endif
