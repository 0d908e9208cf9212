/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of a server, only for its parts: server.c and serveranswers.c. */
#ifndef UPLINK_SERVERPARTS_H
#define UPLINK_SERVERPARTS_H

#include "uplink/server.h"

/* server.c's */

/* Counts the fault, and tells the log; what follows from it is the caller's to do. */
void server_note_fault(struct server *server, enum fault fault, const char *why);

/* The oldest call has to be answered in time; the next one's time begins with that answer. */
void server_watch_oldest(struct server *server);

/* serveranswers.c's: the link's handler. */
void server_on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data);

#endif
