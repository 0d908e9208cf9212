/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/store.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/kind.h"
#include "output/spool/salvage.h"
#include "output/spool/spoolfile.h"
#include "output/spool/spoolname.h"

/* How often the counts are put on the disk: what is lost with the power after that is not known. */
#define TALLY_SYNC_NS (1 * NS_PER_SECOND)

void store_init(struct store *store, const struct spool_options *options)
{
	memset(store, 0, sizeof(*store));
	store->directory = options->directory;
	store->items = kind_name(lane_kind(options->name, NULL));
	spooldb_init(&store->db, options);
	store->spool_counts_path = spoolname_counts(options->directory, options->name);
	store->counts.file = -1;
	store->under_way = g_array_new(FALSE, FALSE, sizeof(struct under_way));
}

void store_free(struct store *store)
{
	spooldb_free(&store->db, store->holds.batches > 0);
	spool_counts_close(&store->counts);
	g_array_unref(store->under_way);
	g_free(store->spool_counts_path);
	buffer_free(&store->times);
}

/* SQLITE_ERROR too: the statements are good, so the tables must be damaged. */
static bool is_damage(int rc)
{
	int kind = rc & 0xff;

	return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_ERROR ||
	       kind == SQLITE_SCHEMA || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH;
}

/* Errors after which the open file can still be read, and its log written. */
static bool leaves_open(int rc)
{
	int kind = rc & 0xff;

	return kind == SQLITE_FULL || kind == SQLITE_BUSY || kind == SQLITE_TOOBIG;
}

/* Puts SQLite's code into words for an administrator; returns false. */
static bool tell(struct store *store, int rc)
{
	int kind = rc & 0xff;

	store->full = kind == SQLITE_FULL || rc == SQLITE_IOERR_SHMSIZE;
	if (store->full)
		snprintf(store->error, sizeof(store->error), "no space left on the disk of %s: free some",
			store->directory);
	else if (kind == SQLITE_READONLY || kind == SQLITE_PERM || kind == SQLITE_AUTH)
		snprintf(store->error, sizeof(store->error),
			"%s cannot be written: make it, and its folder, writable for the agent's user",
			store->db.path);
	else if (kind == SQLITE_CANTOPEN)
		snprintf(store->error, sizeof(store->error),
			"%s cannot be opened or made: make its folder, writable for the agent's user",
			store->db.path);
	else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
		snprintf(store->error, sizeof(store->error), "another program has locked %s: stop it",
			store->db.path);
	else if (kind == SQLITE_TOOBIG)
		snprintf(store->error, sizeof(store->error),
			"a batch does not fit into %s beside those that are being sent: raise `max-size` in "
			"[spool], or `spool-size` in [output]",
			store->db.path);
	else if (kind == SQLITE_IOERR)
		snprintf(store->error, sizeof(store->error),
			"the disk of %s failed (%s): see the kernel's log", store->db.path,
			sqlite3_errstr(rc));
	else
		snprintf(store->error, sizeof(store->error), "%s: %s", store->db.path, sqlite3_errstr(rc));
	return false;
}

/* Opening */

/* Deletes again what was delivered: the file has lost the commits that deleted it. */
static int delete_below(struct store *store, int64_t first)
{
	sqlite3_bind_int64(store->db.stmt[SPOOLDB_DELETE_BELOW], 1, first);
	return spooldb_step(&store->db, SPOOLDB_DELETE_BELOW);
}

int store_commit(struct store *store, struct spool_counts *next, int rc)
{
	int64_t now = clock_monotonic();
	bool sync;

	next->sequence++;
	rc = spooldb_end(&store->db, next, rc);
	if (rc != SQLITE_OK)
		return rc;
	store->holds = *next;
	sync = store->db.sync_full || now - store->synced_at >= TALLY_SYNC_NS;
	/* If this fails, a later loss may not be counted in full: no reason to store nothing. */
	spool_counts_write(&store->counts, &store->holds, sync);
	if (sync)
		store->synced_at = now;
	return SQLITE_OK;
}

static bool same(const struct spool_counts *a, const struct spool_counts *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * Counts the rows of a file that is whole. If the book agrees, nothing is written; unless the file @replaces
 * another, whose losses are counted with this.
 */
static int count_rows(struct store *store, const struct spool_counts *book, bool replaces)
{
	const struct spool_counts *expected = &store->expected;
	bool ours = expected->identity == book->identity;
	struct spool_counts found = {0};
	int rc = spooldb_begin(&store->db, 0);

	if (rc == SQLITE_OK && ours && expected->sequence > book->sequence)
		rc = delete_below(store, expected->first);
	if (rc == SQLITE_OK)
		rc = spooldb_count(&store->db, &found);
	if (rc == SQLITE_OK && replaces)
		rc = spoolfile_forget_replaced(store->db.db);
	found.identity = book->identity;
	/* Not below the counts's, or that of another file would go on being the newest. */
	found.sequence = MAX(MAX(expected->sequence, store->counts.slots.number), book->sequence);
	found.next = MAX(book->next, MAX(found.next, expected->next));
	if (!found.batches)
		found.first = found.next;
	if (rc != SQLITE_OK || replaces || !same(&found, book))
		return store_commit(store, &found, rc);
	store->holds = found;
	return sqlite3_exec(store->db.db, "ROLLBACK", NULL, NULL, NULL);
}

/*
 * What the checkpoint knows of the file comes after the file's own last commit, and after the counts', if
 * both are of a backup. If it knows of another file, all that was in that one is lost; unless @tally, which
 * is the counts' identity, tells of it already.
 */
static void heed_checkpoint(struct store *store, const struct spool_counts *book, uint64_t tally)
{
	const struct spool_counts known = store->known;

	store->known = (struct spool_counts){0};
	if (!known.identity)
		return;
	if (known.identity != spool_counts_cut(book->identity)) {
		if (known.identity != spool_counts_cut(tally))
			store->expected.spans += known.spans;
	} else if (known.sequence > store->expected.sequence) {
		store->expected = known;
		store->expected.identity = book->identity;
	}
}

static int open_whole(struct store *store)
{
	struct spool_counts book, replaced;
	bool replaces = false;
	int64_t discarded = 0, gone = 0;
	uint64_t tally = store->expecting ? store->expected.identity : 0;
	int rc = spooldb_open(&store->db);

	if (rc == SQLITE_OK)
		rc = spoolfile_read_book(store->db.db, &book);
	if (rc == SQLITE_OK)
		rc = spoolfile_read_replaced(store->db.db, &replaced, &replaces);
	if (rc == SQLITE_OK)
		rc = spoolfile_read_discarded(store->db.db, &discarded);
	if (rc != SQLITE_OK)
		return rc;
	store->discarded = MAX(store->discarded, discarded);
	/* The counts counts if it belongs to this file, and has its last commit. If it is of a file that
	 * somebody replaced, all that was in that one is lost. */
	if (store->expecting && store->expected.identity != book.identity && !replaces)
		gone = store->expected.spans;
	if (!store->expecting || store->expected.identity != book.identity ||
		store->expected.sequence < book.sequence)
		store->expected = replaces ? replaced : book;
	store->expected.spans += gone;
	if (!replaces)
		heed_checkpoint(store, &book, tally);
	store->expecting = true;
	return count_rows(store, &book, replaces);
}

static int make_empty(struct store *store, const struct spool_counts *wanted)
{
	struct spool_counts none = spoolfile_empty_book(wanted);
	int rc;
	sqlite3 *db = spoolfile_begin(store->db.path, &rc);

	return db ? spoolfile_end(db, store->db.path, &none, wanted, SQLITE_OK) : rc;
}

/*
 * Puts a new file in the place of what is there, with what can be saved of it. What is there is set aside
 * only when the new file is whole, and that says what the old one should have held: so a crash at any moment
 * does not lose the count.
 */
static int replace(struct store *store, enum spoolfile_kind kind, char *aside, size_t size)
{
	static const struct spool_counts unknown;
	const struct spool_counts *wanted = store->expecting ? &store->expected : &unknown;
	int rc;

	spooldb_close(&store->db, false);
	if (kind == SPOOLFILE_NONE || kind == SPOOLFILE_OTHER)
		rc = make_empty(store, wanted);
	else
		rc = salvage_build(store->db.path, wanted);
	if (rc != SQLITE_OK)
		return rc;
	if (kind != SPOOLFILE_NONE && !spoolfile_set_aside(store->db.path, aside, size))
		return SQLITE_CANTOPEN;
	if (!spoolfile_adopt(store->db.path))
		return SQLITE_CANTOPEN;
	return open_whole(store);
}

/* Counts what was expected and is not there, except for what memory has. */
static int64_t count_lost(struct store *store)
{
	int64_t lost = store->expected.spans - store->holds.spans - store_missing_under_way(store);

	lost = MAX(lost, 0);
	store->lost.corrupt += lost;
	store->lost.unknown |= store->expected.next == 0;
	store->lost.removed |= store->harmed;
	store->expecting = store->was_open = store->harmed = false;
	return lost;
}

static void say(const struct store *store, const char *why, const char *aside, int64_t lost)
{
	const char *path = store->db.path;

	if (*aside)
		log_warning("%s cannot be used: %s. It was renamed to %s; %" G_GINT64_FORMAT
			    " of its %s are saved, %" G_GINT64_FORMAT " are lost, and counted",
			path, why, aside, store->holds.spans, store->items, lost);
	else if (lost)
		log_warning("%s has lost %" G_GINT64_FORMAT " %s, which are counted: %s; %" G_GINT64_FORMAT
			    " are there",
			path, lost, store->items, why, store->holds.spans);
}

/* Says that the file cannot be opened now. */
static bool fail(struct store *store, int rc)
{
	spooldb_close(&store->db, false);
	return tell(store, rc);
}

/* Reads, once, what the file should hold. */
static void expect(struct store *store)
{
	if (!store->expecting)
		store->expecting = spool_counts_read(&store->counts, &store->expected);
}

/* Locks the spool, and finds the counts's place to write. */
static bool open_counts(struct store *store)
{
	struct spool_counts ignored;

	if (store->counts.file >= 0)
		return true;
	if (!spool_counts_open(&store->counts, store->spool_counts_path, store->error, sizeof(store->error)))
		return false;
	spool_counts_read(&store->counts, &ignored);
	return true;
}

/* Replaces what is at the spool's path, because of @why. */
static bool open_replaced(struct store *store, enum spoolfile_kind kind, const char *why)
{
	char aside[512] = "";
	int rc = replace(store, kind, aside, sizeof(aside));

	if (rc != SQLITE_OK)
		return fail(store, rc);
	say(store, why, aside, count_lost(store));
	return true;
}

/* Opens the file, or replaces it; @damage says what is known to be wrong with it, NULL if nothing is. */
static bool open_file(struct store *store, const char *damage)
{
	enum spoolfile_kind kind;
	char why[128] = "";
	int rc;

	if (!open_counts(store))
		return false;
	expect(store);
	spoolfile_tidy(store->db.path);
	kind = spoolfile_probe(store->db.path, why, sizeof(why));
	if (kind == SPOOLFILE_GOOD && store->was_open &&
		!spoolfile_is(store->db.path, store->expected.identity)) {
		kind = SPOOLFILE_OTHER;
		g_strlcpy(why, "it is another spool, which was put in its place", sizeof(why));
	}
	if (kind == SPOOLFILE_UNREADABLE)
		return fail(store, SQLITE_CANTOPEN);
	if (kind != SPOOLFILE_GOOD)
		return open_replaced(store, kind, why);
	if (damage)
		return open_replaced(store, kind, damage);
	rc = open_whole(store);
	if (is_damage(rc))
		return open_replaced(store, kind, "it is damaged");
	if (rc != SQLITE_OK)
		return fail(store, rc);
	say(store, "its last commits are not on the disk, or its files are of a backup", "",
		count_lost(store));
	return true;
}

bool store_open(struct store *store)
{
	return store->db.db || open_file(store, NULL);
}

/* The open file is damaged, or gone: memory knows best what it held. A file that is not the one which was
 * open has to be its copy, or nothing of it is taken. */
static bool repair(struct store *store, bool gone)
{
	store->expected = store->holds;
	store->expecting = true;
	store->was_open = gone;
	if (gone)
		spooldb_drop_log(&store->db, false);
	else
		spooldb_close(&store->db, false);
	spool_counts_close(&store->counts);
	return open_file(store, "it is damaged");
}

/* All that was in the log is moved into the file, and another log is begun. */
static bool replace_log(struct store *store)
{
	int rc = spooldb_move_log(&store->db);

	if (is_damage(rc))
		return repair(store, false);
	if (rc != SQLITE_OK)
		return tell(store, rc);
	log_warning("the log of %s was removed or replaced: nothing of it is lost, and another one is begun",
		store->db.path);
	store->expected = store->holds;
	store->expecting = true;
	spooldb_drop_log(&store->db, true);
	return open_file(store, NULL);
}

bool store_look(struct store *store)
{
	enum spooldb_harm harm = store->db.db ? spooldb_look(&store->db) : SPOOLDB_WHOLE;

	store->harmed |= harm != SPOOLDB_WHOLE;
	switch (harm) {
	case SPOOLDB_GONE:
		return repair(store, true);
	case SPOOLDB_LOG_GONE:
		return replace_log(store);
	case SPOOLDB_CUT:
		return repair(store, false);
	default:
		return true;
	}
}

void store_shrink(struct store *store)
{
	spooldb_shrink(&store->db);
	if (!store->db.alone)
		return;
	/* others may read it again, if there is room for the log's index by now */
	store->expected = store->holds;
	store->expecting = true;
	spooldb_close(&store->db, true);
	open_file(store, NULL);
}

bool store_run(struct store *store, int (*work)(struct store *store, void *data), void *data)
{
	int rc;

	store->full = false;
	if (!store_look(store) || !store_open(store))
		return false;
	rc = work(store, data);
	if (is_damage(rc)) {
		if (!repair(store, false))
			return false;
		rc = work(store, data);
	}
	if ((rc & 0xff) == SQLITE_FULL && spooldb_move_log(&store->db) == SQLITE_OK)
		rc = work(store, data); /* in the room that the log had */
	if (rc == SQLITE_OK)
		return true;
	if (!leaves_open(rc))
		spooldb_close(&store->db, false);
	return tell(store, rc);
}
