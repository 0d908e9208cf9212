/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool's stock: its file, open, and what it holds; opened, repaired and replaced so that what is lost is
 * known to the span. Private to the spool.
 */
#ifndef SPOOL_STOCK_H
#define SPOOL_STOCK_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "spool/spool.h"
#include "spool/spooldb.h"
#include "spool/tally.h"

struct stock {
	const char *directory; /* borrowed */
	struct spooldb db;
	char *tally_path;
	int tally;                /* descriptor, -1: closed */
	int64_t synced_at;        /* when it last went to the disk */
	struct tally holds;       /* what is there */
	struct tally expected;    /* what ought to be there, while a file is being opened or replaced */
	bool expecting;           /* it is known */
	GArray *under_way;        /* of struct under_way */
	struct spool_losses lost; /* not told yet */
	struct buffer times;      /* of the row that is being stored */
	char error[512];
};

void stock_init(struct stock *stock, const struct spool_options *options);
void stock_free(struct stock *stock);

/* As spool_open. */
bool stock_open(struct stock *stock);

/*
 * Runs a piece of work, which returns a code of SQLite's, on the open file; once more if the file had to be
 * repaired for it. Returns false, with the error's words, if it cannot be done now.
 */
bool stock_run(struct stock *stock, int (*work)(struct stock *stock, void *data), void *data);

/* Ends what spooldb_begin began, @next being what the file then holds. */
int stock_commit(struct stock *stock, struct tally *next, int rc);

/* A batch that was read, and is not deleted yet: memory has it, so it is neither evicted nor lost with the
 * file. */
struct under_way {
	int64_t id, spans;
};

void stock_note_under_way(struct stock *stock, int64_t id, uint32_t spans);
void stock_forget_under_way(struct stock *stock, int64_t id);
int64_t stock_highest_under_way(const struct stock *stock);

#endif
