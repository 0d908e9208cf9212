/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/otlpcheck.h"

#include <glib.h>

#include "base/utf8.h"
#include "core/value.h"
#include "net/protobuf.h"

struct checking {
	struct otlpcheck_most now, *most; /* @now is of what is open */
};

static bool check_message(
	struct checking *is, const struct otlp_message *of, struct protobuf_reader from, int depth);

/* What has attributes that are read at once. */
static bool is_whole(const struct otlp_message *of)
{
	return of == &otlp_span || of == &otlp_resource || of == &otlp_scope;
}

/* A message of @bytes is read. */
static void grow(struct checking *is, size_t bytes)
{
	is->most->attributes = MAX(is->most->attributes, is->now.attributes);
	is->most->events = MAX(is->most->events, is->now.events);
	is->most->links = MAX(is->most->links, is->now.links);
	is->most->bytes = MAX(is->most->bytes, bytes);
	is->now = (struct otlpcheck_most){0};
}

/* @depth is how many values it is within. */
static bool check_nested(
	struct checking *is, const struct otlp_message *of, const struct protobuf_field *field, int depth)
{
	bool good;

	if (of == &otlp_any_value && ++depth > VALUE_DEPTH_MAX + 1)
		return true;
	is->now.attributes += !depth && of == &otlp_key_value;
	is->now.events += of == &otlp_event;
	is->now.links += of == &otlp_link;
	good = check_message(is, of, protobuf_read(field->bytes, field->size), depth);
	if (is_whole(of))
		grow(is, field->size);
	return good;
}

static bool check_message(
	struct checking *is, const struct otlp_message *of, struct protobuf_reader from, int depth)
{
	struct protobuf_field field;

	while (protobuf_next(&from, &field)) {
		const struct otlp_field *known =
			field.type == PROTOBUF_BYTES ? otlp_field_of(of, field.number) : NULL;

		if (!known)
			continue;
		if (known->kind == OTLP_TEXT && !utf8_valid((const char *)field.bytes, field.size))
			return false;
		if (known->of && !check_nested(is, known->of, &field, depth))
			return false;
	}
	return !from.failed;
}

bool otlpcheck(const struct otlp_message *of, const uint8_t *bytes, size_t size, struct otlpcheck_most *most)
{
	struct checking is = {{0}, most};
	bool good = check_message(&is, of, protobuf_read(bytes, size), 0);

	if (is_whole(of))
		grow(&is, size);
	return good;
}
