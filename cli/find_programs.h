/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The traced programs on the node, as /proc shows them.
 *
 * LTTng's session daemon is not asked: it would ask each program in turn, wait five seconds for one that is
 * stopped, and end by an assertion, for everybody, if one is stopped while it is asked (LTTng 2.13).
 */
#ifndef FIND_PROGRAMS_H
#define FIND_PROGRAMS_H

#include "census.h"

/*
 * Counts them in @census within a second or so: those that are registered if all of them could be looked at,
 * those that are stopped, those that LTTng has no ring buffers for, and those that look for an LTTng of
 * another version. An empty @tracing_group means this user's own session daemon, which no other user's
 * programs have.
 */
void find_programs(struct census *census, const char *tracing_group);

#endif
