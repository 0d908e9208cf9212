/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the session at hand live: attaches to it, and looks up in relayd's index what is not sent live. It
 * belongs to the thread that reads.
 */
#ifndef READER_LIVEREADER_H
#define READER_LIVEREADER_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "core/reason.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/reader.h"
#include "reader/progress.h"
#include "reader/unread.h"
#include "session/session.h"

struct livereader;

/* All borrowed. */
struct livereader *livereader_create(
	const struct config *config, struct pipeline *pipeline, struct progress *progress, struct page *page);
void livereader_destroy(struct livereader *live);

enum attached {
	ATTACHED,
	ATTACHED_UNKNOWN,    /* the relay daemon does not have the session */
	ATTACHED_UNREADABLE, /* it answers, but babeltrace2 fails on what it sends */
	ATTACHED_NOT
};

/* Attaches to progress's session, and holds what comes. Otherwise @problem says why not. */
enum attached livereader_attach(
	struct livereader *live, struct session *session, struct reader **reader, struct problem *problem);

/* To be called often while @reader is idle: whether what is on disk does not come, and so the session is to
 * be attached to again. */
enum unread_verdict livereader_look(struct livereader *live, const struct reader *reader);

/* relaynews_open's for the session at hand: a descriptor that is readable once relayd has written something.
 */
int livereader_watch(struct livereader *live);

/* Up to when, on CLOCK_MONOTONIC in ns, streams are known to have had nothing more; 0: it is not known. */
int64_t livereader_heard(const struct livereader *live);

/* Whether users have begun to record since the reader attached. If a first packet begins before what was read
 * of others by the time that it comes, babeltrace2 fails on it. */
bool livereader_has_new_traces(struct livereader *live);
/* Whether the relay has traces of anybody: if all of a user's streams wait for one that is stuck, a reader
 * that attaches hears of none. */
bool livereader_has_traces(struct livereader *live);
/* Why relayd's files cannot be read, as of the last look; "" if they can. */
const char *livereader_trouble(const struct livereader *live);
/* Whether, as of the last two looks, relayd gets what programs record, and so does not send it if it does not
 * come. */
bool livereader_grows(const struct livereader *live);
/* Whether the relay daemon is there. */
bool livereader_relay_answers(const struct livereader *live);

/* Logs that relayd's files cannot be read, once for each session. */
void livereader_complain(struct livereader *live, const char *error);

#endif
