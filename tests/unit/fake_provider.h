/* SPDX-License-Identifier: BSD-2-Clause */
/* A provider that notes what the header hands it, so that the client is tested without LTTng. For C and C++.
 */
#ifndef FAKE_PROVIDER_H
#define FAKE_PROVIDER_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blkin/blkin.h>

static int fake_on = 1;                      /* whether a session records */
static int fake_sampled = 1;                 /* what sampling says */
static struct blkin_span_record fake_record; /* the last span */
static char fake_name[70000];                /* its name */
static char fake_head[1024];                 /* the head line of its data */
static char fake_data[4096];                 /* the other lines */
static char fake_pieces[200000];             /* what went before it */
static char fake_piece_head[1024];           /* the last piece's head line */
static int fake_spans, fake_level;
static int fake_is_old;      /* takes spans in records only */
static int fake_wrong_sizes; /* of texts */

static inline void fake_note(const struct blkin_span_record *record, int level)
{
	const char *lines = strchr(record->data, '\n') + 1;

	fake_record = *record;
	snprintf(fake_name, sizeof(fake_name), "%s", record->name);
	snprintf(fake_head, sizeof(fake_head), "%.*s", (int)(lines - record->data - 1), record->data);
	snprintf(fake_data, sizeof(fake_data), "%s", lines);
	fake_level = level;
	fake_spans++;
}

static inline uint64_t fake_id(const char *text)
{
	return strtoull(text, NULL, 16);
}

/* The text of a span's event, read as its documentation says */
static inline void fake_note_whole(const char *text, size_t size, int level)
{
	struct blkin_span_record record;
	char *copy = (char *)malloc(size), *name;
	size_t name_size;

	memcpy(copy, text, size);
	name_size = strtoul(copy + 4 * 17, &name, 10);
	fake_wrong_sizes += strlen(text) + 1 != size || *name != ' ' || name[1 + name_size] != '\n';
	name[1 + name_size] = '\0';
	record.trace_id = fake_id(copy);
	record.span_id = fake_id(copy + 17);
	record.parent_id = fake_id(copy + 2 * 17);
	record.start = fake_id(copy + 3 * 17);
	record.name = name + 1;
	record.data = name + 1 + name_size + 1;
	fake_note(&record, level);
	free(copy);
}

#define FAKE_SPAN(level)                                                                                     \
	static void fake_span_##level(const struct blkin_span_record *record)                                \
	{                                                                                                    \
		fake_note(record, level);                                                                    \
	}                                                                                                    \
	static void fake_whole_##level(char *piece, size_t size)                                             \
	{                                                                                                    \
		fake_note_whole(piece + BLKIN_FRONT_, size, level);                                          \
	}
FAKE_SPAN(0)
FAKE_SPAN(1)
FAKE_SPAN(2)
FAKE_SPAN(3)
FAKE_SPAN(4)
FAKE_SPAN(5)
FAKE_SPAN(6)
FAKE_SPAN(7)

static void fake_annotation(const struct blkin_span_record *record, uint64_t time, const char *value)
{
	size_t used = strlen(fake_pieces);

	snprintf(fake_piece_head, sizeof(fake_piece_head), "%s", record->data);
	snprintf(fake_pieces + used, sizeof(fake_pieces) - used, "[%+" PRId64 " %s]",
		(int64_t)(time - record->start), value);
}

static void fake_tag(const struct blkin_span_record *record, const char *key, const char *value)
{
	size_t used = strlen(fake_pieces);

	snprintf(fake_piece_head, sizeof(fake_piece_head), "%s", record->data);
	snprintf(fake_pieces + used, sizeof(fake_pieces) - used, "[%s=%s]", key, value);
}

static int fake_sample(uint64_t id, uint64_t now, const char *service)
{
	(void)id;
	(void)now;
	(void)service;
	return fake_sampled;
}

static struct blkin_process fake_process; /* says nothing */

static const struct blkin_provider fake_provider = {sizeof(struct blkin_provider),
	{&fake_on, &fake_on, &fake_on, &fake_on, &fake_on, &fake_on, &fake_on, &fake_on}, &fake_on, &fake_on,
	&fake_on,
	{fake_span_0, fake_span_1, fake_span_2, fake_span_3, fake_span_4, fake_span_5, fake_span_6,
		fake_span_7},
	fake_annotation, fake_tag, NULL, NULL, NULL, fake_sample, blkin_ignore_sampling_, &fake_process, NULL,
	{fake_whole_0, fake_whole_1, fake_whole_2, fake_whole_3, fake_whole_4, fake_whole_5, fake_whole_6,
		fake_whole_7}};

static inline void fake_install(void)
{
	blkin_provider_ = &fake_provider;
	blkin_whole_ = fake_is_old ? NULL : fake_provider.whole;
	blkin_clock_ = NULL;
	fake_on = fake_sampled = 1;
	fake_pieces[0] = fake_data[0] = fake_head[0] = fake_name[0] = fake_piece_head[0] = '\0';
	fake_spans = fake_wrong_sizes = 0;
	memset(&fake_record, 0, sizeof(fake_record));
}

#endif
