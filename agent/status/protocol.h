/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `blkin status` and the agent say to each other, over HTTP on the control socket:
 *
 *     GET /session              the agent names its version, and the session that it keeps
 *     GET /status?protocol=...  the command adds what it learned from LTTng; the agent writes the status
 *     POST /acknowledge         who is in charge knows of all that is lost so far
 *
 * The command asks LTTng, as that may block, and as it sees processes that the agent does not. It cannot do
 * with one question: before it asks LTTng it has to know which session, and which daemon.
 *
 * /session stays as it is for all versions, so that a command and an agent of different versions can say so.
 */
#ifndef STATUS_PROTOCOL_H
#define STATUS_PROTOCOL_H

#include <stdbool.h>

#include "base/buffer.h"

/* Raised with every change to what is below. */
#define PROTOCOL_VERSION 5

#define PROTOCOL_SESSION_PATH "/session"
#define PROTOCOL_STATUS_PATH "/status"
#define PROTOCOL_STATUS_JSON_PATH "/status.json"
/* From root, and from the user that the agent runs as. */
#define PROTOCOL_ACKNOWLEDGE_PATH "/acknowledge"
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

/* What is known of the programs on the node, and of their events. Zeros: nothing is. */
struct census {
	bool known;                 /* the programs were counted, and all could be looked at */
	int programs;               /* registered with LTTng */
	int blkin;                  /* of these, with blkin's provider */
	char other[64];             /* one of the rest, for an example; printable */
	int stopped;                /* of those that could be seen, */
	char stopped_names[256];    /* and the first of them by name, process and user; printable */
	int unrecorded;             /* with blkin, for a while, and without a ring buffer, */
	char unrecorded_names[256]; /* and the first of them, as above */
	int holders;                /* processes that keep others from being registered, if any wait, */
	char holder_names[256];     /* and the first of them by name, process and user; printable */
	int strangers;              /* programs that look for an LTTng of another version, */
	char stranger[64];          /* one of them, for an example; printable */
	int stranger_interface, interface; /* what it looks for, and what the session daemon has */
	bool events_off;                   /* the session has none of ours enabled */
	bool sampling_off;
};

/* Appends @census as the query of a URI, without the question mark. */
void protocol_put_census(struct buffer *query, const struct census *census);

/* Reads it. Returns NULL, or what is wrong with it, as a sentence without an end; then @census is all zeros.
 */
const char *protocol_get_census(const char *query, struct census *census);

#endif
