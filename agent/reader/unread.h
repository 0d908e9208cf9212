/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is on lttng-relayd's disk and does not come live.
 *
 * relayd tells a live reader of new streams only with data of the streams that it has. If a user's first
 * program starts while all others are idle, the reader hears of none of its spans until it attaches again.
 * Or nothing comes at all, as the reader is attached to the wrong session, or waits for one that is gone. On
 * disk the packets are at once, so one look at relayd's index, once a second while the reader is idle, finds
 * both (untold.h, if they cannot be read). A trace that does not come live even after that is tried less and
 * less often.
 *
 * It belongs to the thread that reads.
 */
#ifndef READER_UNREAD_H
#define READER_UNREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "reader/decode/reader.h"
#include "session/position.h"
#include "session/relayfiles.h"

struct unread;

enum unread_verdict {
	UNREAD_NOTHING,
	UNREAD_TRACE, /* of users that the reader was not told of: attach again, and all goes on */
	UNREAD_STALL  /* nothing comes at all: live reading does not work */
};

/* @live_timer: of the session, in ns. */
struct unread *unread_create(int64_t live_timer);
void unread_destroy(struct unread *unread);

/* The session is another one now. */
void unread_clear(struct unread *unread);

/* A reader attaches to the session, of which @positions are known. */
void unread_attach(struct unread *unread, const struct positions *positions);

/* Whether it is time to look. */
bool unread_is_due(const struct unread *unread);

/* Whether there was more of programs unread at the last look than at the one before. */
bool unread_grows(const struct unread *unread);

/* Looks, while @reader is idle. After any verdict but the first the session must be attached to again, and
 * what is on disk by then be read from there. */
enum unread_verdict unread_look(struct unread *unread, struct relayfiles *files,
	const struct positions *positions, const struct reader *reader);

#endif
