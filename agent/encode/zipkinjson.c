/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkinjson.h"

#include <string.h>

#include "core/iptext.h"
#include "encode/jsontext.h"
#include "encode/jsonvalue.h"
#include "encode/terms.h"
#include "encode/zipkinplain.h"

/* Size of everything except texts: in a span, and in an annotation or tag. */
#define SPAN_ROOM 768
#define ITEM_ROOM 64

/* What the parts of one span share. */
struct encoding {
	char *at;
	unsigned repaired;
};

/* A literal, with its commas and quotes. */
#define PUT(encoding, literal) put(encoding, literal, sizeof(literal) - 1)

static inline void put(struct encoding *encoding, const char *bytes, size_t size)
{
	memcpy(encoding->at, bytes, size);
	encoding->at += size;
}

static inline void put_text(struct encoding *encoding, struct text text)
{
	encoding->at = jsontext_put(encoding->at, text.data, text.size, &encoding->repaired);
}

static void put_hex(struct encoding *encoding, uint64_t id)
{
	static const char digits[] = "0123456789abcdef";

	for (int shift = 60; shift >= 0; shift -= 4)
		*encoding->at++ = digits[id >> shift & 15];
}

static void put_address(struct encoding *encoding, const struct endpoint *endpoint)
{
	if (endpoint->address_size == 4)
		PUT(encoding, "\"ipv4\":\"");
	else
		PUT(encoding, "\"ipv6\":\"");
	encoding->at = iptext_put(encoding->at, endpoint);
	PUT(encoding, "\",");
}

static void put_endpoint(struct encoding *encoding, const struct endpoint *endpoint)
{
	*encoding->at++ = '{';
	if (endpoint->service.size) {
		PUT(encoding, "\"serviceName\":");
		put_text(encoding, endpoint->service);
		*encoding->at++ = ',';
	}
	if (endpoint->address_size)
		put_address(encoding, endpoint);
	if (endpoint->port) {
		PUT(encoding, "\"port\":");
		encoding->at = jsonvalue_signed(encoding->at, endpoint->port);
		*encoding->at++ = ',';
	}
	if (encoding->at[-1] == ',')
		encoding->at--;
	PUT(encoding, "},");
}

static void put_annotation(struct encoding *encoding, int64_t time, struct text value)
{
	PUT(encoding, "{\"timestamp\":");
	encoding->at = jsonvalue_signed(encoding->at, time);
	PUT(encoding, ",\"value\":");
	put_text(encoding, value);
	PUT(encoding, "},");
}

/* Replaces the last comma. */
static void close_list(struct encoding *encoding, const char *bracket)
{
	encoding->at--;
	put(encoding, bracket, strlen(bracket));
}

static void put_annotations(struct encoding *encoding, const struct span *span, enum span_kind kind)
{
	const char *first;

	PUT(encoding, "\"annotations\":[");
	first = encoding->at;
	for (size_t i = 0; i < span->annotation_count; i++)
		if (!terms_say(span, kind, &span->annotations[i]))
			put_annotation(
				encoding, span->annotations[i].time / 1000, span->annotations[i].value);
	if (encoding->at > first)
		close_list(encoding, "],");
	else
		encoding->at -= sizeof("\"annotations\":[") - 1;
}

static void put_tags(struct encoding *encoding, const struct span *span)
{
	PUT(encoding, "\"tags\":{");
	for (size_t i = 0; i < span->tag_count; i++) {
		if (!terms_tag_counts(span, i))
			continue;
		put_text(encoding, span->tags[i].key);
		*encoding->at++ = ':';
		put_text(encoding, span->tags[i].value);
		*encoding->at++ = ',';
	}
	close_list(encoding, "},");
}

static void put_ids(struct encoding *encoding, const struct span *span)
{
	PUT(encoding, "{\"traceId\":\"");
	if (span->trace_id_high)
		put_hex(encoding, span->trace_id_high);
	put_hex(encoding, span->trace_id);
	PUT(encoding, "\",\"id\":\"");
	put_hex(encoding, span->id);
	if (span->parent_id) {
		PUT(encoding, "\",\"parentId\":\"");
		put_hex(encoding, span->parent_id);
	}
	PUT(encoding, "\",");
}

static void put_kind(struct encoding *encoding, enum span_kind kind)
{
	static const char *const kinds[] = {"", "CLIENT", "SERVER", "PRODUCER", "CONSUMER"};

	if (kind == SPAN_LOCAL)
		return;
	PUT(encoding, "\"kind\":\"");
	put(encoding, kinds[kind], strlen(kinds[kind]));
	PUT(encoding, "\",");
}

static void put_times(struct encoding *encoding, const struct span *span)
{
	PUT(encoding, "\"timestamp\":");
	encoding->at = jsonvalue_signed(encoding->at, span_timestamp_us(span));
	*encoding->at++ = ',';
	if (span->duration) {
		PUT(encoding, "\"duration\":");
		encoding->at = jsonvalue_signed(encoding->at, span_duration_us(span));
		*encoding->at++ = ',';
	}
}

static void put_span(struct encoding *encoding, const struct span *span)
{
	enum span_kind kind = terms_kind(span);

	put_ids(encoding, span);
	put_kind(encoding, kind);
	if (span->name.size) {
		PUT(encoding, "\"name\":");
		put_text(encoding, span->name);
		*encoding->at++ = ',';
	}
	put_times(encoding, span);
	PUT(encoding, "\"localEndpoint\":");
	put_endpoint(encoding, &span->local);
	if (span->has_remote) {
		PUT(encoding, "\"remoteEndpoint\":");
		put_endpoint(encoding, &span->remote);
	}
	if (span->annotation_count)
		put_annotations(encoding, span, kind);
	if (span->tag_count)
		put_tags(encoding, span);
	if (span->shared)
		PUT(encoding, "\"shared\":true,");
	if (span->debug)
		PUT(encoding, "\"debug\":true,");
	close_list(encoding, "}");
}

/* An upper limit of the span's size. */
static size_t room(const struct span *span)
{
	size_t items = span->annotation_count + span->tag_count,
	       texts = span->name.size + span->local.service.size + span->remote.service.size;

	for (size_t i = 0; i < span->annotation_count; i++)
		texts += span->annotations[i].value.size;
	for (size_t i = 0; i < span->tag_count; i++)
		texts += span->tags[i].key.size + span->tags[i].value.size;
	return SPAN_ROOM + items * ITEM_ROOM + JSONTEXT_MAX(texts);
}

static int encode(void *to, const struct span *span)
{
	struct encoding encoding = {NULL, 0};
	size_t span_room = room(span);
	struct buffer *out = to;

	if (span_room > ZIPKINJSON_SPAN_MAX)
		return -1;
	encoding.at = (char *)buffer_reserve(out, span_room);
	put_span(&encoding, span);
	out->size = (size_t)(encoding.at - (char *)out->data);
	return (int)encoding.repaired;
}

int zipkinjson_encode(struct buffer *out, const struct span *span)
{
	return zipkinplain_is(span) ? encode(out, span) : zipkinplain_take(out, span, encode);
}
