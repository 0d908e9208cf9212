/* SPDX-License-Identifier: BSD-2-Clause */
/* What LTTng records, and of which programs, for `blkin status`. */
#ifndef ASK_LTTNG_H
#define ASK_LTTNG_H

#include "census.h"

/*
 * Fills @census within three seconds or so; what is not accessible, or does not answer in time, stays zero.
 * An empty @tracing_group means this user's own session daemon.
 */
void ask_lttng(const char *session, const char *tracing_group, struct census *census);

#endif
