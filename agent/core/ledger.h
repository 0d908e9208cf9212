/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger: every event that a program logged stands in exactly one row, and every span made of them too.
 *
 *     events logged = read - read again + lost in ring buffers + lost in relay
 *     read          = in spans + json + rejected + ignored
 *     spans made    = pending + handed to the outputs
 *
 * and in the account of each output
 *
 *     taken + recovered = queued + spooled + sent + dropped
 *
 * where an output that was there from the start has taken all that were handed on; one that was added later
 * has taken those since.
 *
 * The ledger outlives the agent: a checkpoint has a snapshot of it, of the moment up to which events had been
 * *reached*, and beside it an older moment up to which they are *done*, with the spans that were pending
 * then. The next run takes the snapshot up, but not the spans that were pending or queued in it: the pending
 * ones of the older moment are made again, and the rest come of the events between the two moments, which are
 * read, and counted, again. What a killed run did after its snapshot is in no row, and is all done again. So
 * the rows go on adding up.
 *
 * Whoever moves something from row to row does it in one call, so that a snapshot always adds up. All calls
 * are for any thread.
 */
#ifndef CORE_LEDGER_H
#define CORE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "core/rows.h"

/* Amounts by row: a change to post, or a snapshot. */
struct ledger {
	int64_t row[LEDGER_ROWS];
};

/* Delivery latency: spans by the time from their last event to the acknowledgement. */
#define LEDGER_BUCKETS 14
extern const double
	ledger_bucket_seconds[LEDGER_BUCKETS]; /* upper bounds; one more bucket holds what is beyond */

struct ledger_latency {
	uint64_t bucket[LEDGER_BUCKETS + 1]; /* not cumulative */
	double sum;                          /* seconds */
};

/* Adds @change to the rows. */
void ledger_post(const struct ledger *change);

/* The same for one row. */
void ledger_add(enum ledger_row row, int64_t amount);

/* Copies the rows, as of one moment. */
void ledger_read(struct ledger *rows);

/* Accounts: an output's rows. */

struct account;

/* The account of the output @name, opened if there is none. It is the ledger's, and stays to the end. */
struct account *account_open(const char *name);
const char *account_name(const struct account *account);

struct account_change {
	int64_t row[ACCOUNT_ROWS];
};

void account_post(struct account *account, const struct account_change *change);
void account_add(struct account *account, enum account_row row, int64_t amount);
void account_move(struct account *account, enum account_row from, enum account_row to, int64_t amount);

/* What one producer hands to several outputs: @change and all of @changes at once. */
struct account_entry {
	struct account *account;
	struct account_change change;
};

void ledger_post_with(const struct ledger *change, const struct account_entry *entries, size_t count);

/*
 * Enters what the spool holds when it is opened first, and what it has lost; after ledger_load. What is more
 * than stands there already counts as recovered. What is less was sent by a run that was killed after its
 * snapshot; or, if the spool cannot tell what it ought to hold (@unknown), lost with it. Returns how many
 * spans were lost in all.
 */
int64_t account_enter_spool(struct account *account, int64_t spooled, int64_t lost, bool unknown);

/* Adds delivered spans to the latency histogram: @events are their event times, ns since the epoch. */
void account_delivered(struct account *account, const int64_t *events, uint32_t count, int64_t now);

/* A snapshot of an account. */
struct account_rows {
	int64_t row[ACCOUNT_ROWS];
	struct ledger_latency latency;
};

/*
 * Copies the ledger's rows and those of @count accounts, all as of one moment. */
void ledger_read_with(
	struct ledger *rows, struct account *const *accounts, struct account_rows *of, size_t count);

/* Checkpoints */

/* Appends a snapshot of all rows, by their names, so that other versions can read it. */
void ledger_save(struct buffer *out);

/*
 * Goes on from such a snapshot, as told above; false, having changed nothing, if it is damaged. Rows of
 * outputs that have no account are left out.
 */
bool ledger_load(struct unpacker from);

#endif
