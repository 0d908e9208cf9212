/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/spandata.h"

#include <string.h>

#include <glib.h>

#include "base/digits.h"
#include "base/memfind.h"
#include "reader/assemble/endpoint.h"
#include "reader/assemble/spannumber.h"
#include "reader/assemble/tagtype.h"

/* Those, and one each of those that are neither annotations nor tags. */
#define MAX_LINES (SPAN_DATA_LINES + 4)
/* Tags that the agent adds: the level, and that pieces are missing. */
#define ADDED_TAGS 2

/*
 * The text ends with a line break, which is seen to first: whoever looks for one, or for the end of a number,
 * comes to it at the latest. Each of these functions takes the place where a line begins or goes on, and
 * gives the place of its line break, or NULL if it is malformed.
 */

/* Decimal digits; at most 18. */
static inline const char *read_number(const char *at, const char *end, uint64_t *number)
{
	uint64_t word = end - at >= 8 ? digits_load(at) : 0;
	unsigned count = digits_count(word);

	if (count == 0 || count == 8) /* or there are too few characters left */
		return span_number_read(at, end, number);
	*number = digits_value(word, count);
	return at + count;
}

/* The same of an offset in time. */
static inline const char *read_distance(const char *at, const char *end, uint64_t *distance)
{
	const char *past = read_number(at, end, distance);

	return past ? past : span_offset_read(at, end, distance);
}

/* "+NANOSECONDS", or with '-': an offset from the span's start. */
static inline const char *read_offset(const char *at, const char *end, int64_t *offset)
{
	bool before = *at == '-';
	uint64_t number = 0; /* of what is none */

	if (*at != '+' && !before)
		return NULL;
	at = read_distance(at + 1, end, &number);
	*offset = (int64_t)(before ? 0 - number : number); /* of what is no number it may be any */
	return at;
}

/* An offset, of which the sign is known, a space, VALUE. */
static inline const char *read_annotation(
	struct span_data *lines, const char *at, const char *end, int64_t start, bool before)
{
	struct annotation *annotation = &lines->annotations[lines->annotation_count++];
	const char *line_end;
	uint64_t offset;

	at = read_distance(at + 1, end, &offset);
	if (!at || *at != ' ')
		return NULL;
	line_end = find_sure(++at, end, '\n');
	*annotation = (struct annotation){
		before ? start - (int64_t)offset : start + (int64_t)offset, {at, (uint32_t)(line_end - at)}};
	return line_end;
}

/* "@PORT IP SERVICE". */
static const char *read_remote(struct span_data *lines, const char *at, const char *end)
{
	const char *line_end = find_sure(at, end, '\n');

	lines->has_remote = true;
	return endpoint_read(&lines->remote, at + 1, line_end) ? line_end : NULL;
}

static bool begins_with(const char *at, const char *end, const char *word)
{
	size_t size = strlen(word);

	return (size_t)(end - at) >= size && !memcmp(at, word, size);
}

/* "!finish +NANOSECONDS", "!pieces NUMBER". */
static const char *read_note(struct span_data *lines, const char *at, const char *end)
{
	lines->has_finish |= begins_with(at, end, "!finish ");
	if (begins_with(at, end, "!finish "))
		at = read_offset(at + 8, end, &lines->finish);
	else
		at = begins_with(at, end, "!pieces ") ? read_number(at + 8, end, &lines->pieces) : NULL;
	return at && *at == '\n' ? at : NULL;
}

static void keep_process(struct span_data *lines, const char *at, size_t size)
{
	struct known_process *known = &lines->process;

	if (size > sizeof(known->line))
		return;
	memcpy(known->line, at, size);
	known->size = (uint32_t)size;
	known->pid = lines->pid;
	known->name_size = lines->program.size;
}

/* "KEY=VALUE". */
static inline const char *read_tag(struct span_data *lines, const char *at, const char *end)
{
	const char *equals = find_either(at, end, '=', '\n'), *value = equals + 1, *line_end;
	struct tag *tag;

	if (*equals != '=')
		return NULL;
	line_end = find_sure(value, end, '\n');
	tag = &lines->tags[lines->tag_count++];
	*tag = (struct tag){{at, (uint32_t)(equals - at)}, {value, (uint32_t)(line_end - value)}, TAG_TEXT};
	if (*at == '#')
		tag_read_mark(tag);
	return line_end;
}

/* "&PID=NAME". Another line that looks alike is a tag. */
static const char *read_process(struct span_data *lines, const char *at, const char *end)
{
	uint64_t pid;
	const char *equals = read_number(at + 1, end, &pid), *line_end;

	if (!equals || *equals != '=' || pid > INT32_MAX)
		return read_tag(lines, at, end);
	line_end = find_sure(equals, end, '\n');
	lines->pid = (uint32_t)pid;
	lines->program = (struct text){equals + 1, (uint32_t)(line_end - equals - 1)};
	if (line_end == end - 1) /* as clients write it */
		keep_process(lines, at, (size_t)(end - at));
	return line_end;
}

/* "#" and a character that is no small letter. One that is not as its mark says is a tag. */
static const char *read_mark(struct span_data *lines, const char *at, const char *end, int64_t start)
{
	const char *line_end = find_sure(at, end, '\n');
	const struct span_marks_lines to = {
		.annotations = lines->annotations,
		.annotation_count = &lines->annotation_count,
		.tags = lines->tags,
		.tag_count = &lines->tag_count,
		.start = start,
		.texts_room = (size_t)(end - at),
	};

	return span_marks_read(&lines->marks, &to, at, line_end) ? line_end : read_tag(lines, at, end);
}

/* Those that there are few of. */
static __attribute__((noinline)) const char *read_other_line(
	struct span_data *lines, const char *at, const char *end, int64_t start)
{
	switch (*at) {
	case '-':
		return read_annotation(lines, at, end, start, true);
	case '&':
		return read_process(lines, at, end);
	case '@':
		return read_remote(lines, at, end);
	case '!':
		return read_note(lines, at, end);
	case '#':
		return read_mark(lines, at, end, start);
	case '\0':
		span_marks_gap(&lines->marks, lines->annotation_count);
		return find_sure(at, end, '\n');
	default:
		return read_tag(lines, at, end);
	}
}

/* Those that there are most of first. */
static inline const char *read_line(struct span_data *lines, const char *at, const char *end, int64_t start)
{
	if (*at == '+')
		return read_annotation(lines, at, end, start, false);
	if (*at > '@' || (*at == '#' && at[1] >= 'a')) /* as most keys begin */
		return read_tag(lines, at, end);
	return read_other_line(lines, at, end, start);
}

static void make_room(struct span_data *lines, size_t count)
{
	lines->annotations = g_renew(struct annotation, lines->annotations, count);
	lines->tags = g_renew(struct tag, lines->tags, count + ADDED_TAGS);
	lines->room = count;
}

/* Empties it for the next span. */
static void clear(struct span_data *lines)
{
	if (!lines->cache) {
		lines->cache = endpoint_cache_create();
		make_room(lines, MAX_LINES);
	}
	if (lines->marks.used)
		span_marks_clear(&lines->marks);
	lines->annotation_count = lines->tag_count = 0;
	lines->has_remote = lines->has_finish = false;
	lines->remote.service = (struct text){"", 0}; /* else it would be of an event that is gone */
	lines->pieces = 0;
	lines->pid = 0;
	lines->program = (struct text){"", 0};
}

static const char *read_new_head(struct span_data *lines, const char *at, const char *end)
{
	const char *line_end = find_sure(at, end, '\n');
	struct text line = {at, (uint32_t)(line_end - at)};

	lines->last = endpoint_cache_find_head(lines->cache, line);
	if (lines->last)
		return line_end;
	lines->head = &lines->new_head;
	return span_head_read(&lines->new_head, line, lines->cache) ? line_end : NULL;
}

/* The head line, which is often that of the span before. */
static inline const char *read_head(struct span_data *lines, const char *at, const char *end)
{
	struct known_head *last = lines->last;
	const char *line_end;

	if (last && (size_t)(end - at) > last->size && at[last->size] == '\n' &&
		!memcmp(at, last->text, last->size))
		line_end = at + last->size;
	else
		line_end = read_new_head(lines, at, end);
	last = lines->last;
	if (last) {
		last->head.local.service.data = line_end - last->head.local.service.size;
		lines->head = &last->head;
	}
	return line_end;
}

/* Whether the last line is the known process's. */
static inline bool ends_with(const struct known_process *known, const char *at, const char *end)
{
	return known->size && (size_t)(end - at) > known->size && end[-1 - (ptrdiff_t)known->size] == '\n' &&
	       !memcmp(end - known->size, known->line, known->size);
}

/* There is, for as many lines; false if they are too many. */
static bool see_to_room(struct span_data *lines, const char *at, const char *end)
{
	size_t count = 0;

	if ((size_t)(end - at) / 2 <= lines->room) /* a line takes two characters at least */
		return true;
	for (; at < end && count <= SPAN_DATA_MOST; at = find_sure(at, end, '\n') + 1)
		count++;
	if (count > SPAN_DATA_MOST)
		return false;
	if (count > lines->room)
		make_room(lines, count);
	return true;
}

static bool read_all(struct span_data *lines, struct text data, int64_t start, bool has_head)
{
	const struct known_process *process = &lines->process;
	const char *at = data.data, *end = data.data + data.size, *rest = end;

	clear(lines);
	if (!data.size || end[-1] != '\n' || !see_to_room(lines, at, end))
		return false;
	if (ends_with(process, at, end))
		rest = end - process->size;
	for (at = has_head ? read_head(lines, at, end) : at - 1; at && ++at < rest;)
		at = read_line(lines, at, end, start);
	if (rest < end) {
		lines->pid = process->pid;
		lines->program = (struct text){end - 1 - process->name_size, process->name_size};
	}
	return at;
}

/* An SDK's span may have SPAN_DATA_MOST. */
bool span_data_read(struct span_data *lines, struct text data, int64_t start)
{
	return read_all(lines, data, start, true) &&
	       (lines->annotation_count + lines->tag_count <= SPAN_DATA_LINES ||
		       (lines->marks.any && !lines->marks.more.ours));
}

bool span_data_read_joined(struct span_data *lines, struct text data, int64_t start)
{
	return read_all(lines, data, start, true);
}

bool span_data_read_lines(struct span_data *lines, struct text data, int64_t start)
{
	return read_all(lines, data, start, false);
}

void span_data_free(struct span_data *lines)
{
	g_clear_pointer(&lines->cache, endpoint_cache_destroy);
	g_clear_pointer(&lines->annotations, g_free);
	g_clear_pointer(&lines->tags, g_free);
	span_marks_free(&lines->marks);
}
