/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpcheck.h"

#include <glib.h>

#include "base/utf8.h"
#include "core/value.h"
#include "encode/otlpattributes.h"
#include "net/otlpfields.h"
#include "net/protobuf.h"

/* What a record has beside the bytes that the message has: for each span, and for what may be empty there. */
#define SPAN_BYTES 128
#define ATTRIBUTE_BYTES 8
#define EVENT_BYTES 16
#define LINK_BYTES 32
/* For a resource or scope without spans: it is work all the same. */
#define EMPTY_BYTES 64

/* Of the spans, or log records, of a process, or a scope: how many they are, what each has of it, and what
 * they have. */
struct shared {
	size_t spans, each, sum;
};

struct checking {
	struct otlpcheck_found now; /* of what is open */
	struct shared process, scope;
	struct otlpcheck_found *found;
};

static bool check_message(
	struct checking *is, const struct otlp_message *of, struct protobuf_reader from, int depth);

/* What has attributes that are read at once. */
static bool is_whole(const struct otlp_message *of)
{
	return of == &otlp_span || of == &otlp_log_record || of == &otlp_resource || of == &otlp_scope;
}

/* A message of @bytes is whole. Returns what it takes in a record. */
static size_t grow(struct checking *is, size_t bytes)
{
	const struct otlpcheck_found *now = &is->now;
	struct otlpcheck_found *found = is->found;
	const size_t reading = OTLPATTRIBUTES_TEXTS(bytes) + now->attributes * sizeof(struct tag) +
			       now->events * (sizeof(struct annotation) + sizeof(struct attributes)) +
			       now->links * sizeof(struct span_link);
	const size_t size = bytes + now->attributes * ATTRIBUTE_BYTES + now->events * EVENT_BYTES +
			    now->links * LINK_BYTES;

	found->attributes = MAX(found->attributes, now->attributes);
	found->events = MAX(found->events, now->events);
	found->links = MAX(found->links, now->links);
	found->bytes = MAX(found->bytes, bytes);
	found->reading = MAX(found->reading, reading);
	is->now = (struct otlpcheck_found){0};
	return size;
}

/* The spans of what is over are some of @of's. */
static size_t close_shared(struct shared *is)
{
	const size_t sum = is->sum + is->spans * is->each + EMPTY_BYTES;

	*is = (struct shared){0};
	return sum;
}

/* What is over, if it is one that counts by itself. */
static void end(struct checking *is, const struct otlp_message *of, size_t bytes)
{
	if (of == &otlp_span || of == &otlp_log_record) {
		is->scope.spans++;
		is->scope.sum += grow(is, bytes) + SPAN_BYTES;
	} else if (of == &otlp_scope) {
		is->scope.each += grow(is, bytes);
	} else if (of == &otlp_resource) {
		is->process.each += grow(is, bytes);
	} else if (of == &otlp_scope_spans || of == &otlp_scope_logs) {
		is->process.spans += is->scope.spans;
		is->process.sum += close_shared(&is->scope);
	} else if (of == &otlp_resource_spans || of == &otlp_resource_logs) {
		is->found->records += close_shared(&is->process);
	}
}

/* A text, or what is not known. */
static void add_plain(struct checking *is, const struct otlp_message *of, size_t bytes)
{
	if (of == &otlp_scope_spans || of == &otlp_scope_logs)
		is->scope.each += bytes;
	else if (of == &otlp_resource_spans || of == &otlp_resource_logs)
		is->process.each += bytes;
}

#define HEAD(field) ((field) << 3 | PROTOBUF_BYTES)

/* What most attributes are: a key and a text, whose sizes are of one byte each. */
static bool is_text_pair(const uint8_t *at, size_t size, struct text *key, struct text *value)
{
	const uint8_t *end = at + size;

	if (size < 6 || at[0] != HEAD(KEYVALUE_KEY) || at[1] >= 0x80 || at[1] > size - 6)
		return false;
	*key = (struct text){(const char *)at + 2, at[1]};
	at += 2 + at[1];
	if (at[0] != HEAD(KEYVALUE_VALUE) || at[1] >= 0x80 || at[1] != end - at - 2 ||
		at[2] != HEAD(ANYVALUE_STRING) || at[3] >= 0x80 || at[3] != end - at - 4)
		return false;
	*value = (struct text){(const char *)at + 4, at[3]};
	return true;
}

/* @depth is how many values it is within. */
static bool check_nested(
	struct checking *is, const struct otlp_message *of, const struct protobuf_field *field, int depth)
{
	struct text key, value;
	bool good;

	if (!depth && of == &otlp_key_value && is_text_pair(field->bytes, field->size, &key, &value)) {
		is->now.attributes++;
		return utf8_valid(key.data, key.size) && utf8_valid(value.data, value.size);
	}
	if (of == &otlp_any_value && ++depth > VALUE_DEPTH_MAX + 1)
		return true;
	is->now.attributes += !depth && of == &otlp_key_value;
	is->now.events += of == &otlp_event;
	is->now.links += of == &otlp_link;
	good = check_message(is, of, protobuf_read(field->bytes, field->size), depth);
	if (!depth)
		end(is, of, field->size);
	return good;
}

static bool check_message(
	struct checking *is, const struct otlp_message *of, struct protobuf_reader from, int depth)
{
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		const struct otlp_field *known;

		if (field.type != PROTOBUF_BYTES)
			continue;
		known = otlp_field_of(of, field.number);
		if (known && known->of) {
			if (!check_nested(is, known->of, &field, depth))
				return false;
			continue;
		}
		if (known && known->kind == OTLP_TEXT && !utf8_valid((const char *)field.bytes, field.size))
			return false;
		add_plain(is, of, field.size);
	}
	return !from.failed;
}

bool otlpcheck(
	const struct otlp_message *of, const uint8_t *bytes, size_t size, struct otlpcheck_found *found)
{
	struct checking is = {.found = found};
	bool good = check_message(&is, of, protobuf_read(bytes, size), 0);

	if (is_whole(of))
		grow(&is, size);
	return good;
}
