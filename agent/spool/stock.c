/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/stock.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "spool/salvage.h"
#include "spool/spoolfile.h"

/* The tally goes to the disk so often: what a power cut takes later than that cannot be told. */
#define TALLY_SYNC_NS (1 * NS_PER_SECOND)

void stock_init(struct stock *stock, const struct spool_options *options)
{
	memset(stock, 0, sizeof(*stock));
	stock->directory = options->directory;
	spooldb_init(&stock->db, options->directory, options->max_bytes, options->sync_full);
	stock->tally_path = g_build_filename(options->directory, SPOOLFILE_TALLY, NULL);
	stock->tally = -1;
	stock->under_way = g_array_new(FALSE, FALSE, sizeof(struct under_way));
}

static void close_tally(struct stock *stock)
{
	if (stock->tally >= 0)
		close(stock->tally);
	stock->tally = -1;
}

void stock_free(struct stock *stock)
{
	spooldb_free(&stock->db);
	close_tally(stock);
	g_array_unref(stock->under_way);
	g_free(stock->tally_path);
	buffer_free(&stock->times);
}

/* SQL that is always the same fails where the tables are not what they were. */
static bool is_damage(int rc)
{
	int kind = rc & 0xff;

	return kind == SQLITE_CORRUPT || kind == SQLITE_NOTADB || kind == SQLITE_ERROR ||
	       kind == SQLITE_SCHEMA || kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH;
}

/* Of a full disk the open file may still be read, and its log written; nor does what is too large harm it. */
static bool leaves_open(int rc)
{
	int kind = rc & 0xff;

	return kind == SQLITE_FULL || kind == SQLITE_BUSY || kind == SQLITE_TOOBIG;
}

/* Says what SQLite's code means to an administrator; returns false. */
static bool tell(struct stock *stock, int rc)
{
	int kind = rc & 0xff;

	if (kind == SQLITE_FULL)
		snprintf(stock->error, sizeof(stock->error), "no space left on the disk of %s: free some",
			stock->directory);
	else if (kind == SQLITE_READONLY || kind == SQLITE_PERM || kind == SQLITE_AUTH)
		snprintf(stock->error, sizeof(stock->error),
			"%s cannot be written: make it, and its folder, writable for the agent's user",
			stock->db.path);
	else if (kind == SQLITE_CANTOPEN)
		snprintf(stock->error, sizeof(stock->error),
			"%s cannot be opened or made: make its folder, writable for the agent's user",
			stock->db.path);
	else if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
		snprintf(stock->error, sizeof(stock->error), "another program holds %s: end it",
			stock->db.path);
	else if (kind == SQLITE_TOOBIG)
		snprintf(stock->error, sizeof(stock->error),
			"a batch does not fit into %s beside those that are being sent: raise `max-size` in "
			"[spool]",
			stock->db.path);
	else if (kind == SQLITE_IOERR)
		snprintf(stock->error, sizeof(stock->error),
			"the disk of %s fails (%s): see the kernel's log", stock->db.path,
			sqlite3_errstr(rc));
	else
		snprintf(stock->error, sizeof(stock->error), "%s: %s", stock->db.path, sqlite3_errstr(rc));
	return false;
}

/* Opening */

/* What was delivered, by commits that the file has lost, is not to be sent again. */
static int delete_below(struct stock *stock, int64_t first)
{
	sqlite3_bind_int64(stock->db.stmt[SPOOLDB_DELETE_BELOW], 1, first);
	return spooldb_step(&stock->db, SPOOLDB_DELETE_BELOW);
}

int stock_commit(struct stock *stock, struct tally *next, int rc)
{
	int64_t now = clock_monotonic();
	bool sync;

	next->sequence++;
	rc = spooldb_end(&stock->db, next, rc);
	if (rc != SQLITE_OK)
		return rc;
	stock->holds = *next;
	sync = stock->db.sync_full || now - stock->synced_at >= TALLY_SYNC_NS;
	/* If it cannot be written, it tells less of a damage to come: no reason to fail. */
	tally_write(stock->tally, &stock->holds, sync);
	if (sync)
		stock->synced_at = now;
	return SQLITE_OK;
}

static bool same(const struct tally *a, const struct tally *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

/*
 * Finds out what a whole file has, by its rows. Where the book says the same, nothing is written; unless the
 * file owed spans to the one that it @replaces, which is now counted.
 */
static int count_rows(struct stock *stock, const struct tally *book, bool replaces)
{
	const struct tally *expected = &stock->expected;
	bool ours = expected->identity == book->identity;
	struct tally found = {0};
	int rc = spooldb_begin(&stock->db, 0);

	if (rc == SQLITE_OK && ours && expected->sequence > book->sequence)
		rc = delete_below(stock, expected->first);
	if (rc == SQLITE_OK)
		rc = spooldb_count(&stock->db, &found);
	if (rc == SQLITE_OK && replaces)
		rc = spoolfile_forget_replaced(stock->db.db);
	found.identity = book->identity;
	found.sequence = ours ? MAX(expected->sequence, book->sequence) : book->sequence;
	found.next = MAX(book->next, MAX(found.next, expected->next));
	if (!found.batches)
		found.first = found.next;
	if (rc != SQLITE_OK || replaces || !same(&found, book))
		return stock_commit(stock, &found, rc);
	stock->holds = found;
	return sqlite3_exec(stock->db.db, "ROLLBACK", NULL, NULL, NULL);
}

static int open_whole(struct stock *stock)
{
	struct tally book, replaced;
	bool replaces = false;
	int rc = spooldb_open(&stock->db);

	if (rc == SQLITE_OK)
		rc = spoolfile_read_book(stock->db.db, &book);
	if (rc == SQLITE_OK)
		rc = spoolfile_read_replaced(stock->db.db, &replaced, &replaces);
	if (rc != SQLITE_OK)
		return rc;
	/* The tally is to be believed if it is this file's, and knows its last commit. */
	if (!stock->expecting || stock->expected.identity != book.identity ||
		stock->expected.sequence < book.sequence)
		stock->expected = replaces ? replaced : book;
	stock->expecting = true;
	return count_rows(stock, &book, replaces);
}

static int make_empty(struct stock *stock, const struct tally *wanted)
{
	struct tally none = {(uint64_t)g_random_int() << 32 | g_random_int(), 1, MAX(wanted->next, 1),
		MAX(wanted->next, 1), 0, 0};
	int rc;
	sqlite3 *db = spoolfile_begin(stock->db.path, &rc);

	return db ? spoolfile_end(db, stock->db.path, &none, wanted, SQLITE_OK) : rc;
}

/*
 * Puts a new file, with what can be saved, in the place of what is there and is no spool, or none any more;
 * of nothing, where @kind says that nothing is there. Only when the new one is whole the old one goes; the
 * new one tells what the old one ought to have held, so a crash at any moment does not lose the count.
 */
static int replace(struct stock *stock, enum spoolfile_kind kind, char *aside, size_t size)
{
	static const struct tally unknown;
	const struct tally *wanted = stock->expecting ? &stock->expected : &unknown;
	int rc;

	spooldb_close(&stock->db, false);
	if (kind == SPOOLFILE_NONE)
		rc = make_empty(stock, wanted);
	else
		rc = salvage_build(stock->db.path, wanted);
	if (rc != SQLITE_OK)
		return rc;
	if (kind != SPOOLFILE_NONE && !spoolfile_set_aside(stock->db.path, aside, size))
		return SQLITE_CANTOPEN;
	if (!spoolfile_adopt(stock->db.path))
		return SQLITE_CANTOPEN;
	return open_whole(stock);
}

/* Counts what was expected and is not there, but for what memory has. */
static int64_t count_lost(struct stock *stock)
{
	int64_t lost = stock->expected.spans - stock->holds.spans;

	for (guint i = 0; i < stock->under_way->len; i++) {
		struct under_way *each = &g_array_index(stock->under_way, struct under_way, i);

		if (!spooldb_has(&stock->db, each->id))
			lost -= each->spans;
	}
	lost = MAX(lost, 0);
	stock->lost.corrupt += lost;
	stock->lost.unknown |= stock->expected.next == 0;
	stock->expecting = false;
	return lost;
}

static void say(const struct stock *stock, const char *why, const char *aside, int64_t lost)
{
	const char *path = stock->db.path;

	if (*aside)
		log_warning("%s cannot be used: %s. It is set aside as %s; %" G_GINT64_FORMAT
			    " spans of it are saved, %" G_GINT64_FORMAT " are lost, and counted",
			path, why, aside, stock->holds.spans, lost);
	else if (lost)
		log_warning("%s has lost %" G_GINT64_FORMAT " spans, which are counted: %s; %" G_GINT64_FORMAT
			    " are there",
			path, lost, why, stock->holds.spans);
}

/* Opens what is there; @damage says what is known to be wrong with it, NULL if nothing is. */
static bool open_file(struct stock *stock, const char *damage)
{
	char why[128] = "its last commits are not on the disk", aside[512] = "";
	enum spoolfile_kind kind;
	int rc = SQLITE_OK;

	if (stock->tally < 0)
		stock->tally = tally_open(stock->tally_path, stock->error, sizeof(stock->error));
	if (stock->tally < 0)
		return false;
	if (!stock->expecting)
		stock->expecting = tally_read(stock->tally, &stock->expected);
	spoolfile_tidy(stock->db.path);
	kind = spoolfile_probe(stock->db.path, why, sizeof(why));
	if (kind == SPOOLFILE_UNREADABLE)
		rc = SQLITE_CANTOPEN;
	else if (kind == SPOOLFILE_GOOD && !damage && is_damage(rc = open_whole(stock)))
		damage = "it is damaged";
	if (damage && kind == SPOOLFILE_GOOD)
		g_strlcpy(why, damage, sizeof(why));
	if (kind == SPOOLFILE_NONE || kind == SPOOLFILE_BAD || (damage && kind == SPOOLFILE_GOOD))
		rc = replace(stock, kind, aside, sizeof(aside));
	if (rc == SQLITE_OK) {
		say(stock, why, aside, count_lost(stock));
		return true;
	}
	spooldb_close(&stock->db, false);
	return tell(stock, rc);
}

bool stock_open(struct stock *stock)
{
	return stock->db.db || open_file(stock, NULL);
}

/* The file at hand turned out to be damaged, or gone: memory knows best what it held. */
static bool repair(struct stock *stock)
{
	stock->expected = stock->holds;
	stock->expecting = true;
	spooldb_close(&stock->db, false);
	close_tally(stock);
	return open_file(stock, "it is damaged");
}

/* Runs a piece of work on the open file, once more if the file had to be repaired for it. */
bool stock_run(struct stock *stock, int (*work)(struct stock *stock, void *data), void *data)
{
	int rc;

	if (!stock_open(stock))
		return false;
	rc = work(stock, data);
	if (is_damage(rc)) {
		if (!repair(stock))
			return false;
		rc = work(stock, data);
	}
	if ((rc & 0xff) == SQLITE_FULL && spooldb_move_log(&stock->db) == SQLITE_OK)
		rc = work(stock, data); /* in the room that the log had */
	if (rc == SQLITE_OK)
		return true;
	if (!leaves_open(rc))
		spooldb_close(&stock->db, false);
	return tell(stock, rc);
}

/* What is under way */

static struct under_way *find_under_way(const struct stock *stock, int64_t id)
{
	for (guint i = 0; i < stock->under_way->len; i++) {
		struct under_way *each = &g_array_index(stock->under_way, struct under_way, i);

		if (each->id == id)
			return each;
	}
	return NULL;
}

void stock_note_under_way(struct stock *stock, int64_t id, uint32_t spans)
{
	const struct under_way new = {id, spans};

	if (!find_under_way(stock, new.id))
		g_array_append_val(stock->under_way, new);
}

void stock_forget_under_way(struct stock *stock, int64_t id)
{
	struct under_way *found = find_under_way(stock, id), *all = (void *)stock->under_way->data;

	if (found)
		g_array_remove_index(stock->under_way, (guint)(found - all));
}

int64_t stock_highest_under_way(const struct stock *stock)
{
	int64_t highest = 0;

	for (guint i = 0; i < stock->under_way->len; i++)
		highest = MAX(highest, g_array_index(stock->under_way, struct under_way, i).id);
	return highest;
}
