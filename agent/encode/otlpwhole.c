/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpwhole.h"

#include "core/value.h"
#include "encode/otlpput.h"
#include "encode/otlpvalue.h"
#include "encode/wanted.h"
#include "net/otlpitem.h"

/* Of an attribute but for its texts, and of a number with its field. */
#define ITEM_ROOM 48

struct whole {
	struct buffer *out;
	bool broken; /* a text is not UTF-8 */
};

/* What is put by hand: @size is that of the texts in it. */
static inline struct encoding begin(const struct whole *is, size_t size)
{
	return (struct encoding){buffer_reserve(is->out, size + ITEM_ROOM), false};
}

static inline void end(struct whole *is, const struct encoding *encoding)
{
	is->out->size = (size_t)(encoding->at - is->out->data);
	is->broken |= encoding->broken;
}

static void put_a_name(struct whole *is, uint32_t field, struct text name)
{
	struct encoding encoding = begin(is, name.size);

	put_name(&encoding, field, name);
	end(is, &encoding);
}

static void put_number(struct whole *is, uint32_t field, uint64_t number)
{
	struct encoding encoding = begin(is, 0);

	if (number)
		put_varint(&encoding, field, number);
	end(is, &encoding);
}

/* Values */

/* Within a value, a text that is not UTF-8 is repaired right here: what is packed has none, but a disk may.
 */
static void put_inner_text(struct whole *is, uint32_t field, struct text text)
{
	size_t message = otlpvalue_open(is->out, field);

	if (utf8_valid(text.data, text.size))
		buffer_put(is->out, text.data, text.size);
	else
		is->out->size += utf8_repair(
			(char *)buffer_reserve(is->out, UTF8_REPAIRED_MAX(text.size)), text.data, text.size);
	otlpvalue_close(is->out, message);
}

static void put_scalar(struct whole *is, const struct tag *value)
{
	struct encoding encoding = begin(is, 0);
	double number;
	uint64_t bits;

	switch (value->type) {
	case TAG_INT:
		put_varint(&encoding, ANYVALUE_INT, int_of(value->value));
		break;
	case TAG_BOOL:
		put_varint(&encoding, ANYVALUE_BOOL, bool_of(value->value));
		break;
	case TAG_DOUBLE:
		number = double_of(value->value);
		memcpy(&bits, &number, sizeof(bits));
		encoding.at = protobuf_put_i64(encoding.at, ANYVALUE_DOUBLE, bits);
		break;
	default: /* none */
		break;
	}
	end(is, &encoding);
}

static void put_list(struct whole *is, const struct tag *list, int depth);

/* What is in an AnyValue. */
static void put_value(struct whole *is, const struct tag *value, int depth)
{
	switch (value->type) {
	case TAG_TEXT:
		put_inner_text(is, ANYVALUE_STRING, value->value);
		break;
	case TAG_BYTES:
		buffer_reserve(is->out, value->value.size + ITEM_ROOM);
		is->out->size = (size_t)(protobuf_put_bytes(is->out->data + is->out->size, ANYVALUE_BYTES,
						 value->value.data, value->value.size) -
					 is->out->data);
		break;
	case TAG_LIST:
	case TAG_MAP:
		if (depth < VALUE_DEPTH_MAX)
			put_list(is, value, depth);
		break;
	default:
		put_scalar(is, value);
	}
}

/* A list or a map: of one that is damaged, what stands before that. */
static void put_list(struct whole *is, const struct tag *list, int depth)
{
	bool map = list->type == TAG_MAP;
	size_t message = otlpvalue_open(is->out, map ? ANYVALUE_MAP : ANYVALUE_ARRAY);
	struct text rest = list->value;
	struct tag value;

	while (value_next(&rest, map, &value)) {
		size_t item = otlpvalue_open(is->out, map ? MAP_VALUES : ARRAY_VALUES), of_key = 0;

		if (map) {
			put_inner_text(is, KEYVALUE_KEY, value.key);
			of_key = otlpvalue_open(is->out, KEYVALUE_VALUE);
		}
		put_value(is, &value, depth + 1);
		if (map)
			otlpvalue_close(is->out, of_key);
		otlpvalue_close(is->out, item);
	}
	otlpvalue_close(is->out, message);
}

/* Attributes */

static __attribute__((noinline)) void put_rare(struct whole *is, uint32_t field, const struct tag *tag)
{
	size_t attribute = otlpvalue_open(is->out, field), value;
	struct encoding encoding = begin(is, tag->key.size);

	put_text_field(&encoding, KEYVALUE_KEY, tag->key);
	end(is, &encoding);
	value = otlpvalue_open(is->out, KEYVALUE_VALUE);
	put_value(is, tag, 0);
	otlpvalue_close(is->out, value);
	otlpvalue_close(is->out, attribute);
}

static void put_attribute(struct whole *is, uint32_t field, const struct tag *tag)
{
	struct encoding encoding = begin(is, (size_t)tag->key.size + tag->value.size);

	switch (tag->type) {
	case TAG_TEXT:
		put_string(&encoding, field, tag->key, tag->value);
		break;
	case TAG_INT:
		put_int(&encoding, field, tag->key, int_of(tag->value));
		break;
	case TAG_DOUBLE:
		put_double(&encoding, field, tag->key, double_of(tag->value));
		break;
	case TAG_BOOL:
		put_bool(&encoding, field, tag->key, bool_of(tag->value));
		break;
	default:
		put_rare(is, field, tag);
		return;
	}
	end(is, &encoding);
}

static void put_attributes(
	struct whole *is, uint32_t field, uint32_t dropped_field, const struct attributes *attributes)
{
	for (size_t i = 0; i < attributes->count; i++)
		put_attribute(is, field, &attributes->tags[i]);
	put_number(is, dropped_field, attributes->dropped);
}

/* The Span */

static void put_links(struct whole *is, const struct span_more *more)
{
	for (size_t i = 0; i < more->link_count; i++) {
		const struct span_link *link = &more->links[i];
		size_t message = otlpvalue_open(is->out, SPAN_LINKS);
		struct encoding encoding = begin(is, 0);

		if (link->trace_id_high || link->trace_id)
			encoding.at = put_id(put_id(protobuf_put_head(encoding.at, LINK_TRACE_ID, 16),
						     link->trace_id_high),
				link->trace_id);
		if (link->id)
			encoding.at = put_id(protobuf_put_head(encoding.at, LINK_ID, 8), link->id);
		end(is, &encoding);
		put_a_name(is, LINK_TRACE_STATE, link->trace_state);
		put_attributes(is, LINK_ATTRIBUTES, LINK_DROPPED, &link->attributes);
		encoding = begin(is, 0);
		if (link->flags)
			encoding.at = protobuf_put_i32(encoding.at, LINK_FLAGS, link->flags);
		end(is, &encoding);
		otlpvalue_close(is->out, message);
	}
}

static void put_events(struct whole *is, const struct span *span)
{
	const struct attributes *of_annotations = span->more->of_annotations;

	for (size_t i = 0; i < span->annotation_count; i++) {
		size_t message = otlpvalue_open(is->out, SPAN_EVENTS);
		struct encoding encoding = begin(is, span->annotations[i].value.size);

		encoding.at = protobuf_put_i64(encoding.at, EVENT_TIME, (uint64_t)span->annotations[i].time);
		put_name(&encoding, EVENT_NAME, span->annotations[i].value);
		end(is, &encoding);
		if (of_annotations)
			put_attributes(is, EVENT_ATTRIBUTES, EVENT_DROPPED, &of_annotations[i]);
		otlpvalue_close(is->out, message);
	}
}

static void put_status(struct whole *is, const struct span_more *more)
{
	size_t message;

	if (!more->status && !more->status_message.size)
		return;
	message = otlpvalue_open(is->out, SPAN_STATUS);
	put_a_name(is, STATUS_MESSAGE, more->status_message);
	put_number(is, STATUS_CODE, more->status);
	otlpvalue_close(is->out, message);
}

static void put_head(struct whole *is, const struct span *span)
{
	static const uint8_t kinds[] = {
		OTLP_INTERNAL, OTLP_CLIENT, OTLP_SERVER, OTLP_PRODUCER, OTLP_CONSUMER};
	struct encoding encoding = begin(is, ITEM_ROOM + span->more->trace_state.size + span->name.size);
	uint8_t *to = protobuf_put_head(encoding.at, SPAN_TRACE_ID, 16);

	to = put_id(put_id(to, span->trace_id_high), span->trace_id);
	encoding.at = put_id(protobuf_put_head(to, SPAN_ID, 8), span->id);
	put_name(&encoding, SPAN_TRACE_STATE, span->more->trace_state);
	if (span->parent_id)
		encoding.at = put_id(protobuf_put_head(encoding.at, SPAN_PARENT_ID, 8), span->parent_id);
	put_name(&encoding, SPAN_NAME, span->name);
	if (!span->more->no_kind)
		put_varint(&encoding, SPAN_KIND, kinds[span->kind]);
	to = protobuf_put_i64(encoding.at, SPAN_START, (uint64_t)span->timestamp);
	encoding.at = protobuf_put_i64(to, SPAN_END, (uint64_t)span_end(span));
	end(is, &encoding);
}

static void put_span(struct whole *is, const struct span *span)
{
	const struct span_more *more = span->more;
	struct encoding encoding;

	put_head(is, span);
	for (size_t i = 0; i < span->tag_count; i++)
		put_attribute(is, SPAN_ATTRIBUTES, &span->tags[i]);
	put_number(is, SPAN_DROPPED_ATTRIBUTES, more->dropped_tags);
	put_events(is, span);
	put_number(is, SPAN_DROPPED_EVENTS, more->dropped_annotations);
	put_links(is, more);
	put_number(is, SPAN_DROPPED_LINKS, more->dropped_links);
	put_status(is, more);
	encoding = begin(is, 0);
	if (more->flags)
		encoding.at = protobuf_put_i32(encoding.at, SPAN_FLAGS, more->flags);
	end(is, &encoding);
}

/* The process and the scope */

static void put_added(struct whole *is, const struct span *span)
{
	struct wanted wanted = want(span->added, span->added_count);

	for (size_t i = 0; i < span->more->resource.count; i++)
		leave_out(&wanted, span->more->resource.tags[i].key);
	for (size_t i = 0; i < wanted.count; i++)
		if (is_wanted(&wanted, i))
			put_attribute(is, RESOURCE_ATTRIBUTES, &wanted.tags[i]);
}

static void put_process(struct whole *is, const struct span *span)
{
	const struct span_more *more = span->more;
	size_t message = otlpvalue_open(is->out, RESOURCE_SPANS_RESOURCE);

	put_attributes(is, RESOURCE_ATTRIBUTES, RESOURCE_DROPPED, &more->resource);
	if (span->added_count)
		put_added(is, span);
	otlpvalue_close(is->out, message);
	put_a_name(is, RESOURCE_SPANS_SCHEMA, more->resource_schema);
}

static void put_scope(struct whole *is, const struct span_more *more)
{
	size_t message = otlpvalue_open(is->out, SCOPE_SPANS_SCOPE);

	put_a_name(is, SCOPE_NAME, more->scope_name);
	put_a_name(is, SCOPE_VERSION, more->scope_version);
	put_attributes(is, SCOPE_ATTRIBUTES, SCOPE_DROPPED, &more->scope);
	otlpvalue_close(is->out, message);
	put_a_name(is, SCOPE_SPANS_SCHEMA, more->scope_schema);
}

bool otlpwhole_put_span(struct buffer *out, const struct span *span)
{
	struct whole is = {out, false};

	put_span(&is, span);
	return !is.broken;
}

bool otlpwhole_put(struct buffer *out, const struct span *span)
{
	struct whole is = {out, false};
	size_t start = out->size, process, head;

	buffer_reserve(out, OTLPITEM_HEAD);
	out->size += OTLPITEM_HEAD;
	put_process(&is, span);
	process = out->size - start - OTLPITEM_HEAD;
	put_scope(&is, span->more);
	head = out->size - start;
	put_span(&is, span);
	otlpitem_put_u32(
		otlpitem_put_u32(out->data + start, (uint32_t)head | OTLPITEM_WHOLE), (uint32_t)process);
	if (is.broken)
		out->size = start;
	return !is.broken;
}
