/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkinjson.h"

#include <arpa/inet.h>
#include <string.h>

#include "encode/jsontext.h"
#include "encode/utf8.h"

/* Size of everything except texts: in a span, and in an annotation or tag. */
#define SPAN_ROOM 768
#define ITEM_ROOM 64
/* Comparing more of them would take too long. */
#define TAGS_COMPARED 100

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

static void put_number(struct encoding *encoding, int64_t number)
{
	char digits[20], *first = digits + sizeof(digits);
	uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;

	do
		*--first = (char)('0' + rest % 10);
	while (rest /= 10);
	if (number < 0)
		*encoding->at++ = '-';
	put(encoding, first, (size_t)(digits + sizeof(digits) - first));
}

static void put_address(struct encoding *encoding, const struct endpoint *endpoint)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(endpoint->address_size == 4 ? AF_INET : AF_INET6, endpoint->address, text, sizeof(text));
	if (endpoint->address_size == 4)
		PUT(encoding, "\"ipv4\":\"");
	else
		PUT(encoding, "\"ipv6\":\"");
	put(encoding, text, strlen(text));
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
		put_number(encoding, endpoint->port);
		*encoding->at++ = ',';
	}
	if (encoding->at[-1] == ',')
		encoding->at--;
	PUT(encoding, "},");
}

static void put_annotation(struct encoding *encoding, int64_t time, struct text value)
{
	PUT(encoding, "{\"timestamp\":");
	put_number(encoding, time);
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

/* The kind of which a classic span's annotation is a core annotation; SPAN_LOCAL: it is none. */
static enum span_kind core_kind(const struct span *span, struct text value)
{
	if (!span->classic || value.size != 2 || (value.data[1] != 's' && value.data[1] != 'r'))
		return SPAN_LOCAL;
	switch (value.data[0]) {
	case 'c':
		return SPAN_CLIENT;
	case 's':
		return SPAN_SERVER;
	case 'm':
		return value.data[1] == 's' ? SPAN_PRODUCER : SPAN_CONSUMER;
	default:
		return SPAN_LOCAL;
	}
}

static enum span_kind kind_of(const struct span *span)
{
	enum span_kind kind = span->kind;

	for (size_t i = 0; i < span->annotation_count && kind == SPAN_LOCAL; i++)
		kind = core_kind(span, span->annotations[i].value);
	return kind;
}

/* A core annotation says no more than the span does. */
static bool is_said(const struct span *span, enum span_kind kind, const struct annotation *annotation)
{
	return kind != SPAN_LOCAL && core_kind(span, annotation->value) == kind &&
	       (annotation->time == span->timestamp || annotation->time == span->timestamp + span->duration);
}

static void put_annotations(struct encoding *encoding, const struct span *span, enum span_kind kind)
{
	const char *first;

	PUT(encoding, "\"annotations\":[");
	first = encoding->at;
	for (size_t i = 0; i < span->annotation_count; i++)
		if (!is_said(span, kind, &span->annotations[i]))
			put_annotation(encoding, span->annotations[i].time, span->annotations[i].value);
	if (encoding->at > first)
		close_list(encoding, "],");
	else
		encoding->at -= sizeof("\"annotations\":[") - 1;
}

/* Of very many tags, all are written, and the reader of it has the choice. */
static bool is_last_of_key(const struct span *span, size_t index)
{
	struct text key = span->tags[index].key;

	if (span->tag_count > TAGS_COMPARED)
		return true;
	for (size_t i = index + 1; i < span->tag_count; i++)
		if (span->tags[i].key.size == key.size && !memcmp(span->tags[i].key.data, key.data, key.size))
			return false;
	return true;
}

static void put_tags(struct encoding *encoding, const struct span *span)
{
	PUT(encoding, "\"tags\":{");
	for (size_t i = 0; i < span->tag_count; i++) {
		if (!is_last_of_key(span, i))
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
	put_number(encoding, span->timestamp);
	*encoding->at++ = ',';
	if (span->duration) {
		PUT(encoding, "\"duration\":");
		put_number(encoding, span->duration);
		*encoding->at++ = ',';
	}
}

static void put_span(struct encoding *encoding, const struct span *span)
{
	enum span_kind kind = kind_of(span);

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

int zipkinjson_encode(struct buffer *out, const struct span *span)
{
	struct encoding encoding = {NULL, 0};
	size_t span_room = room(span);

	if (span_room > ZIPKINJSON_SPAN_MAX)
		return -1;
	encoding.at = (char *)buffer_reserve(out, span_room);
	put_span(&encoding, span);
	out->size = (size_t)(encoding.at - (char *)out->data);
	return (int)encoding.repaired;
}
