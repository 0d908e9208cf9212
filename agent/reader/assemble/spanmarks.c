/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spanmarks.h"

#include <string.h>

#include <glib.h>

#include "base/hexdigits.h"
#include "reader/assemble/spannumber.h"

/* The year 2096, as in assembler.c. */
#define TIME_MAX INT64_C(4000000000000000000)

#define ID_DIGITS 16

/* So many attributes, from that one on. */
struct range {
	size_t first, count;
};

struct marked_link {
	struct span_link link;
	struct range range;
};

static struct tag *next_tag(struct buffer *tags)
{
	return (struct tag *)(void *)buffer_reserve(tags, sizeof(struct tag));
}

static bool add_tag(struct span_marks *marks, struct buffer *tags, const char *at, const char *end)
{
	if (!span_value_read(next_tag(tags), at, end, &marks->texts))
		return false;
	tags->size += sizeof(struct tag);
	return true;
}

static size_t tag_count(const struct buffer *tags)
{
	return tags->size / sizeof(struct tag);
}

static struct attributes attributes_of(const struct buffer *tags)
{
	return (struct attributes){
		.tags = (const struct tag *)(const void *)tags->data, .count = tag_count(tags)};
}

/* Annotations and links */

/* "@+NANOSECONDS=TEXT", and '-' for what was before the start. */
static bool read_annotation(
	struct span_marks *marks, const struct span_marks_lines *lines, const char *at, const char *end)
{
	struct annotation *annotation = &lines->annotations[*lines->annotation_count];
	bool before = *at == '-';
	uint64_t offset;

	if (*at != '+' && !before)
		return false;
	at = span_offset_read(at + 1, end, &offset);
	if (!at || at == end || *at != '=')
		return false;
	annotation->time = before ? lines->start - (int64_t)offset : lines->start + (int64_t)offset;
	annotation->value = span_text_read(at + 1, end, &marks->texts);
	++*lines->annotation_count;
	return true;
}

/* An attribute of the last annotation; if that is missing, of none. */
static bool read_of_annotation(struct span_marks *marks, size_t count, const char *at, const char *end)
{
	size_t known = marks->annotations.size / sizeof(struct range), first = tag_count(&marks->nested);
	struct range *ranges;

	if (!add_tag(marks, &marks->nested, at, end))
		return false;
	if (count <= marks->first_annotation) {
		marks->nested.size -= sizeof(struct tag);
		marks->left_out = true;
		return true;
	}
	if (known < count) {
		memset(buffer_reserve(&marks->annotations, (count - known) * sizeof(*ranges)), 0,
			(count - known) * sizeof(*ranges));
		marks->annotations.size = count * sizeof(*ranges);
		ranges = (struct range *)(void *)marks->annotations.data;
		ranges[count - 1].first = first;
	}
	ranges = (struct range *)(void *)marks->annotations.data;
	ranges[count - 1].count++;
	return true;
}

/* "HEX32-HEX16-HEX8=TRACESTATE": the trace, the span, and OTLP's flags. */
static bool read_link(struct span_marks *marks, const char *at, const char *end)
{
	struct marked_link new = {.link = {.trace_state = {"", 0}}};
	const ptrdiff_t size = 3 * ID_DIGITS + ID_DIGITS / 2 + 2;
	uint64_t flags;

	if (end - at <= size || at[2 * ID_DIGITS] != '-' || at[3 * ID_DIGITS + 1] != '-' || at[size] != '=' ||
		!hex_read_digits(at, ID_DIGITS, &new.link.trace_id_high) ||
		!hex_read_digits(at + ID_DIGITS, ID_DIGITS, &new.link.trace_id) ||
		!hex_read_digits(at + 2 * ID_DIGITS + 1, ID_DIGITS, &new.link.id) ||
		!hex_read_digits(at + 3 * ID_DIGITS + 2, ID_DIGITS / 2, &flags))
		return false;
	new.link.flags = (uint32_t)flags;
	new.link.trace_state = span_text_read(at + size + 1, end, &marks->texts);
	new.range.first = tag_count(&marks->of_links);
	buffer_put(&marks->links, &new, sizeof(new));
	return true;
}

/* An attribute of the last link. */
static bool read_of_link(struct span_marks *marks, const char *at, const char *end)
{
	size_t count = marks->links.size / sizeof(struct marked_link);

	if (!add_tag(marks, &marks->of_links, at, end))
		return false;
	if (count <= marks->first_link) {
		marks->of_links.size -= sizeof(struct tag);
		marks->left_out = true;
	} else {
		((struct marked_link *)(void *)marks->links.data)[count - 1].range.count++;
	}
	return true;
}

/* Notes: "!NAME=VALUE" */

static struct text word_of(const char *at, const char *end)
{
	return (struct text){at, (uint32_t)(end - at)};
}

/* "ok" or "error", and after a blank what went wrong. */
static bool read_status(struct span_marks *marks, const char *at, const char *end)
{
	const char *blank = memchr(at, ' ', (size_t)(end - at)), *word_end = blank ? blank : end;
	const struct text word = word_of(at, word_end);

	if (text_is(word, "ok"))
		marks->more.status = SPAN_STATUS_OK;
	else if (text_is(word, "error"))
		marks->more.status = SPAN_STATUS_ERROR;
	else if (text_is(word, "unset"))
		marks->more.status = SPAN_STATUS_UNSET;
	else
		return false;
	marks->more.status_message =
		blank ? span_text_read(blank + 1, end, &marks->texts) : (struct text){"", 0};
	return true;
}

/* A number that is all of it. */
static bool read_number(const char *at, const char *end, uint64_t most, uint64_t *number)
{
	return at < end && span_number_read(at, end, number) == end && *number <= most;
}

static bool read_time(struct span_marks *marks, const char *at, const char *end)
{
	uint64_t number = 0;

	if (end - at > 19 || at == end)
		return false;
	for (; at < end && g_ascii_isdigit(*at); at++)
		number = number * 10 + (uint64_t)(*at - '0');
	if (at < end || number > TIME_MAX || !number)
		return false;
	marks->has_time = true;
	marks->time = (int64_t)number;
	return true;
}

/* How many attributes, annotations and links were left out by the program. */
static bool read_dropped(struct span_marks *marks, const char *at, const char *end)
{
	uint64_t counts[3];

	for (int i = 0; i < 3; i++) {
		at = at && at < end ? span_number_read(at, end, &counts[i]) : NULL;
		if (!at || counts[i] > UINT32_MAX || (i < 2 ? at == end || *at++ != ',' : at != end))
			return false;
	}
	marks->more.dropped_tags = (uint32_t)counts[0];
	marks->more.dropped_annotations = (uint32_t)counts[1];
	marks->more.dropped_links = (uint32_t)counts[2];
	return true;
}

static bool read_text_note(struct span_marks *marks, const char *at, const char *equals, const char *end)
{
	struct span_more *more = &marks->more;
	const struct {
		const char *name;
		struct text *text;
	} notes[] = {
		{"state", &more->trace_state},
		{"scope", &more->scope_name},
		{"version", &more->scope_version},
		{"scope-schema", &more->scope_schema},
		{"resource-schema", &more->resource_schema},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(notes); i++) {
		if (text_is(word_of(at, equals), notes[i].name)) {
			*notes[i].text = span_text_read(equals + 1, end, &marks->texts);
			return true;
		}
	}
	return false;
}

static bool read_note(struct span_marks *marks, const char *at, const char *end)
{
	const char *equals = memchr(at, '=', (size_t)(end - at)), *value;
	uint64_t number;

	if (!equals)
		return false;
	value = equals + 1;
	if (text_is(word_of(at, equals), "time"))
		return read_time(marks, value, end);
	if (text_is(word_of(at, equals), "status"))
		return read_status(marks, value, end);
	if (text_is(word_of(at, equals), "dropped"))
		return read_dropped(marks, value, end);
	if (text_is(word_of(at, equals), "sdk")) {
		if (!read_number(value, end, UINT32_MAX, &number))
			return false;
		marks->more.flags = (uint32_t)number;
		marks->more.ours = false;
		return true;
	}
	return read_text_note(marks, at, equals, end);
}

/* A line */

static bool read(
	struct span_marks *marks, const struct span_marks_lines *lines, const char *at, const char *end)
{
	char mark = *at++;

	switch (mark) {
	case '\\':
		if (!span_value_read(&lines->tags[*lines->tag_count], at, end, &marks->texts))
			return false;
		++*lines->tag_count;
		return true;
	case '@':
		return read_annotation(marks, lines, at, end);
	case '+':
		return read_of_annotation(marks, *lines->annotation_count, at, end);
	case '>':
		return read_link(marks, at, end);
	case '*':
		return read_of_link(marks, at, end);
	case ':':
		return add_tag(marks, &marks->resource, at, end);
	case '%':
		return add_tag(marks, &marks->scope, at, end);
	case '!':
		return read_note(marks, at, end);
	default:
		return false;
	}
}

bool span_marks_read(
	struct span_marks *marks, const struct span_marks_lines *lines, const char *at, const char *end)
{
	if (!marks->any) {
		buffer_reserve(&marks->texts, SPANVALUE_TEXTS(lines->texts_room));
		marks->more.ours = true;
	}
	if (end - at < 3 || !read(marks, lines, at + 1, end))
		return false;
	marks->any = marks->used = true;
	return true;
}

void span_marks_gap(struct span_marks *marks, size_t annotation_count)
{
	marks->used = true;
	marks->first_annotation = annotation_count;
	marks->first_link = marks->links.size / sizeof(struct marked_link);
}

/* The result */

static struct attributes take(const struct buffer *tags, struct range range)
{
	struct attributes attributes = {0};

	if (range.count)
		attributes.tags = (const struct tag *)(const void *)tags->data + range.first;
	attributes.count = range.count;
	return attributes;
}

static void lay_out_annotations(
	const struct span_marks *marks, struct attributes *to, size_t before, size_t count)
{
	const struct range *ranges = (const struct range *)(const void *)marks->annotations.data;
	size_t known = marks->annotations.size / sizeof(*ranges);

	memset(to, 0, count * sizeof(*to));
	for (size_t i = 0; i < known && before + i < count; i++)
		if (ranges[i].count)
			to[before + i] = take(&marks->nested, ranges[i]);
}

const struct span_more *span_marks_lay_out(struct span_marks *marks, size_t before, size_t count)
{
	const struct marked_link *links = (const struct marked_link *)(const void *)marks->links.data;
	size_t link_count = marks->links.size / sizeof(*links),
	       annotation_count = marks->annotations.size ? count : 0;
	struct attributes *of_annotations;
	struct span_link *laid_out;

	marks->laid_out.size = 0;
	of_annotations = (struct attributes *)(void *)buffer_reserve(&marks->laid_out,
		annotation_count * sizeof(*of_annotations) + link_count * sizeof(*laid_out));
	laid_out = (struct span_link *)(void *)(of_annotations + annotation_count);
	if (annotation_count)
		lay_out_annotations(marks, of_annotations, before, annotation_count);
	for (size_t i = 0; i < link_count; i++) {
		laid_out[i] = links[i].link;
		laid_out[i].attributes = take(&marks->of_links, links[i].range);
	}
	marks->more.of_annotations = annotation_count ? of_annotations : NULL;
	marks->more.links = laid_out;
	marks->more.link_count = link_count;
	marks->more.scope = attributes_of(&marks->scope);
	marks->more.resource = attributes_of(&marks->resource);
	return &marks->more;
}

void span_marks_clear(struct span_marks *marks)
{
	marks->any = marks->used = marks->has_time = marks->left_out = false;
	marks->first_annotation = marks->first_link = 0;
	marks->texts.size = marks->annotations.size = marks->nested.size = marks->links.size =
		marks->of_links.size = marks->scope.size = marks->resource.size = 0;
	marks->more = (struct span_more){.ours = true,
		.trace_state = {"", 0},
		.status_message = {"", 0},
		.scope_name = {"", 0},
		.scope_version = {"", 0},
		.scope_schema = {"", 0},
		.resource_schema = {"", 0}};
}

void span_marks_free(struct span_marks *marks)
{
	buffer_free(&marks->texts);
	buffer_free(&marks->annotations);
	buffer_free(&marks->nested);
	buffer_free(&marks->links);
	buffer_free(&marks->of_links);
	buffer_free(&marks->scope);
	buffer_free(&marks->resource);
	buffer_free(&marks->laid_out);
}
