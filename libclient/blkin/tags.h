/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tags of every scalar type; several in one call; and the tag for errors. Zipkin shows the values as text;
 * OpenTelemetry has their types.
 */
#ifndef BLKIN_TAGS_H_
#define BLKIN_TAGS_H_

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <blkin/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * blkin_span_tag_uint - blkin_span_tag_int, of an unsigned number
 */
static inline void blkin_span_tag_uint(struct blkin_span *span, const char *key, uint64_t value)
{
	char text[21], *end;

	if (!span->recording || !key)
		return;
	end = blkin_put_number_(text, value);
	*end = '\0';
	blkin_span_put_tag_(span, key, strlen(key), text, (size_t)(end - text), 'i');
}

/* Writes a number in the fewest digits that read back the same, and a NUL; @to has room for 32. */
static inline char *blkin_put_double_(char *to, double value)
{
	const int kept = errno; /* strtod sets it for the smallest numbers */
	double again;
	int digits = 15;
	char *at;

	do {
		snprintf(to, 32, "%.*g", digits, value);
		again = strtod(to, NULL);
	} while (memcmp(&again, &value, sizeof(value)) != 0 && digits++ < 17);
	errno = kept;
	for (at = to; *at; at++) /* a locale may have another decimal sign */
		if (*at == ',')
			*at = '.';
	return at;
}

/**
 * blkin_span_tag_double - the same with a floating-point number, in the fewest digits that read back the same
 */
static inline void blkin_span_tag_double(struct blkin_span *span, const char *key, double value)
{
	char text[32], *end;

	if (!span->recording || !key)
		return;
	end = blkin_put_double_(text, value);
	blkin_span_put_tag_(span, key, strlen(key), text, (size_t)(end - text), 'd');
}

/**
 * blkin_span_tag_bool - the same with a truth value: "true" or "false"
 */
static inline void blkin_span_tag_bool(struct blkin_span *span, const char *key, int value)
{
	const char *text = value ? "true" : "false";

	if (span->recording && key)
		blkin_span_put_tag_(span, key, strlen(key), text, strlen(text), 'b');
}

/**
 * blkin_span_error - mark the span as failed, by Zipkin's tag `error`
 * @span: a started span
 * @message: what went wrong; copied; NULL or "": unknown
 */
static inline void blkin_span_error(struct blkin_span *span, const char *message)
{
	blkin_span_tag(span, "error", message && *message ? message : "true");
}

/** struct blkin_tag - a key and a value of any scalar type, for blkin_span_tags; see BLKIN_TAG */
struct blkin_tag {
	const char *key;
	void (*put)(struct blkin_span *span, const struct blkin_tag *tag);
	const char *text;
	int64_t number;
	double real;
	char type; /* as marks.h has it */
};

static inline void blkin_put_text_tag_(struct blkin_span *span, const struct blkin_tag *tag)
{
	blkin_span_tag(span, tag->key, tag->text);
}

static inline void blkin_put_int_tag_(struct blkin_span *span, const struct blkin_tag *tag)
{
	blkin_span_tag_int(span, tag->key, tag->number);
}

static inline void blkin_put_double_tag_(struct blkin_span *span, const struct blkin_tag *tag)
{
	blkin_span_tag_double(span, tag->key, tag->real);
}

static inline void blkin_put_bool_tag_(struct blkin_span *span, const struct blkin_tag *tag)
{
	blkin_span_tag_bool(span, tag->key, tag->number != 0);
}

/** BLKIN_TAG, BLKIN_TAG_INT, BLKIN_TAG_DOUBLE, BLKIN_TAG_BOOL - one tag for blkin_span_tags; a number may be
 * of any type. (There is no product of a pointer, which a cast alone would take.) */
#define BLKIN_TAG(key, value)                                                                                \
	{                                                                                                    \
		(key), blkin_put_text_tag_, (value), 0, 0, 't'                                               \
	}
#define BLKIN_TAG_INT(key, value)                                                                            \
	{                                                                                                    \
		(key), blkin_put_int_tag_, NULL, (int64_t)(1 * (value)), 0, 'i'                              \
	}
#define BLKIN_TAG_DOUBLE(key, value)                                                                         \
	{                                                                                                    \
		(key), blkin_put_double_tag_, NULL, 0, (double)(value), 'd'                                  \
	}
#define BLKIN_TAG_BOOL(key, value)                                                                           \
	{                                                                                                    \
		(key), blkin_put_bool_tag_, NULL, (value) ? 1 : 0, 0, 'b'                                    \
	}

/**
 * blkin_span_tags - several tags in one call
 * @span: a started span
 * @tags, @count: copied, as blkin_span_tag copies; one that is all zero is ignored
 *
 *     const struct blkin_tag tags[] = {BLKIN_TAG("object", name), BLKIN_TAG_INT("bytes", size)};
 *     blkin_span_tags(&span, tags, 2);
 */
static inline void blkin_span_tags(struct blkin_span *span, const struct blkin_tag *tags, size_t count)
{
	size_t i;

	if (span->recording && tags)
		for (i = 0; i < count; i++)
			if (tags[i].put)
				tags[i].put(span, &tags[i]);
}

#ifdef __cplusplus
}
#endif

#endif
