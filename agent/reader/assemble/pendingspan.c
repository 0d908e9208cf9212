/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/pendingspan.h"

#include <string.h>

#include <glib.h>

void pending_span_memory_free(struct pending_span_memory *memory)
{
	buffer_free(&memory->annotations);
	buffer_free(&memory->others);
	buffer_free(&memory->tags);
}

static void lay_out_annotations(const struct pending *pending, struct buffer *annotations)
{
	const struct pending_annotation *from = (const void *)pending->annotations.data;

	annotations->size = 0;
	for (size_t i = 0; i < pending_annotation_count(pending); i++) {
		struct annotation annotation = {from[i].time, pending_text(pending, from[i].value)};

		buffer_put(annotations, &annotation, sizeof(annotation));
	}
}

static void lay_out_tags(const struct pending *pending, struct buffer *tags)
{
	const struct pending_tag *from = (const void *)pending->tags.data;

	tags->size = 0;
	for (size_t i = 0; i < pending_tag_count(pending); i++) {
		struct tag tag = {pending_text(pending, from[i].key), pending_text(pending, from[i].value),
			from[i].type};

		if (tag.type != PENDING_LINES)
			buffer_put(tags, &tag, sizeof(tag));
	}
}

void pending_span_lines(const struct pending *pending, struct pending_span_memory *memory, struct span *span)
{
	lay_out_annotations(pending, &memory->annotations);
	lay_out_tags(pending, &memory->tags);
	span->annotations = (const struct annotation *)memory->annotations.data;
	span->annotation_count = pending_annotation_count(pending);
	span->tags = (const struct tag *)memory->tags.data;
	span->tag_count = memory->tags.size / sizeof(struct tag);
}

struct span pending_span(const struct pending *pending, struct pending_span_memory *memory)
{
	unsigned side = pending->key.side ? pending->key.side - 1 : 0;
	struct span span = {
		.trace_id_high = pending->key.trace_id_high,
		.trace_id = pending->key.trace_id,
		.id = pending->key.span_id,
		.parent_id = pending->parent_id,
		.kind = (enum span_kind)(side & SIDE_KIND),
		.shared = side & SIDE_SHARED,
		.classic = !pending->key.side,
		.timestamp = pending->first,
		.duration = pending->key.side ? 0 : MAX(1, pending->last - pending->first),
		.name = pending_text(pending, pending->name),
		.local = pending->local,
		.last_event = pending->last,
	};

	span.local.service = pending->key.service;
	pending_span_lines(pending, memory, &span);
	return span;
}

static bool is_core(struct text value, char side)
{
	return value.size == 2 && value.data[0] == side && (value.data[1] == 's' || value.data[1] == 'r');
}

/* Moves sr and ss to the front of the annotations, if there is also cs or cr; returns how many there are. A
 * program may record thousands of each. */
static size_t move_server_half(struct pending_span_memory *memory, size_t annotation_count)
{
	struct annotation *annotations = (struct annotation *)memory->annotations.data;
	struct buffer *others = &memory->others;
	size_t servers = 0;
	bool client = false;

	for (size_t i = 0; i < annotation_count; i++)
		client |= is_core(annotations[i].value, 'c');
	if (!client)
		return 0;
	others->size = 0;
	for (size_t i = 0; i < annotation_count; i++)
		if (is_core(annotations[i].value, 's'))
			annotations[servers++] = annotations[i];
		else
			buffer_put(others, &annotations[i], sizeof(*annotations));
	memcpy(annotations + servers, others->data, others->size);
	return servers;
}

bool pending_span_split(struct span *span, struct pending_span_memory *memory, struct span *half)
{
	size_t servers = move_server_half(memory, span->annotation_count);

	if (!servers)
		return false;
	*half = *span;
	half->annotation_count = servers;
	half->tag_count = 0;
	half->shared = true;
	span->annotations += servers;
	span->annotation_count -= servers;
	return true;
}
