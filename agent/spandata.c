/* SPDX-License-Identifier: BSD-2-Clause */
#include "spandata.h"

#include <string.h>

#include <glib.h>

#include "endpoint.h"

/* Reads decimal digits up to @end; returns where they end, or NULL if there are none or too many. */
static const char *read_number(const char *at, const char *end, uint64_t *number)
{
	const char *first = at;

	*number = 0;
	for (; at < end && *at >= '0' && *at <= '9'; at++)
		*number = *number * 10 + (uint64_t)(*at - '0');
	return at == first || at - first > 18 ? NULL : at;
}

/* "+NANOSECONDS VALUE", or with '-'. */
static bool read_annotation(struct span_data *lines, const char *at, const char *end, int64_t start)
{
	struct annotation *annotation = &lines->annotations[lines->annotation_count++];
	bool before = *at == '-';
	uint64_t offset;

	at = read_number(at + 1, end, &offset);
	if (!at || at == end || *at != ' ')
		return false;
	annotation->time = (before ? start - (int64_t)offset : start + (int64_t)offset) / 1000;
	annotation->value = (struct text){at + 1, (uint32_t)(end - at - 1)};
	return true;
}

/* "@PORT IP SERVICE". */
static bool read_remote(struct span_data *lines, const char *at, const char *end)
{
	struct text ip;
	const char *space;
	uint64_t port;

	at = read_number(at + 1, end, &port);
	if (!at || at == end || *at != ' ' || port > UINT16_MAX)
		return false;
	at++;
	space = memchr(at, ' ', (size_t)(end - at));
	if (!space)
		return false;
	ip = (struct text){at, (uint32_t)(space - at)};
	endpoint_set_address(&lines->remote, ip);
	lines->remote.port = (uint16_t)port;
	lines->remote.service = (struct text){space + 1, (uint32_t)(end - space - 1)};
	lines->has_remote = true;
	return true;
}

/* "KEY=VALUE". */
static bool read_tag(struct span_data *lines, const char *at, const char *end)
{
	const char *equals = memchr(at, '=', (size_t)(end - at));
	struct tag *tag = &lines->tags[lines->tag_count++];

	if (!equals)
		return false;
	tag->key = (struct text){at, (uint32_t)(equals - at)};
	tag->value = (struct text){equals + 1, (uint32_t)(end - equals - 1)};
	return true;
}

static bool read_line(struct span_data *lines, const char *at, const char *end, int64_t start)
{
	if (at < end && (*at == '+' || *at == '-'))
		return read_annotation(lines, at, end, start);
	if (at < end && *at == '@')
		return read_remote(lines, at, end);
	return read_tag(lines, at, end);
}

bool span_data_read(struct span_data *lines, struct text data, int64_t start)
{
	const char *at = data.data, *end = data.data + data.size;

	if (!lines->annotations) {
		lines->annotations = g_new(struct annotation, SPAN_DATA_LINES);
		lines->tags = g_new(struct tag, SPAN_DATA_LINES + 1);
	}
	lines->annotation_count = lines->tag_count = 0;
	lines->has_remote = false;
	while (at < end) {
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (!line_end || lines->annotation_count + lines->tag_count == SPAN_DATA_LINES ||
			!read_line(lines, at, line_end, start))
			return false;
		at = line_end + 1;
	}
	return true;
}

void span_data_free(struct span_data *lines)
{
	g_clear_pointer(&lines->annotations, g_free);
	g_clear_pointer(&lines->tags, g_free);
}
