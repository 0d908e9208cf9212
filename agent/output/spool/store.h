/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The store: the spool's file while it is open, and what it holds. It opens, repairs and replaces the file so
 * that every span that is lost is counted. Private to spool.c and sweep.c.
 */
#ifndef OUTPUT_SPOOL_STORE_H
#define OUTPUT_SPOOL_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "output/spool/spoolcounts.h"
#include "output/spool/spooldb.h"
#include "output/spool/spoolrow.h"
#include "output/spool/spooltypes.h"

struct store {
	const char *directory; /* borrowed */
	const char *items;     /* what it holds: "spans" */
	struct spooldb db;
	char *spool_counts_path;
	struct spool_counts_file counts;
	int64_t synced_at;            /* when the counts were last put on the disk */
	struct spool_counts holds;    /* what the file holds */
	struct spool_counts expected; /* while a file is being opened or replaced: what it should hold */
	bool expecting;               /* that is known */
	struct spool_counts known;    /* by the checkpoint, with a cut identity, until a file is open; or 0 */
	bool was_open;                /* so the file has to be the one that `expected` is of */
	GArray *under_way;            /* of struct under_way */
	int64_t discarded;            /* spans, ever */
	bool harmed;                  /* by somebody, and what that cost is not counted yet */
	struct spool_losses lost;     /* until spool_take_losses */
	struct buffer times;          /* of the row that is being stored */
	bool full;                    /* the disk, at the last call that failed; */
	char error[512];              /* why that did */
};

struct spool {
	struct store store;
};

void store_init(struct store *store, const struct spool_options *options);
void store_free(struct store *store);

/* As spool_open. */
bool store_open(struct store *store);

/*
 * Runs @work, which returns SQLite's code, on the open file; if it finds damage, repairs the file and runs it
 * again. Returns false, with the reason in `error`, if it cannot be done now.
 */
bool store_run(struct store *store, int (*work)(struct store *store, void *data), void *data);

/* Makes an empty file small, and lets others read it again. */
void store_shrink(struct store *store);

/* Looks after the open files: repairs what somebody did to them. Returns false as store_run does. */
bool store_look(struct store *store);

/* Ends what spooldb_begin began; the file then holds @next. */
int store_commit(struct store *store, struct spool_counts *next, int rc);

/* The same for a commit in which @spans were discarded. */
int store_commit_discarded(struct store *store, struct spool_counts *next, int64_t spans, int rc);

/* The head of the first batch behind @after; SQLITE_DONE if there is none. */
int store_read_head(struct store *store, int64_t after, struct spoolrow *row);

/* Deletes it, in the file and in @next. */
int store_delete_row(struct store *store, const struct spoolrow *row, struct spool_counts *next);

/* A batch that was read, and is not deleted yet. As memory has it too, it is not lost with the file. */
struct under_way {
	int64_t id, spans, newest;
	bool unwanted; /* to be deleted if it comes back */
};

void store_note_under_way(struct store *store, const struct spoolrow *row);
void store_forget_under_way(struct store *store, int64_t id);
bool store_is_under_way(const struct store *store, int64_t id);

/* Those without an event as new as @before are not wanted any more; and which these are: spool_unwanted. */
void store_give_up_under_way(struct store *store, int64_t before);
GArray *store_unwanted(const struct store *store);

/* Spans in batches under way that are not in the open file. */
int64_t store_missing_under_way(struct store *store);

int64_t store_highest_under_way(const struct store *store);

#endif
