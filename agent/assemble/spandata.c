/* SPDX-License-Identifier: BSD-2-Clause */
#include "assemble/spandata.h"

#include <string.h>

#include <glib.h>

#include "assemble/tagtype.h"
#include "base/memfind.h"

/* "+NANOSECONDS", or with '-': an offset from the span's start. */
static const char *read_offset(const char *at, const char *end, int64_t *offset)
{
	bool before = at < end && *at == '-';
	uint64_t number;

	if (at == end || (*at != '+' && *at != '-'))
		return NULL;
	at = span_number_read(at + 1, end, &number);
	if (at)
		*offset = before ? -(int64_t)number : (int64_t)number;
	return at;
}

static bool is_full(const struct span_data *lines)
{
	return lines->annotation_count + lines->tag_count == SPAN_DATA_LINES;
}

/* An offset, a space, VALUE. */
static bool read_annotation(struct span_data *lines, const char *at, const char *end, int64_t start)
{
	struct annotation *annotation;
	int64_t offset;

	if (is_full(lines))
		return false;
	annotation = &lines->annotations[lines->annotation_count++];
	at = read_offset(at, end, &offset);
	if (!at || at == end || *at != ' ')
		return false;
	annotation->time = start + offset;
	annotation->value = (struct text){at + 1, (uint32_t)(end - at - 1)};
	return true;
}

/* "@PORT IP SERVICE". */
static bool read_remote(struct span_data *lines, const char *at, const char *end)
{
	lines->has_remote = true;
	return span_endpoint_read(&lines->remote, at + 1, end);
}

/* "!finish +NANOSECONDS", "!pieces NUMBER". */
static bool read_note(struct span_data *lines, const char *at, const char *end)
{
	if (end - at < 8)
		return false;
	if (memcmp(at, "!finish ", 8) == 0) {
		lines->has_finish = true;
		return read_offset(at + 8, end, &lines->finish) == end;
	}
	return memcmp(at, "!pieces ", 8) == 0 && span_number_read(at + 8, end, &lines->pieces) == end;
}

/* "&PID=NAME". Another line that looks alike is a tag. */
static bool read_process(struct span_data *lines, const char *at, const char *end)
{
	uint64_t pid;
	const char *equals = span_number_read(at + 1, end, &pid);

	if (!equals || equals == end || *equals != '=' || pid > INT32_MAX)
		return false;
	lines->pid = (uint32_t)pid;
	lines->program = (struct text){equals + 1, (uint32_t)(end - equals - 1)};
	return true;
}

/* "KEY=VALUE". */
static bool read_tag(struct span_data *lines, const char *at, const char *end, const char *limit)
{
	const char *equals = find_within(at, end, limit, '=');

	if (!equals || is_full(lines))
		return false;
	lines->tags[lines->tag_count++] = tag_read((struct text){at, (uint32_t)(equals - at)},
		(struct text){equals + 1, (uint32_t)(end - equals - 1)});
	return true;
}

/* @limit: where the whole text ends. */
static bool read_line(
	struct span_data *lines, const char *at, const char *end, const char *limit, int64_t start)
{
	if (at < end && (*at == '+' || *at == '-'))
		return read_annotation(lines, at, end, start);
	if (at < end && *at == '@')
		return read_remote(lines, at, end);
	if (at < end && *at == '!')
		return read_note(lines, at, end);
	if (at < end && *at == '&' && read_process(lines, at, end))
		return true;
	return read_tag(lines, at, end, limit);
}

/* Empties it for the next span. */
static void clear(struct span_data *lines)
{
	if (!lines->cache) {
		lines->cache = endpoint_cache_create();
		lines->annotations = g_new(struct annotation, SPAN_DATA_LINES);
		lines->tags = g_new(struct tag, SPAN_DATA_LINES + 1);
	}
	lines->annotation_count = lines->tag_count = 0;
	lines->has_remote = lines->has_finish = false;
	lines->pieces = 0;
	lines->pid = 0;
	lines->program = (struct text){"", 0};
}

bool span_data_read(struct span_data *lines, struct text data, int64_t start)
{
	const char *at = data.data, *end = data.data + data.size, *line_end = find_near(at, end, '\n');

	clear(lines);
	if (!line_end ||
		!span_head_read(&lines->head, (struct text){at, (uint32_t)(line_end - at)}, lines->cache))
		return false;
	for (at = line_end + 1; at < end; at = line_end + 1) {
		line_end = find_near(at, end, '\n');
		if (!line_end || !read_line(lines, at, line_end, end, start))
			return false;
	}
	return true;
}

void span_data_free(struct span_data *lines)
{
	g_clear_pointer(&lines->cache, endpoint_cache_destroy);
	g_clear_pointer(&lines->annotations, g_free);
	g_clear_pointer(&lines->tags, g_free);
}
