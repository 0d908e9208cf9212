/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The books: how far everything is done, on record for whoever reads after this run.
 *
 * A reader hands over *places*: bytes that say from where it would have to read on, and that only it
 * understands. A place holds once everything that was handed to the outputs before it is settled at each of
 * them. Then it is written into the checkpoint, with what the reader has *reached* by that moment, and with
 * the ledger. So the death of a reader costs nothing but reading again from the last place that held, whether
 * the whole agent dies with it or not.
 *
 * All calls belong to one thread at a time.
 */
#ifndef OUTPUT_BOOKS_H
#define OUTPUT_BOOKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "output/checkpoint.h"
#include "queue/fanout.h"

struct books;

/*
 * Opens the checkpoint in @folder; @fanout, which is borrowed, knows what is settled. Without a checkpoint
 * the books are kept in memory only, and @error says why: books_lasting. NULL if another agent has it, and
 * @error says so.
 */
struct books *books_open(const char *folder, struct fanout *fanout, char *error, size_t error_size);
void books_close(struct books *books);

/* Whether they outlive the agent. */
bool books_lasting(const struct books *books);

/* Reads what an earlier run wrote into @data: the place behind its size, what was reached, and the ledger. */
enum checkpoint_state books_read(struct books *books, struct buffer *data, char *error, size_t error_size);

/* The place that holds from the start, copied. */
void books_begin(struct books *books, const void *place, size_t size);

/* Takes the bytes of @place over, and leaves it with others to be written over: all that was pushed up to now
 * is before it. */
void books_offer(struct books *books, struct buffer *place);

/* Whether a place was offered that does not hold yet. */
bool books_waiting(const struct books *books);

/* Looks whether it holds; once true, it is no longer waiting. */
bool books_settle(struct books *books);

/* Writes the place that holds, what was @reached, and the ledger; on disk, rather than in the kernel's
 * memory, if
 * @sync. A failure is logged. */
void books_write(struct books *books, const struct buffer *reached, bool sync);

/* Bytes of the place that holds. */
size_t books_size(const struct books *books);

/* Nothing is left to be read: the next run finds nothing. */
void books_forget(struct books *books);

#endif
