/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Progress: what of the sessions is done, as the agent keeps it in its checkpoint (output/checkpoint.h).
 *
 * A span is done when it is *settled*: acknowledged, dropped and counted, or on disk in the spool, at every
 * output. What was read of each stream runs ahead of that by the batches that are under way. So a *position*
 * is taken between two messages: where each stream is, and the spans in assembly, at a moment when everything
 * else that was read is handed over. The agent writes it once all that is settled, together with the ledger
 * and the positions *reached* as of then. A reader that starts again reads from a position on; it knows of
 * each event whether the ledger has it already (position.h, ledger.h).
 *
 * So nothing is lost by a kill. What is delivered a second time is what was read since the last position:
 * that was handed over, if only the reader died, that was written, if the agent did. A position is taken
 * every 100 ms, less often if that would take more than a twentieth of a processor.
 *
 * Usually there is one session. Where one ended while spans of it are under way, the checkpoint has both
 * until these are settled, in the order in which they are to be read.
 *
 * It belongs to the thread that reads.
 */
#ifndef READER_PROGRESS_H
#define READER_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "core/clocksteps.h"
#include "reader/agentlink.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/overlap.h"
#include "reader/sessionrecord.h"
#include "session/position.h"

struct progress;

/* Takes up the position of @orders, and the spans in assembly from it. What is borrowed is @link. */
struct progress *progress_create(const struct config *config, struct pipeline *pipeline,
	struct agent_link *link, const struct orders *orders);
void progress_destroy(struct progress *progress);

/* Whether the session is to outlive the agent: the configuration wants it, and a checkpoint can be kept. */
bool progress_keeps(const struct progress *progress);

/* The session that is being read, or is to be read next; NULL if none is known. */
const struct session_identity *progress_session(const struct progress *progress);

/* Its positions, and the wall clock's steps; borrowed. */
struct positions *progress_positions(struct progress *progress);
struct clock_steps *progress_steps(struct progress *progress);

/* A new session is read from here on, from its beginning; to be called before it records. */
void progress_begin(struct progress *progress, const struct session_identity *session);

/* Another session records beside the one at hand, or is about to, and is read after it. */
void progress_follow(struct progress *progress, const struct session_identity *session);

/* It is about to record what the one at hand records, too; that one is about to record no more; or it did not
 * come to that. What both have is taken once. */
void progress_both_record(struct progress *progress);
void progress_one_records(struct progress *progress);
void progress_none_follows(struct progress *progress);

/* Whether that session may record beside the one at hand. */
bool progress_may_both_record(const struct progress *progress);

/* Whether the one at hand is to record no more, as that session has taken its place. */
bool progress_is_replaced(const struct progress *progress);

/* That session is gone. Returns since when, CLOCK_MONOTONIC ns, it may have recorded alone, and what then was
 * recorded is lost with it; 0: it never did. */
int64_t progress_lose_next(struct progress *progress);

/* All that the session at hand recorded beside the one before it is read. */
void progress_has_all_copies(struct progress *progress);

/* What both have; borrowed. */
struct overlap *progress_overlap(struct progress *progress);

/* That one; NULL if there is none. */
const struct session_identity *progress_next(const struct progress *progress);

/* The session is read to its end: the next one that is known, if any, is at hand. */
void progress_end(struct progress *progress);

/*
 * The sessions that are read to their end, and of which nothing is under way any more, as struct
 * session_identity: their files may be removed. progress_removed tells that those of @index are.
 */
const GArray *progress_over(const struct progress *progress);
void progress_removed(struct progress *progress, guint index);

/* Whether that session is read to its end, and its files are there. */
bool progress_has_ended(const struct progress *progress, const char *name, uint64_t created);

/* To be called between messages, often. */
void progress_tick(struct progress *progress);

/*
 * To be called before each step while what was recorded earlier is read, as fast as that goes. False: the
 * step is to wait for a position to hold, so that what is read a second time after a kill is little then,
 * too.
 */
bool progress_catch_up(struct progress *progress);

/* Whether what was read last is old. */
bool progress_lags(const struct progress *progress);

/* Whether all that was read is in positions that hold. */
bool progress_rests(const struct progress *progress);

/* Appends what was reached by now. */
void progress_save_reached(struct progress *progress, struct buffer *out);

/* The reader stops here, wherever that is: takes the last position. */
void progress_stop(struct progress *progress);

/* Everything is delivered that can be: looks once more what is settled. */
void progress_finish(struct progress *progress);

#endif
