/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether lttng-relayd has written a packet, begun a trace, or ended since a moment: who waits for that
 * sleeps on a descriptor, and need not ask relayd, which each question wakes.
 */
#ifndef SESSION_RELAYNEWS_H
#define SESSION_RELAYNEWS_H

#include <stdbool.h>

#include "session/relayfiles.h"

/*
 * A descriptor that poll(2) finds readable once something was written from now on; close(2) it when it is of
 * no more use. -1 if not everything can be watched: the kernel's limits for inotify(7) are reached, say.
 */
int relaynews_open(struct relayfiles *files);

/*
 * Takes the news of @fd, which is readable again once more was written. False if there are folders now that
 * it does not watch, or if it does not watch one any more: then close it, and open another.
 */
bool relaynews_take(int fd);

#endif
