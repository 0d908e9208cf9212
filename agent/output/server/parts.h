/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of a server, only for its parts: server.c, answers.c, asking.c and renew.c. */
#ifndef OUTPUT_SERVER_PARTS_H
#define OUTPUT_SERVER_PARTS_H

#include "base/clock.h"
#include "output/server/server.h"

/* A TLS server may turn a client down after the handshake: silence for so long means that all is well. */
#define SERVER_PROVE_NS (500 * NS_PER_MS)

/* server.c's */

/* Counts the fault, and tells the log; what follows from it is the caller's to do. */
void server_note_fault(struct server *server, enum fault fault, const char *why);

/* The oldest call has to be answered in time; the next one's time begins with that answer. */
void server_watch_oldest(struct server *server);

/* The handler of the link that is in use. */
struct link_handler server_handler(struct server *server);

/* answers.c's */

/* Whether an agent in the place of the server is to say which share of the traces to keep. */
bool server_learns(const struct server *server);

/* That handler's. */
void server_on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data);

/* asking.c's */

/* It is not asked more often. */
#define SERVER_ASK_NS (900 * NS_PER_MS)

void asking_init(struct server *server);

/* A call is sent now: what it tells beside its spans, in @ids, and asks. */
void asking_add(struct server *server, struct run *run, struct trace_id ids[WANTED_TOLD_MAX]);

/* The oldest call was answered. */
void asking_answered(struct server *server, enum reply_kind kind, const struct reply *reply);

/* The link has ended. */
void asking_end(struct server *server);

/* renew.c's, which do nothing where nodes do not share servers out */

void server_init_renewal(struct server *server);

/* The link has come up: it is replaced in due time. */
void server_plan_renewal(struct server *server);

/* The link ends, and so does what would replace it; or nothing is to replace it now. */
void server_end_renewal(struct server *server);
void server_drop_next(struct server *server);

/* No call is open, and the next link is up: it takes the place of the old one. */
void server_change_link(struct server *server);

/* The link failed where it leads to: another address is tried first, for a while. */
void server_avoid_address(struct server *server);

/* Before a link is made: it is over when that time is. */
void server_forget_avoided(struct server *server);

#endif
