/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: how far everything is done, on record for whoever reads next.
 *
 * A reader hands over *positions*: bytes that say from where it would have to read on, and that only it
 * understands. A position holds once everything that was handed to the outputs before it is settled at each
 * of them. Then it is written into the checkpoint, with what the reader has *reached* by that moment, and
 * with the ledger, which always go together: an event counts as read a second time if it was reached before.
 * These two are also written ahead of each batch that goes to an output, so that nothing is delivered of
 * which the next run does not know that it was read.
 *
 * The agent's death costs reading again from the last position that held. The death of a reader alone costs
 * less: what it handed over before its newest position is with the outputs, so the next one begins there.
 *
 * All calls belong to one thread at a time, but for checkpoint_write, which any thread may call.
 */
#ifndef OUTPUT_CHECKPOINT_H
#define OUTPUT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/pack.h"
#include "queue/fanout.h"

struct checkpoint;

/*
 * Opens the checkpoint in @folder, and takes up what an earlier run wrote, with its ledger. Where none can be
 * kept it is in memory only (checkpoint_lasting), and the log says so. NULL, and it is logged, if another
 * agent has it. @fanout, which is borrowed, knows what is settled.
 */
struct checkpoint *checkpoint_open(const char *folder, struct fanout *fanout);
void checkpoint_close(struct checkpoint *checkpoint);

/* Whether they outlive the agent. */
bool checkpoint_lasting(const struct checkpoint *checkpoint);

/* The newest position, whose number is in @number, and whether it holds; and what was reached, as of the
 * ledger. Borrowed; empty if nothing was ever read. */
const struct buffer *checkpoint_newest(const struct checkpoint *checkpoint, uint64_t *number, bool *holds);
const struct buffer *checkpoint_reached(const struct checkpoint *checkpoint);

/* Between these two no other thread writes it: what was reached and the ledger change together. */
void checkpoint_hold(struct checkpoint *checkpoint);
void checkpoint_release(struct checkpoint *checkpoint);

/* Hands over what was read up to @reached (fanout_hand): that and the ledger change together. */
void checkpoint_hand(struct checkpoint *checkpoint, struct unpacker reached, struct ledger *change,
	const struct items *items, int64_t now, bool force);

/* A position with a number higher than those before: all that was pushed up to now is before it. */
void checkpoint_offer(struct checkpoint *checkpoint, uint64_t number, const void *position, size_t size);

/* Whether a position was offered that does not hold yet. */
bool checkpoint_waiting(const struct checkpoint *checkpoint);

/* Looks what is settled. If that is a position, it is written down, its number is in @number, and the time
 * that took, in ns, in @cost. What a kill would have lost, and is safe now, is written, too. */
bool checkpoint_settle(struct checkpoint *checkpoint, uint64_t *number, int64_t *cost);

/* Writes the position that holds, what was reached, and the ledger; on disk, rather than in the kernel's
 * memory, if @sync. A failure is logged. Any thread. */
void checkpoint_write(struct checkpoint *checkpoint, bool sync);

/* Nothing is left to be read: the next run finds no position, and the ledger. */
void checkpoint_forget(struct checkpoint *checkpoint);

#endif
