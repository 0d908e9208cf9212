/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin spool`: what waits on disk, what was refused, and whether it is whole. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib.h>
#include <sysexits.h>

#include "base/buffer.h"
#include "commands.h"
#include "config/config.h"
#include "base/json.h"
#include "base/log.h"
#include "spans/decode.h"
#include "options.h"
#include "printable.h"
#include "spans/span2.h"
#include "spool/spoolfile.h"
#include "spool/spoolrow.h"
#include "spoolview.h"
#include "traces/trace_print.h"

static const char help[] =
	"Usage: blkin spool list [--json] [--user] [--config FILE | --directory DIR]\n"
	"       blkin spool check [--user] [--config FILE | --directory DIR]\n"
	"\n"
	"Looks into the spool, where spans wait on disk while the collector does not take\n"
	"them; the agent may run meanwhile, or not. `list` shows the batches, and the newest\n"
	"of the spans that the collector refused; `check` reads every batch, and exits with\n"
	"1 if one is damaged.\n"
	"\n"
	"  --json           one batch, or refused span, a line, as JSON\n"
	"  --user           the spool of this user's agent, blkin-agent --user\n"
	"  --config FILE    the configuration that says where the spool is\n"
	"                   (" CONFIG_DEFAULT_FILE ")\n"
	"  --directory DIR  the folder where it is\n";

/* Of the collector's words, and of what a refused span's decoder says, so much is shown. */
#define WORDS_MAX 500

struct view {
	const char *directory;
	sqlite3 *db;
	bool json;
	struct buffer out;
};

/* A statement over the spool's rows; NULL having logged why not. */
static sqlite3_stmt *prepare(struct view *view, const char *sql)
{
	int rc = SQLITE_OK;
	sqlite3_stmt *stmt = spoolfile_prepare(view->db, sql, &rc);

	if (rc != SQLITE_OK)
		spoolview_failed(view->directory, rc);
	return stmt;
}

/* Goes to the first row behind this id; sqlite3_reset ends the look, before anything is written. */
static int step_behind(sqlite3_stmt *stmt, int64_t id)
{
	sqlite3_bind_int64(stmt, 1, id);
	return sqlite3_step(stmt);
}

static int finish(struct view *view, sqlite3_stmt *stmt, int rc)
{
	sqlite3_finalize(stmt);
	return rc == SQLITE_DONE ? EXIT_SUCCESS : spoolview_failed(view->directory, rc);
}

static void flush(struct view *view)
{
	fwrite(view->out.data, 1, view->out.size, stdout);
	view->out.size = 0;
}

static void put_time(struct buffer *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32] = "-";
	struct tm local;

	if (ns > 0 && localtime_r(&seconds, &local))
		strftime(text, sizeof(text), "%F %T", &local);
	buffer_printf(out, "  %-19s", text);
}

/* Listing */

static void put_member(struct buffer *out, const char *key, int64_t value)
{
	json_key(out, key);
	json_int(out, value);
}

static void put_batch_json(struct buffer *out, const struct spoolrow *row)
{
	json_open(out, '{');
	put_member(out, "batch", row->id);
	put_member(out, "spans", row->count);
	put_member(out, "bytes", (int64_t)row->bytes);
	put_member(out, "oldest", row->oldest / 1000);
	put_member(out, "newest", row->newest / 1000);
	json_close(out, '}');
	buffer_printf(out, "\n");
}

static void put_batch(struct buffer *out, const struct spoolrow *row)
{
	buffer_printf(out, "%12" PRId64 "%8" PRIu32 "%12zu", row->id, row->count, row->bytes);
	put_time(out, row->oldest);
	put_time(out, row->newest);
	buffer_printf(out, "\n");
}

static void add(struct spoolrow *total, const struct spoolrow *row)
{
	total->oldest = total->id ? MIN(total->oldest, row->oldest) : row->oldest;
	total->newest = MAX(total->newest, row->newest);
	total->id++;
	total->bytes += row->bytes;
}

/*
 * One batch in a look of its own, as in all that follows: so that the agent can tidy up in between, however
 * long whoever reads this takes.
 */
static int list_batches(struct view *view)
{
	sqlite3_stmt *stmt =
		prepare(view, "SELECT " SPOOLROW_HEAD " FROM batch WHERE id > ? ORDER BY id LIMIT 1");
	struct spoolrow total = {0}, row = {0};
	int64_t before = 0;
	uint64_t spans = 0;
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = step_behind(stmt, before)) == SQLITE_ROW) {
		bool good = spoolrow_read(stmt, &row) && row.id > before;

		sqlite3_reset(stmt);
		if (!good) {
			rc = SQLITE_CORRUPT;
			break;
		}
		before = row.id;
		if (!view->json && !total.id)
			buffer_printf(&view->out, "%12s%8s%12s  %-19s  %s\n", "batch", "spans", "bytes",
				"oldest", "newest");
		(view->json ? put_batch_json : put_batch)(&view->out, &row);
		add(&total, &row);
		spans += row.count;
		flush(view);
	}
	if (!view->json)
		printf("%" PRId64 " batches, %" PRIu64 " spans, %zu bytes\n", total.id, spans, total.bytes);
	return finish(view, stmt, rc);
}

static void put_spans(struct view *view, const GPtrArray *spans)
{
	static const struct trace_style plain;

	if (view->json) {
		json_key(&view->out, "decoded");
		json_open(&view->out, '[');
		for (guint i = 0; i < spans->len; i++) {
			if (i)
				buffer_printf(&view->out, ",");
			span2_put_json(g_ptr_array_index(spans, i), &view->out);
		}
		json_close(&view->out, ']');
	} else {
		trace_print(&view->out, spans, &plain);
	}
}

/* What the collector said, and what the span is, as far as it can be told. */
static void put_refused(struct view *view, sqlite3_stmt *stmt)
{
	const char *words = (const char *)sqlite3_column_text(stmt, 3);
	int words_size = sqlite3_column_bytes(stmt, 3);
	const void *span = sqlite3_column_blob(stmt, 4);
	size_t kept = (size_t)sqlite3_column_bytes(stmt, 4);
	GPtrArray *spans = g_ptr_array_new_with_free_func(span2_free);
	bool whole = (int64_t)kept == sqlite3_column_int64(stmt, 1);
	char wrong[256] = "of so large a span only the beginning is kept";

	if (whole && !decode_span(span, kept, spans, wrong, sizeof(wrong)))
		whole = false;
	if (view->json) {
		json_open(&view->out, '{');
		put_member(&view->out, "refused", sqlite3_column_int64(stmt, 0) / 1000);
		put_member(&view->out, "bytes", sqlite3_column_int64(stmt, 1));
		json_key(&view->out, "words");
		json_string(&view->out, words ? words : "", (size_t)words_size);
	} else {
		buffer_printf(&view->out, "\nrefused");
		put_time(&view->out, sqlite3_column_int64(stmt, 0));
		buffer_printf(&view->out, ", %lld bytes: \"", (long long)sqlite3_column_int64(stmt, 1));
		printable_put(&view->out, words ? words : "", (size_t)words_size, WORDS_MAX);
		buffer_printf(&view->out, "\"\n");
	}
	if (whole && spans->len)
		put_spans(view, spans);
	else if (!view->json)
		buffer_printf(&view->out, "it cannot be shown: %s\n", wrong);
	if (view->json) {
		json_close(&view->out, '}');
		buffer_printf(&view->out, "\n");
	}
	g_ptr_array_unref(spans);
}

static int list_refused(struct view *view)
{
	sqlite3_stmt *stmt = prepare(
		view, "SELECT time, size, id, words, span FROM refused WHERE id > ? ORDER BY id LIMIT 1");
	int64_t before = 0, id;
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = step_behind(stmt, before)) == SQLITE_ROW) {
		id = sqlite3_column_int64(stmt, 2);
		if (id <= before) {
			rc = SQLITE_CORRUPT;
			break;
		}
		before = id;
		put_refused(view, stmt);
		sqlite3_reset(stmt);
		flush(view);
	}
	return finish(view, stmt, rc);
}

static int list(struct view *view)
{
	int code = list_batches(view);

	return code == EXIT_SUCCESS ? list_refused(view) : code;
}

/* Checking */

static void complain(int64_t id, uint32_t spans)
{
	log_error("batch %" PRId64 " of %" PRIu32 " spans is damaged", id, spans);
}

static int check_batches(struct view *view, int64_t *good, int64_t *bad)
{
	sqlite3_stmt *stmt =
		prepare(view, "SELECT " SPOOLROW_ALL " FROM batch WHERE id > ? ORDER BY id LIMIT 1");
	struct batch batch = {0};
	struct spoolrow row = {0};
	int rc = SQLITE_ROW;

	if (!stmt)
		return EXIT_FAILURE;
	while (rc == SQLITE_ROW) {
		int64_t before = row.id;
		bool whole;

		rc = step_behind(stmt, before);
		whole = rc == SQLITE_ROW && spoolrow_read(stmt, &row) &&
			spoolrow_read_batch(stmt, &row, &batch);
		sqlite3_reset(stmt);
		if (whole) {
			++*good;
		} else if (rc == SQLITE_ROW) {
			complain(row.id, row.count);
			++*bad;
			if (row.id <= before)
				rc = SQLITE_CORRUPT;
		}
	}
	buffer_free(&batch.spans);
	buffer_free(&batch.sizes);
	buffer_free(&batch.events);
	return finish(view, stmt, rc);
}

/* The file's own structure, in SQLite's words, but for "ok". */
static int check_structure(struct view *view, int64_t *bad)
{
	sqlite3_stmt *stmt = prepare(view, "PRAGMA quick_check(10)");
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		const char *words = (const char *)sqlite3_column_text(stmt, 0);

		if (words && strcmp(words, "ok") == 0)
			continue;
		log_error(
			"%s/" SPOOLFILE_NAME ": %s", view->directory, words ? words : "it cannot be checked");
		++*bad;
	}
	return finish(view, stmt, rc);
}

static int check(struct view *view)
{
	int64_t good = 0, bad = 0;
	int code = check_structure(view, &bad);

	if (code == EXIT_SUCCESS)
		code = check_batches(view, &good, &bad);
	if (code != EXIT_SUCCESS || bad)
		return EXIT_FAILURE;
	printf("%s/" SPOOLFILE_NAME ": OK, %" PRId64 " batches\n", view->directory, good);
	return EXIT_SUCCESS;
}

/* The command */

struct request {
	bool check, json, user;
	const char *config, *directory;
};

static int look(const struct request *request, const char *directory)
{
	struct view view = {.directory = directory, .json = request->json};
	int code = spoolview_open(directory, &view.db);

	if (code == EXIT_SUCCESS && !view.db) {
		if (!request->json)
			printf("there is no spool in %s\n", directory);
		return EXIT_SUCCESS;
	}
	if (code == EXIT_SUCCESS)
		code = request->check ? check(&view) : list(&view);
	sqlite3_close(view.db);
	buffer_free(&view.out);
	return code;
}

static int look_where_configured(const struct request *request)
{
	struct config config;
	int code = EX_CONFIG;

	if (config_load(&config, request->config, request->user) == 0)
		code = look(request, config.state_directory);
	config_free(&config);
	return code;
}

static int read_options(int argc, char **argv, struct request *request)
{
	static const struct option known[] = {{"json", no_argument, NULL, 'j'},
		{"user", no_argument, NULL, 'u'}, {"config", required_argument, NULL, 'c'},
		{"directory", required_argument, NULL, 'd'}, {0}};
	int option;

	while ((option = options_next(argc, argv, known, help)) >= 0) {
		switch (option) {
		case 'j':
			request->json = true;
			break;
		case 'u':
			request->user = true;
			break;
		case 'c':
			request->config = optarg;
			break;
		default:
			request->directory = optarg;
		}
	}
	return option;
}

int command_spool(int argc, char **argv)
{
	struct request request = {0};
	int option = read_options(argc, argv, &request);
	const char *word = optind < argc ? argv[optind] : NULL;

	log_init("blkin spool");
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	request.check = word && strcmp(word, "check") == 0;
	if (!word || (!request.check && strcmp(word, "list") != 0) || optind + 1 < argc) {
		log_error("say `blkin spool list` or `blkin spool check`");
		return EX_USAGE;
	}
	if (request.directory && (request.config || request.user)) {
		log_error("--directory says where the spool is: no other option can");
		return EX_USAGE;
	}
	return request.directory ? look(&request, request.directory) : look_where_configured(&request);
}
