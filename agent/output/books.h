/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The books: how far everything is done, on record for whoever reads next.
 *
 * A reader hands over *places*: bytes that say from where it would have to read on, and that only it
 * understands. A place holds once everything that was handed to the outputs before it is settled at each of
 * them. Then it is written into the checkpoint, with what the reader has *reached* by that moment, and with
 * the ledger, which always go together: an event counts as read a second time if it was reached before. These
 * two are also written ahead of each batch that goes to an output, so that nothing is delivered of which the
 * next run does not know that it was read.
 *
 * The agent's death costs reading again from the last place that held. The death of a reader alone costs
 * less: what it handed over before its newest place is with the outputs, so the next one begins there.
 *
 * All calls belong to one thread at a time.
 */
#ifndef OUTPUT_BOOKS_H
#define OUTPUT_BOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "queue/fanout.h"

struct books;

/*
 * Opens the checkpoint in @folder, and takes up what an earlier run wrote, with its ledger. Where none can be
 * kept the books are in memory only (books_lasting), and the log says so. NULL, and it is logged, if another
 * agent has it. @fanout, which is borrowed, knows what is settled.
 */
struct books *books_open(const char *folder, struct fanout *fanout);
void books_close(struct books *books);

/* Whether they outlive the agent. */
bool books_lasting(const struct books *books);

/* The newest place, whose number is in @number, and whether it holds; and what was reached, as of the ledger.
 * Borrowed; empty if nothing was ever read. */
const struct buffer *books_newest(const struct books *books, uint64_t *number, bool *holds);
const struct buffer *books_reached(const struct books *books);

/* The reader has reached this, and the ledger knows of it. */
void books_reach(struct books *books, const void *reached, size_t size);

/* A place with a number higher than those before: all that was pushed up to now is before it. */
void books_offer(struct books *books, uint64_t number, const void *place, size_t size);

/* Whether a place was offered that does not hold yet. */
bool books_waiting(const struct books *books);

/* Looks what is settled. If that is a place, it is written down, its number is in @number, and the time that
 * took, in ns, in @cost. */
bool books_settle(struct books *books, uint64_t *number, int64_t *cost);

/* Writes the place that holds, what was reached, and the ledger; on disk, rather than in the kernel's memory,
 * if @sync. A failure is logged. */
void books_write(struct books *books, bool sync);

/* Nothing is left to be read: the next run finds nothing. */
void books_forget(struct books *books);

#endif
