/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: a kernel's trace tells of threads of its own machine and boot only. */
#ifndef WHY_FITTING_H
#define WHY_FITTING_H

#include "why/collect.h"

/*
 * Returns those of @traces that are of the programs, or of the kernel that the spans were recorded with, as
 * their clocks tell; the paths stay the caller's. What is left out, and that the spans are of several
 * machines, is noted in @why.
 */
GPtrArray *fitting_traces(
	struct why *why, const struct config *config, const GPtrArray *traces, struct guard *guard);

#endif
