/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether lttng-relayd has written a packet, begun a trace, or ended since a moment: who waits for that
 * sleeps on a descriptor, and need not ask relayd, which each question wakes.
 */
#ifndef SESSION_RELAYNEWS_H
#define SESSION_RELAYNEWS_H

#include "session/relayfiles.h"

/*
 * A descriptor that poll(2) finds readable once something was written from now on; close(2) it then, or when
 * it is of no more use. -1 if not everything can be watched: the kernel's limits for inotify(7) are
 * reached, say.
 */
int relaynews_open(struct relayfiles *files);

#endif
