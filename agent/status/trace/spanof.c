/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/spanof.h"

static char *text_of(struct text text)
{
	return text.size && *text.data ? g_strndup(text.data, text.size) : NULL;
}

/* NULL: nothing is known of it. */
static struct span2_endpoint *endpoint_of(const struct endpoint *endpoint)
{
	struct span2_endpoint its = {.service = text_of(endpoint->service), .port = endpoint->port};

	span2_endpoint_address(&its, endpoint->address, endpoint->address_size);
	return span2_endpoint_is_known(&its) ? g_memdup2(&its, sizeof(its)) : NULL;
}

static enum span2_kind kind_of(enum span_kind kind)
{
	static const enum span2_kind kinds[] = {
		[SPAN_LOCAL] = SPAN2_LOCAL,
		[SPAN_CLIENT] = SPAN2_CLIENT,
		[SPAN_SERVER] = SPAN2_SERVER,
		[SPAN_PRODUCER] = SPAN2_PRODUCER,
		[SPAN_CONSUMER] = SPAN2_CONSUMER,
	};

	return kinds[kind];
}

/* One without a time is none for Zipkin. */
static void add_annotation(struct span2 *its, const struct annotation *annotation)
{
	g_autofree char *value = text_of(annotation->value);

	if (annotation->time / 1000)
		span2_annotate(its, annotation->time / 1000, value ? value : "");
}

struct span2 *spanof(const struct span *span)
{
	struct span2 *its = span2_new();

	its->trace_id_high = span->trace_id_high;
	its->trace_id = span->trace_id;
	its->id = span->id;
	its->parent_id = span->parent_id;
	its->kind = kind_of(span->kind);
	its->name = text_of(span->name);
	its->timestamp = span_timestamp_us(span);
	its->duration = span_duration_us(span);
	its->debug = span->debug;
	its->shared = span->shared;
	its->local = endpoint_of(&span->local);
	if (span->has_remote)
		its->remote = endpoint_of(&span->remote);
	for (size_t i = 0; i < span->annotation_count; i++)
		add_annotation(its, &span->annotations[i]);
	for (size_t i = 0; i < span->tag_count; i++) {
		const struct tag *tag = &span->tags[i];
		g_autofree char *key = text_of(tag->key);

		span2_tag(its, key ? key : "", tag->value.data, tag->value.size);
	}
	span2_settle(its);
	return its;
}
