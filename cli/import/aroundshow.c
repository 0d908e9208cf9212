/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/aroundshow.h"

#include <inttypes.h>
#include <string.h>

#include "import/aroundevent.h"
#include "write_out.h"

#define NS_PER_US 1000

/* How far the span's start is from that of what was seen of it, µs. */
static int64_t distance(const struct span2 *whole, const struct around_span *span)
{
	return ABS(whole->timestamp - span->start / NS_PER_US);
}

struct span2 *around_whole(const GPtrArray *whole, const struct around_span *span)
{
	struct span2 *best = NULL;

	for (guint i = 0; i < whole->len; i++) {
		struct span2 *other = whole->pdata[i];

		if (other->id == span->id && (!best || distance(other, span) < distance(best, span)))
			best = other;
	}
	return best;
}

/* Trees: what happened stands where an annotation would. */

static void annotate(struct span2 *whole, const struct around_span *span)
{
	for (guint i = 0; i < span->events->len; i++) {
		const struct around_event *event = span->events->pdata[i];

		span2_annotate(whole, event->time / NS_PER_US, event->text);
	}
	if (span->more) {
		g_autofree char *text = g_strdup_printf("· … and %" PRIu64 " more events", span->more);

		span2_annotate(whole, span->end / NS_PER_US, text);
	}
	span2_sort(whole);
}

static bool show_tree(const struct span_printer_options *how, GPtrArray *whole)
{
	struct span_printer *printer = span_printer_create(how);
	bool failed = false;

	span_printer_add(printer, whole);
	span_printer_show_all(printer);
	span_printer_write(printer, &failed);
	span_printer_destroy(printer);
	return !failed;
}

/* Lines */

static void put_known(GString *out, const char *key, int64_t value)
{
	if (value != AROUND_UNKNOWN)
		g_string_append_printf(out, "\"%s\":%" PRId64 ",", key, value);
}

static void put_line(GString *out, const struct span2 *whole, const struct around_span *span)
{
	struct buffer json = {0};

	span2_put_json(whole, &json);
	g_string_append(out, "{\"span\":");
	g_string_append_len(out, (const char *)json.data, (gssize)json.size);
	g_string_append_c(out, ',');
	put_known(out, "pid", span->pid);
	put_known(out, "tid", span->tid);
	g_string_append(out, "\"events\":[");
	for (guint i = 0; i < span->events->len; i++) {
		const struct around_event *event = span->events->pdata[i];

		g_string_append_printf(out, "%s%s", i ? "," : "", event->json);
	}
	g_string_append_printf(out, "],\"more\":%" PRIu64 "}\n", span->more);
	buffer_free(&json);
}

static bool show_lines(const GPtrArray *whole, const GPtrArray *list, atomic_ulong *steps)
{
	g_autoptr(GString) out = g_string_new(NULL);
	bool failed;

	for (guint i = 0; i < list->len; i++) {
		const struct span2 *span = around_whole(whole, list->pdata[i]);

		if (span)
			put_line(out, span, list->pdata[i]);
		atomic_fetch_add(steps, 1);
	}
	write_out((const uint8_t *)out->str, out->len, &failed);
	return !failed;
}

bool around_show(const struct span_printer_options *how, GPtrArray *whole, struct around_spans *spans,
	atomic_ulong *steps)
{
	const GPtrArray *list = around_spans_list(spans);

	if (how->json)
		return show_lines(whole, list, steps);
	for (guint i = 0; i < list->len; i++) {
		struct span2 *span = around_whole(whole, list->pdata[i]);

		if (span)
			annotate(span, list->pdata[i]);
		atomic_fetch_add(steps, 1);
	}
	return show_tree(how, whole);
}
