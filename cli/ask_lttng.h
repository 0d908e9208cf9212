/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Asks LTTng about the programs on the node and the events that are enabled, for `blkin status`.
 *
 * The session daemon asks each program for its events. A stopped program cannot answer; it would delay
 * everything for seconds and then be dropped. So programs are not counted while one is stopped.
 */
#ifndef ASK_LTTNG_H
#define ASK_LTTNG_H

#include "status/protocol.h"

/*
 * Fills @census within three seconds; what is not accessible, or does not answer in time, stays zero. An
 * empty @tracing_group means this user's own session daemon.
 */
void ask_lttng(const char *session, const char *tracing_group, struct census *census);

#endif
