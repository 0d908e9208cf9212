/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The ledger: every event that a program logged is in exactly one row, and so is every span made of them.
 *
 *     events logged = read - read again + lost in ring buffers + lost in relay
 *     read          = in spans + json + rejected + ignored
 *     spans made    = pending + handed to the outputs
 *     messages received = spans received + messages taken + refused + put off
 *
 * and in the account of each output, and of each lane of other items that it has (kind.h; there "spans" are
 * these items)
 *
 *     taken + recovered = queued + held + entrusted + spooled + undecided + sent + given back + sampled out
 *                         + dropped
 *
 * where an output that exists from the start has taken all spans that were handed on or received, and one
 * that was added later has taken those since.
 *
 * The ledger outlives the agent. A checkpoint has a snapshot of it, as of the moment up to which events had
 * been *reached*, and also an older moment up to which they are *done*, with the spans that were pending
 * then. The next run loads the snapshot, without the spans that were pending or queued in it: it restores the
 * pending spans of the older moment, and the rest are made from the events between the two moments, which are
 * read and counted again. What a killed run did after its snapshot is in no row, and is done again. So the
 * rows still add up.
 *
 * A move from one row to another is made in one call, so that a snapshot always adds up. All functions may be
 * called from any thread.
 */
#ifndef CORE_LEDGER_H
#define CORE_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/pack.h"
#include "core/rows.h"

/* Amounts by row: a change to post, or a snapshot. */
struct ledger {
	int64_t row[LEDGER_ROWS];
};

/* Delivery latency: a histogram of the time from a span's last event to the acknowledgement. */
#define LEDGER_BUCKETS 14
extern const double
	ledger_bucket_seconds[LEDGER_BUCKETS]; /* upper bounds; one more bucket counts what is above */

struct ledger_latency {
	uint64_t bucket[LEDGER_BUCKETS + 1]; /* not cumulative */
	double sum;                          /* seconds */
};

/*
 * How many were lost, by the difference of two numbers in packets: these are in memory that a program can
 * write. A number that no ring buffer reaches is forged, and counts as one, so that no row overflows.
 */
static inline uint64_t ledger_credible(uint64_t lost)
{
	return lost >> 32 ? 1 : lost;
}

/* What a row of losses has got since the agent started: what follows within LEDGER_EPISODE_NS belongs
 * together. */
#define LEDGER_EPISODE_NS (60 * NS_PER_SECOND)

struct loss {
	int64_t amount, at; /* the last of it, CLOCK_MONOTONIC ns; 0: none */
};

/* Adds @change to the rows. */
void ledger_post(const struct ledger *change);

/* The same for one row. */
void ledger_add(enum ledger_row row, int64_t amount);

/* Copies the rows, as of one moment. */
void ledger_read(struct ledger *rows);

/* Copies what there is of LEDGER_ROWS rows, of which some are losses. */
void ledger_read_losses(struct loss *losses);

/*
 * Whoever is in charge knows of all that is lost so far: @now, seconds since the epoch. It is saved with the
 * rows, as what there was of each then; an older version that loads that ignores it.
 */
void ledger_acknowledge(int64_t now);

struct acknowledged {
	int64_t at;         /* the last time, seconds since the epoch; 0: never */
	struct ledger rows; /* what there was then of those that are losses */
};

void ledger_read_acknowledged(struct acknowledged *is);

/* The reader is gone, and with it the spans that it had in assembly: the next one makes them again. */
void ledger_forget_pending(void);

/* Accounts: an output's rows. */

struct account;

/*
 * Returns the account of the output @name, and opens it if there is none. The ledger owns it, and never frees
 * it.
 */
struct account *account_open(const char *name);

struct account_change {
	int64_t row[ACCOUNT_ROWS];
};

void account_post(struct account *account, const struct account_change *change);
void account_add(struct account *account, enum account_row row, int64_t amount);
void account_move(struct account *account, enum account_row from, enum account_row to, int64_t amount);

/* What one producer hands to several outputs: @change and all @entries at once. */
struct account_entry {
	struct account *account;
	struct account_change change;
};

void ledger_post_with(const struct ledger *change, const struct account_entry *entries, size_t count);

/*
 * Enters what the spool holds when it is first opened, and what it has lost; call it after ledger_load. If it
 * holds more than the account says, the difference counts as recovered. If it holds less, the difference was
 * sent by a run that was killed after its snapshot; or, if the spool does not know what it should hold
 * (@unknown), it is lost. Returns how many spans were lost in total.
 */
int64_t account_enter_spool(struct account *account, int64_t spooled, int64_t lost, bool unknown);

/*
 * To be called before that: the spool's file says that @ever spans were discarded. Of those the account does
 * not know the ones that a killed run discarded after its snapshot: they leave the spool's row for that of
 * the discarded. An account that was in no snapshot knows nothing of those of former days. Returns how many
 * it has then, which the file has to say from now on.
 */
int64_t account_enter_discarded(struct account *account, int64_t ever);

/*
 * What the spool's files say of themselves (spool_counts_tell), as of the snapshot: so the next run knows
 * files that are older than that, or others. The first is 0 if nothing was noted.
 */
#define ACCOUNT_STORED 6
struct stored {
	int64_t number[ACCOUNT_STORED];
};

void account_note_stored(struct account *account, const struct stored *stored);
void account_read_stored(const struct account *account, struct stored *stored);

/*
 * Adds delivered spans to the latency histogram; @events are the times of their last events, ns since the
 * epoch.
 */
void account_delivered(struct account *account, const int64_t *events, uint32_t count, int64_t now);

/* A snapshot of an account. */
struct account_rows {
	int64_t row[ACCOUNT_ROWS];
	struct loss lost[ACCOUNT_ROWS];     /* of the rows that are losses */
	int64_t acknowledged[ACCOUNT_ROWS]; /* what there was of these when ledger_acknowledge was called */
	struct ledger_latency latency;
};

/* How many fresh spans wait for delivery. */
uint64_t account_waiting(const struct account *account);

/*
 * Copies the ledger's rows and those of @count accounts, all as of one moment. */
void ledger_read_with(
	struct ledger *rows, struct account *const *accounts, struct account_rows *of, size_t count);

/* Checkpoints */

/* Appends a snapshot of all rows, by their names, so that other versions can read it. Returns whether there
 * is something by it that nobody could send or read again (SPANS_ENTRUSTED). */
bool ledger_save(struct buffer *out);

/* The same of this moment. */
bool ledger_entrusted(void);

/*
 * Loads such a snapshot, as described above. Returns false, having changed nothing, if it is damaged. Rows of
 * outputs that have no account are ignored.
 */
bool ledger_load(struct unpacker from);

#endif
