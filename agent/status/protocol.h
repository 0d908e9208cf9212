/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `blkin status` and the agent say to each other, over HTTP on the control socket:
 *
 *     GET /session       the agent names its version, and the session that it keeps
 *     GET /status.json   its state (status.h)
 *     POST /acknowledge  who is in charge knows of all that is lost so far
 *
 * and `blkin validate --reload`, so that status and metrics show it until a reload succeeds:
 *
 *     POST /reload/refused  the new configuration has mistakes, so the service did not ask to take it
 *
 * `blkin status` asks LTTng, too, as that may block, and as it sees processes that the agent does not. It
 * cannot do with one question: before it asks LTTng it has to know which session, and which daemon.
 *
 * /session stays as it is for all versions, so that a command and an agent of different versions can say so.
 */
#ifndef STATUS_PROTOCOL_H
#define STATUS_PROTOCOL_H

#include <stdbool.h>

#include "base/buffer.h"

/* Raised with every change to what is below. */
#define PROTOCOL_VERSION 6

#define PROTOCOL_SESSION_PATH "/session"
#define PROTOCOL_STATUS_PATH "/status.json"
/* From root, and from the user that the agent runs as. */
#define PROTOCOL_ACKNOWLEDGE_PATH "/acknowledge"
#define PROTOCOL_REFUSED_PATH "/reload/refused"
/* The statistics: what snapshot_pack writes (stats/snapshot.h). On the control socket alone, as it has names.
 */
#define PROTOCOL_SPANS_PATH "/spans"
/* The address of the page, with its token, and a line's end; empty if there is no page. There, too, alone. */
#define PROTOCOL_PAGE_PATH "/page"
/* Spans as they come, without an end; the query is a filter (supervise/tailfilter.h), the answer is of
 * records (supervise/subscribers.h). There, too, alone. */
#define PROTOCOL_TAIL_PATH "/tail"

struct protocol_session {
	int protocol;   /* 0: an agent from before there were versions */
	char agent[32]; /* the agent's version; "" if it does not say */
	char name[256];
	char tracing_group[64]; /* "": the daemon is the user's own */
};

/* Appends the answer to /session. */
void protocol_put_session(struct buffer *out, const struct protocol_session *session);

/* Reads it; returns false if it is no such answer. */
bool protocol_get_session(const char *text, struct protocol_session *session);

#endif
