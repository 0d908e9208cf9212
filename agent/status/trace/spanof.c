/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/spanof.h"

#include <string.h>

#include "core/iptext.h"

static char *text_of(struct text text)
{
	return text.size ? g_strndup(text.data, text.size) : NULL;
}

static struct span2_endpoint *endpoint_of(const struct endpoint *endpoint)
{
	struct span2_endpoint *its = g_new0(struct span2_endpoint, 1);
	char address[IPTEXT_MAX + 1] = "";

	its->service = text_of(endpoint->service);
	its->port = endpoint->port;
	if (endpoint->address_size)
		*iptext_put(address, endpoint) = '\0';
	if (endpoint->address_size == 4)
		g_strlcpy(its->ipv4, address, sizeof(its->ipv4));
	else
		g_strlcpy(its->ipv6, address, sizeof(its->ipv6));
	return its;
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
	if (span->local.service.size || span->local.address_size)
		its->local = endpoint_of(&span->local);
	if (span->has_remote)
		its->remote = endpoint_of(&span->remote);
	for (size_t i = 0; i < span->annotation_count; i++) {
		g_autofree char *value = text_of(span->annotations[i].value);

		span2_annotate(its, span->annotations[i].time / 1000, value ? value : "");
	}
	for (size_t i = 0; i < span->tag_count; i++) {
		const struct tag *tag = &span->tags[i];
		g_autofree char *key = text_of(tag->key);

		span2_tag(its, key ? key : "", tag->value.data, tag->value.size);
	}
	span2_sort(its);
	return its;
}
