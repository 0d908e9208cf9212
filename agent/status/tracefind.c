/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/tracefind.h"

#include <string.h>

#include "base/json.h"
#include "encode/spanread.h"
#include "encode/zipkinjson.h"
#include "queue/item.h"
#include "status/trace/spanof.h"

/* Reading the address */

static bool read_digits(const char *digits, size_t count, uint64_t *id)
{
	*id = 0;
	for (size_t i = 0; i < count; i++) {
		int digit = g_ascii_xdigit_value(digits[i]);

		if (digit < 0)
			return false;
		*id = *id << 4 | (uint64_t)digit;
	}
	return true;
}

static bool read_id(const char *text, uint64_t *high, uint64_t *low)
{
	size_t size = strlen(text);

	*high = 0;
	if (size == 32)
		return read_digits(text, 16, high) && read_digits(text + 16, 16, low);
	return size == 16 && read_digits(text, 16, low);
}

/* Decoding */

/* Core annotations are none in version 2's JSON, so that it is the way there. NULL: it is no span. */
static struct span2 *decode(const struct traced *traced)
{
	struct span_memory memory = {0}, again = {0};
	struct buffer json = {0};
	struct span2 *is = NULL;
	struct span span;

	if (item_read(&span, traced->format, traced->bytes, traced->size, &memory) &&
		zipkinjson_encode(&json, &span) >= 0 && spanread_json(&span, json.data, json.size, &again)) {
		is = spanof(&span);
		span2_leave_out_added(is);
	}
	buffer_free(&json);
	span_memory_free(&memory);
	span_memory_free(&again);
	return is;
}

static bool has(const GPtrArray *spans, const struct answer_span *wanted)
{
	for (guint i = 0; i < spans->len; i++) {
		const struct span2 *span = g_ptr_array_index(spans, i);

		if (span->id == wanted->id && span->kind == wanted->kind)
			return true;
	}
	return false;
}

/* An answer is kept for longer than the spans are. */
static void add_answered(struct found_trace *found)
{
	guint known = found->spans->len;

	for (guint i = 0; i < found->answer.spans->len; i++) {
		struct answer_span *span = g_ptr_array_index(found->answer.spans, i);

		if (!known || !has(found->spans, span))
			g_ptr_array_add(found->spans, g_steal_pointer(&span->span));
	}
}

const char *tracefind(
	struct found_trace *found, struct traces *traces, const char *answers, const char *query)
{
	g_autoptr(GHashTable) parameters =
		query ? g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL) : NULL;
	const char *id = parameters ? g_hash_table_lookup(parameters, "id") : NULL;
	g_autoptr(GPtrArray) items = NULL;
	uint64_t high, low;

	if (!id || !read_id(id, &high, &low))
		return "`id` must be a trace's id, 16 or 32 hexadecimal digits";
	g_strlcpy(found->id, id, sizeof(found->id));
	found->spans = g_ptr_array_new_with_free_func(span2_free);
	items = traces_find(traces, high, low, &found->missed);
	for (guint i = 0; i < items->len; i++) {
		struct span2 *span = decode(g_ptr_array_index(items, i));

		if (span)
			g_ptr_array_add(found->spans, span);
	}
	answer_read(&found->answer, answers, high, low);
	add_answered(found);
	return NULL;
}

void found_trace_clear(struct found_trace *found)
{
	g_ptr_array_unref(found->spans);
	answer_clear(&found->answer);
}

void tracefind_put_json(struct buffer *out, const struct found_trace *found)
{
	json_open(out, '[');
	for (guint i = 0; i < found->spans->len; i++)
		span2_put_json(g_ptr_array_index(found->spans, i), out);
	json_close(out, ']');
	buffer_printf(out, "\n");
}
