/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What LTTng knows of the programs on the node, and what they are told, for the doctor's eyes.
 *
 * The session daemon asks each program for its events. One that cannot answer (it is stopped) would hold
 * everything up for seconds and then be cut off, so that programs are not counted while one is.
 */
#ifndef ASK_LTTNG_H
#define ASK_LTTNG_H

/*
 * Looks, for three seconds at most, and returns what it found as the query of a status page; what it may not
 * see is left out. The caller's to g_free.
 */
char *census_take(const char *session, const char *tracing_group);

#endif
