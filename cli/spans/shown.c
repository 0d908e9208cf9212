/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/shown.h"

#include <string.h>

#include "encode/zipkinplain.h"
#include "queue/item.h"
#include "spans/decode.h"
#include "spans/v1_to_v2.h"
#include "status/trace/spanof.h"

static void lower(char **name)
{
	g_autofree char *is = *name;

	*name = is ? v1_copy_name((struct text){is, (uint32_t)strlen(is)}) : NULL;
}

static struct span2 *show(const struct span *span)
{
	struct span2 *shown = spanof(span);

	lower(&shown->name);
	if (shown->local)
		lower(&shown->local->service);
	if (shown->remote)
		lower(&shown->remote->service);
	return shown;
}

/* Core annotations mean what they do in version 1. */
static void show_classic(const struct span *span, GPtrArray *spans)
{
	struct v1_span v1;

	v1_of_classic(&v1, span);
	v1_to_v2(&v1, spans);
	v1_clear(&v1);
}

static int take_plain(void *spans, const struct span *span)
{
	if (span->classic && span->kind == SPAN_LOCAL)
		show_classic(span, spans);
	else
		g_ptr_array_add(spans, show(span));
	return 0;
}

static void leave_out_added(GPtrArray *spans, guint first)
{
	for (guint i = first; i < spans->len; i++)
		span2_leave_out_added(g_ptr_array_index(spans, i));
}

const char *shown_span(const struct span *span, GPtrArray *spans)
{
	const char *wrong = v1_wrong_ids(span->trace_id_high, span->trace_id, span->id);
	guint first = spans->len;

	if (wrong)
		return wrong;
	zipkinplain_take(spans, span, take_plain);
	leave_out_added(spans, first);
	return NULL;
}

bool shown_item(uint8_t format, const uint8_t *item, size_t size, struct span_memory *memory,
	GPtrArray *spans, char *error, size_t error_size)
{
	const char *wrong = "it cannot be read";
	guint first = spans->len;
	struct span span;

	if (format == BATCH_ZIPKIN_SPANS) {
		if (!decode_span(item, size, spans, error, error_size))
			return false;
		leave_out_added(spans, first);
		return true;
	}
	if (item_read(&span, format, item, size, memory))
		wrong = shown_span(&span, spans);
	if (wrong)
		g_strlcpy(error, wrong, error_size);
	return !wrong;
}
