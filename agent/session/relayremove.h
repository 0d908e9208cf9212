/* SPDX-License-Identifier: BSD-2-Clause */
/* Removing what lttng-relayd has written of a session. */
#ifndef SESSION_RELAYREMOVE_H
#define SESSION_RELAYREMOVE_H

#include "session/relayfiles.h"

/*
 * Removes the session's folder, which is read to its end: the files that relayd makes, and folders that are
 * empty then. Returns false if something is left: relayd may not be quite done with it, or it is not
 * relayd's.
 */
bool relay_remove(struct relayfiles *files);

#endif
