/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin spool list`: a spool's batches, and its refused spans. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <glib.h>

#include "base/json.h"
#include "core/record.h"
#include "encode/eventjson.h"
#include "encode/messagejson.h"
#include "output/spool/refusedrow.h"
#include "output/spool/spoolrow.h"
#include "printable.h"
#include "spans/decode.h"
#include "spans/shown.h"
#include "spoolview.h"
#include "status/trace/span2.h"
#include "traces/trace_print.h"

/* How much of the collector's message is shown. */
#define WORDS_MAX 500
/* The same of an event, and of a message. */
#define ITEM_MAX 2000

static void put_time(struct buffer *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char text[32] = "-";
	struct tm local;

	if (ns > 0 && localtime_r(&seconds, &local))
		strftime(text, sizeof(text), "%F %T", &local);
	buffer_printf(out, "  %-19s", text);
}

/* Batches */

static void put_member(struct buffer *out, const char *key, int64_t value)
{
	json_key(out, key);
	json_int(out, value);
}

static void put_text(struct buffer *out, const char *key, const char *text)
{
	json_key(out, key);
	json_string(out, text, strlen(text));
}

static void put_batch_json(struct spoolview *view, const struct spoolrow *row)
{
	struct buffer *out = &view->out;

	json_open(out, '{');
	put_text(out, "output", view->output);
	put_member(out, "batch", row->id);
	put_member(out, "spans", row->count);
	put_member(out, "bytes", (int64_t)row->bytes);
	put_member(out, "oldest", row->oldest / 1000);
	put_member(out, "newest", row->newest / 1000);
	put_text(out, "format", batch_format_name(row->format));
	json_close(out, '}');
	buffer_printf(out, "\n");
}

static void put_batch(struct spoolview *view, const struct spoolrow *row)
{
	struct buffer *out = &view->out;

	buffer_printf(out, "%12" PRId64 "%8" PRIu32 "%12zu", row->id, row->count, row->bytes);
	put_time(out, row->oldest);
	put_time(out, row->newest);
	buffer_printf(out, "  %s\n", batch_format_name(row->format));
}

static void put_header(struct buffer *out)
{
	buffer_printf(out, "%12s%8s%12s  %-19s  %-19s  %s\n", "batch", "spans", "bytes", "oldest", "newest",
		"format");
}

static void add(struct spoolrow *total, const struct spoolrow *row)
{
	total->oldest = total->id ? MIN(total->oldest, row->oldest) : row->oldest;
	total->newest = MAX(total->newest, row->newest);
	total->id++;
	total->bytes += row->bytes;
}

static int list_batches(struct spoolview *view)
{
	sqlite3_stmt *stmt = spoolview_prepare(view, SPOOLROW_NEXT_HEAD);
	struct spoolrow total = {0}, row = {0};
	int64_t before = 0;
	uint64_t spans = 0;
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = spoolview_step_behind(stmt, before)) == SQLITE_ROW) {
		bool good = spoolrow_read(stmt, &row) && row.id > before;

		sqlite3_reset(stmt);
		if (!good) {
			rc = SQLITE_CORRUPT;
			break;
		}
		before = row.id;
		if (!view->json && !total.id)
			put_header(&view->out);
		(view->json ? put_batch_json : put_batch)(view, &row);
		add(&total, &row);
		spans += row.count;
		spoolview_flush(view);
	}
	if (!view->json)
		printf("%" PRId64 " batches, %" PRIu64 " %s, %zu bytes\n", total.id, spans,
			kind_name(lane_kind(view->output, NULL)), total.bytes);
	return spoolview_finish(view, stmt, rc);
}

/* Refused spans */

static void put_spans(struct spoolview *view, const GPtrArray *spans)
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

/* Decodes the span, if possible, into @spans. Returns NULL, or why it cannot be shown. It is a record, or as
 * it came by Scribe, or as versions before stored it; no span in Thrift begins as a record does. */
static const char *decode(const struct refusedrow *row, GPtrArray *spans, char *why, size_t size)
{
	struct span_memory memory = {0};
	const char *wrong;
	struct span span;

	if ((int64_t)row->kept != row->size)
		return "only the beginning of so large a span is kept";
	if (record_open(&span, row->span, row->kept, &memory))
		wrong = shown_span(&span, spans);
	else
		wrong = decode_span(row->span, row->kept, spans, why, size) ? NULL : why;
	span_memory_free(&memory);
	return wrong;
}

static void begin_refused_json(struct spoolview *view, const struct refusedrow *row)
{
	json_open(&view->out, '{');
	put_text(&view->out, "output", view->output);
	put_member(&view->out, "refused", row->time / 1000);
	put_member(&view->out, "bytes", row->size);
	json_key(&view->out, "words");
	json_string(&view->out, row->words, row->words_size);
}

static void put_refused_json(struct spoolview *view, const struct refusedrow *row, const GPtrArray *spans)
{
	begin_refused_json(view, row);
	if (spans->len)
		put_spans(view, spans);
	json_close(&view->out, '}');
	buffer_printf(&view->out, "\n");
}

/* Prints the collector's message. */
static void begin_refused(struct spoolview *view, const struct refusedrow *row)
{
	buffer_printf(&view->out, "\nrefused");
	put_time(&view->out, row->time);
	buffer_printf(&view->out, ", %" PRId64 " bytes: \"", row->size);
	printable_put(&view->out, row->words, row->words_size, WORDS_MAX);
	buffer_printf(&view->out, "\"\n");
}

/* The same, and the span as a tree; @wrong says why it cannot be shown, or is NULL. */
static void put_refused(
	struct spoolview *view, const struct refusedrow *row, const GPtrArray *spans, const char *wrong)
{
	begin_refused(view, row);
	if (wrong)
		buffer_printf(&view->out, "it cannot be shown: %s\n", wrong);
	else
		put_spans(view, spans);
}

/* Of an event its JSON, which versions before stored; false if it is none. */
static bool read_event(struct buffer *json, const struct refusedrow *row, struct message *message)
{
	struct eventjson memory = {0};
	bool is;

	if (row->kept && *row->span == '{')
		return true;
	json->size = 0;
	is = eventjson_put(&memory, json, row->span, row->kept);
	eventjson_free(&memory);
	message->payload = json->data;
	message->payload_size = (uint32_t)json->size;
	return is;
}

/* What is no span, so far as it is kept: a message, or an event; false if it is neither. */
static bool put_other(struct spoolview *view, const struct refusedrow *row)
{
	const bool event = lane_kind(view->output, NULL) == KIND_EVENTS;
	struct message message = {.payload = row->span, .payload_size = (uint32_t)row->kept};

	if (event && !read_event(&view->event, row, &message))
		return false;
	if (!event && !message_read(row->span, row->kept, &message))
		return false;
	if (!view->json) {
		printable_put(&view->out, (const char *)message.category, message.category_size, WORDS_MAX);
		buffer_printf(&view->out, "%s", event ? "" : ": ");
		printable_put(&view->out, (const char *)message.payload, message.payload_size, ITEM_MAX);
		buffer_printf(&view->out, "\n");
	} else if (event) {
		json_key(&view->out, "event");
		json_string(&view->out, (const char *)message.payload, message.payload_size);
	} else {
		json_key(&view->out, "message");
		messagejson_put(&view->out, &message);
	}
	return true;
}

static void show_other(struct spoolview *view, const struct refusedrow *row)
{
	if (view->json)
		begin_refused_json(view, row);
	else
		begin_refused(view, row);
	if (!put_other(view, row) && !view->json)
		buffer_printf(&view->out, "it cannot be shown\n");
	if (view->json) {
		json_close(&view->out, '}');
		buffer_printf(&view->out, "\n");
	}
}

static void show_refused(struct spoolview *view, const struct refusedrow *row)
{
	GPtrArray *spans;
	char why[256] = "";
	const char *wrong;

	if (lane_kind(view->output, NULL) != KIND_SPANS) {
		show_other(view, row);
		return;
	}
	spans = g_ptr_array_new_with_free_func(span2_free);
	wrong = decode(row, spans, why, sizeof(why));

	if (wrong)
		g_ptr_array_set_size(spans, 0);
	if (view->json)
		put_refused_json(view, row, spans);
	else
		put_refused(view, row, spans, wrong);
	g_ptr_array_unref(spans);
}

static int list_refused(struct spoolview *view)
{
	sqlite3_stmt *stmt = spoolview_prepare(view, REFUSEDROW_NEXT);
	struct refusedrow row;
	int64_t before = 0;
	int rc;

	if (!stmt)
		return EXIT_FAILURE;
	while ((rc = spoolview_step_behind(stmt, before)) == SQLITE_ROW) {
		refusedrow_read(stmt, &row);
		if (row.id <= before) {
			rc = SQLITE_CORRUPT;
			break;
		}
		before = row.id;
		show_refused(view, &row);
		sqlite3_reset(stmt);
		spoolview_flush(view);
	}
	return spoolview_finish(view, stmt, rc);
}

int spoolview_list(struct spoolview *view)
{
	int code;

	if (!view->json)
		printf("output %s\n", view->output);
	code = list_batches(view);
	return code == EXIT_SUCCESS ? list_refused(view) : code;
}
