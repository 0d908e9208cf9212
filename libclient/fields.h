/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fields of a classic event in one piece, as LTTng would write them one by one.
 *
 * The piece is made on the stack, of the program's texts. Another thread may change them meanwhile, though it
 * should not: so a text's size is taken once, and its copy ends there, with a NUL that is not the program's.
 * If a text has become shorter, or all are too long, there is no piece, and LTTng writes the fields.
 */
#ifndef FIELDS_H
#define FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <blkin/text.h>

#define FIELDS_ROOM 512
/* The most texts of an event: trace_name, service, ip, key, value. */
#define FIELDS_TEXTS 5

/* An event: the fields that all have; then a key; then a text or a number. */
struct fields {
	const char *trace_name, *service, *ip, *key, *text;
	int port;
	int64_t ids[3]; /* trace, span, parent */
	int64_t number;
	size_t size;                /* of all */
	unsigned texts;             /* how many texts it has */
	size_t sizes[FIELDS_TEXTS]; /* theirs, with their NUL */
	bool together;              /* in `piece` */
	char piece[FIELDS_ROOM];
};

/* What an event has behind the fields that all have. */
enum fields_kind { FIELDS_TEXT, FIELDS_KEY_TEXT, FIELDS_KEY_NUMBER };

/* Where in the piece the next field goes, and whether a text that is in it has become shorter. */
struct fields_cursor {
	char *to;
	uint64_t shorter;
};

/* How far a number that is aligned so is behind @size bytes; LTTng packs them on some processors. */
static inline size_t fields_gap(size_t size, size_t align)
{
	return -size & (align - 1);
}

static inline void fields_set_head(struct fields *fields, const char *trace_name, const char *service,
	int port, const char *ip, int64_t trace, int64_t span, int64_t parent)
{
	fields->trace_name = trace_name;
	fields->service = service;
	fields->port = port;
	fields->ip = ip;
	fields->ids[0] = trace;
	fields->ids[1] = span;
	fields->ids[2] = parent;
}

static inline size_t fields_measure_text(struct fields *fields, const char **text)
{
	if (!*text)
		*text = "(null)"; /* as LTTng writes it */
	return fields->sizes[fields->texts++] = strlen(*text) + 1;
}

static inline size_t fields_measure_number(size_t before, size_t size, size_t align)
{
	return fields_gap(before, align) + size;
}

static inline void fields_put_text(struct fields_cursor *cursor, const char *text, size_t size)
{
	cursor->shorter |= blkin_copy_(cursor->to, text, size - 1, 1);
	cursor->to += size;
	cursor->to[-1] = '\0';
}

static inline void fields_put_number(
	struct fields_cursor *cursor, const char *piece, const void *number, size_t size, size_t align)
{
	size_t gap = fields_gap((size_t)(cursor->to - piece), align);

	memset(cursor->to, 0, gap);
	memcpy(cursor->to + gap, number, size);
	cursor->to += gap + size;
}

/* @number, @ids: how LTTng aligns an int and an int64_t */
static inline BLKIN_INLINE_ void fields_measure(
	struct fields *fields, enum fields_kind kind, size_t int_align, size_t int64_align)
{
	size_t size;

	fields->texts = 0;
	size = fields_measure_text(fields, &fields->trace_name);
	size += fields_measure_text(fields, &fields->service);
	size += fields_measure_number(size, sizeof(fields->port), int_align);
	size += fields_measure_text(fields, &fields->ip);
	size += fields_measure_number(size, sizeof(fields->ids), int64_align);
	if (kind != FIELDS_TEXT)
		size += fields_measure_text(fields, &fields->key);
	if (kind == FIELDS_KEY_NUMBER)
		size += fields_measure_number(size, sizeof(fields->number), int64_align);
	else
		size += fields_measure_text(fields, &fields->text);
	fields->size = size;
}

static inline BLKIN_INLINE_ void fields_put(
	struct fields *fields, enum fields_kind kind, size_t int_align, size_t int64_align)
{
	struct fields_cursor cursor = {fields->piece, 0};

	fields_put_text(&cursor, fields->trace_name, fields->sizes[0]);
	fields_put_text(&cursor, fields->service, fields->sizes[1]);
	fields_put_number(&cursor, fields->piece, &fields->port, sizeof(fields->port), int_align);
	fields_put_text(&cursor, fields->ip, fields->sizes[2]);
	fields_put_number(&cursor, fields->piece, fields->ids, sizeof(fields->ids), int64_align);
	if (kind != FIELDS_TEXT)
		fields_put_text(&cursor, fields->key, fields->sizes[3]);
	if (kind == FIELDS_KEY_NUMBER)
		fields_put_number(
			&cursor, fields->piece, &fields->number, sizeof(fields->number), int64_align);
	else
		fields_put_text(&cursor, fields->text, fields->sizes[kind == FIELDS_TEXT ? 3 : 4]);
	fields->together = !cursor.shorter;
}

/* Measures the fields, and puts them together if they fit. The alignments are LTTng's. */
static inline BLKIN_INLINE_ void fields_prepare(
	struct fields *fields, enum fields_kind kind, size_t int_align, size_t int64_align)
{
	fields->together = false;
	fields_measure(fields, kind, int_align, int64_align);
	if (fields->size <= sizeof(fields->piece))
		fields_put(fields, kind, int_align, int64_align);
}

#endif
