/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What OpenTelemetry says of a span, and Zipkin has no word for: links, annotations with attributes, tags
 * that are lists, a status, the trace's state. In Zipkin they are shown as OpenTelemetry's own exporter to it
 * does: as tags, and a status that is an error as the tag `error`; links are left out.
 *
 * These calls cost more than those of <blkin/span.h>. All of them copy what they are given, do nothing to a
 * span that is not recorded, and ignore what is NULL. What does not fit into the span's event is recorded in
 * one before it.
 */
#ifndef BLKIN_DETAILS_H_
#define BLKIN_DETAILS_H_

#include <blkin/marks.h>
#include <blkin/tags.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum blkin_status - OpenTelemetry's status of a span */
enum blkin_status { BLKIN_STATUS_UNSET = 0, BLKIN_STATUS_OK = 1, BLKIN_STATUS_ERROR = 2 };

/* A scalar value, as text. */
static inline void blkin_span_put_value_(struct blkin_span *span, const struct blkin_tag *tag, int in_list)
{
	const char *word = tag->number ? "true" : "false";
	char text[40], *end;

	if (tag->type == 't') {
		blkin_span_put_escaped_(span, tag->text ? tag->text : "", in_list ? ',' : 0, 'c');
		return;
	}
	if (tag->type == 'b') {
		blkin_span_put_bytes_(span, word, strlen(word));
		return;
	}
	end = tag->type == 'd' ? blkin_put_double_(text, tag->real) : blkin_put_int_(text, tag->number);
	blkin_span_put_bytes_(span, text, (size_t)(end - text));
}

/* A line with an attribute. */
static inline void blkin_span_put_attribute_(
	struct blkin_span *span, const char *mark, const struct blkin_tag *tag)
{
	if (!tag->key || !tag->type)
		return;
	blkin_span_put_bytes_(span, mark, 2);
	blkin_span_put_bytes_(span, &tag->type, 1);
	blkin_span_put_escaped_(span, tag->key, '=', 'e');
	blkin_span_put_bytes_(span, "=", 1);
	blkin_span_put_value_(span, tag, 0);
	blkin_span_close_line_(span);
}

static inline void blkin_span_put_attributes_(
	struct blkin_span *span, const char *mark, const struct blkin_tag *tags, size_t count)
{
	size_t i;

	for (i = 0; tags && i < count; i++)
		blkin_span_put_attribute_(span, mark, &tags[i]);
}

/**
 * blkin_span_annotate_with - record that something happened, with attributes
 * @span: a started span
 * @time: from blkin_now(); 0: now
 * @value: what happened
 * @tags, @count: its attributes; see BLKIN_TAG
 *
 *     const struct blkin_tag retry[] = {BLKIN_TAG("peer", name), BLKIN_TAG_INT("attempt", 3)};
 *     blkin_span_annotate_with(&span, 0, "retry", retry, 2);
 */
static inline void blkin_span_annotate_with(
	struct blkin_span *span, uint64_t time, const char *value, const struct blkin_tag *tags, size_t count)
{
	char offset[24];

	if (!span->recording || !value)
		return;
	blkin_span_put_bytes_(span, "#@", 2);
	blkin_span_put_bytes_(span, offset,
		(size_t)(blkin_span_put_time_(span, offset, time ? time : blkin_span_now_(span)) - offset));
	blkin_span_put_bytes_(span, "=", 1);
	blkin_span_put_escaped_(span, value, 0, 0);
	blkin_span_close_line_(span);
	blkin_span_put_attributes_(span, "#+", tags, count);
}

/**
 * blkin_span_link - say that the span has to do with another one, of this trace or another
 * @span: a started span
 * @other: that span's context; one without a trace or a span is ignored
 * @tags, @count: attributes of the link; see BLKIN_TAG
 */
static inline void blkin_span_link(struct blkin_span *span, const struct blkin_context *other,
	const struct blkin_tag *tags, size_t count)
{
	uint64_t trace = other && other->trace_id ? other->trace_id : other ? other->unsampled_id : 0;
	char ids[2 * 16 + 1 + 16], *to = ids;

	if (!span->recording || !trace || !other->span_id)
		return;
	to = blkin_put_hex_(blkin_put_hex_(to, other->trace_id_high), trace);
	*to++ = '-';
	blkin_put_hex_(to, other->span_id);
	blkin_span_put_bytes_(span, "#>", 2);
	blkin_span_put_bytes_(span, ids, sizeof(ids));
	blkin_span_put_bytes_(span, other->trace_id ? "-00000001=" : "-00000000=", 10);
	blkin_span_close_line_(span);
	blkin_span_put_attributes_(span, "#*", tags, count);
}

/* Begins the line of a list. */
static inline int blkin_span_begin_list_(
	struct blkin_span *span, const char *key, char type, const void *values, size_t count)
{
	const char mark[4] = {'#', '\\', '[', type};

	if (!span->recording || !key || (!values && count))
		return 0;
	blkin_span_put_bytes_(span, mark, 4);
	blkin_span_put_escaped_(span, key, '=', 'e');
	blkin_span_put_bytes_(span, "=", 1);
	return 1;
}

static inline void blkin_span_put_item_(struct blkin_span *span, const struct blkin_tag *item)
{
	blkin_span_put_value_(span, item, 1);
	blkin_span_put_bytes_(span, ",", 1);
}

/**
 * blkin_span_tag_texts - blkin_span_tag, of a list of texts
 * @span: a started span
 * @key: the tag's key
 * @values, @count: the texts; NULL among them is an empty one
 */
static inline void blkin_span_tag_texts(
	struct blkin_span *span, const char *key, const char *const *values, size_t count)
{
	size_t i;

	if (!blkin_span_begin_list_(span, key, 't', values, count))
		return;
	for (i = 0; i < count; i++) {
		const struct blkin_tag item = BLKIN_TAG(NULL, values[i]);

		blkin_span_put_item_(span, &item);
	}
	blkin_span_close_line_(span);
}

/** blkin_span_tag_ints - the same, of whole numbers */
static inline void blkin_span_tag_ints(
	struct blkin_span *span, const char *key, const int64_t *values, size_t count)
{
	size_t i;

	if (!blkin_span_begin_list_(span, key, 'i', values, count))
		return;
	for (i = 0; i < count; i++) {
		const struct blkin_tag item = BLKIN_TAG_INT(NULL, values[i]);

		blkin_span_put_item_(span, &item);
	}
	blkin_span_close_line_(span);
}

/** blkin_span_tag_doubles - the same, of floating-point numbers */
static inline void blkin_span_tag_doubles(
	struct blkin_span *span, const char *key, const double *values, size_t count)
{
	size_t i;

	if (!blkin_span_begin_list_(span, key, 'd', values, count))
		return;
	for (i = 0; i < count; i++) {
		const struct blkin_tag item = BLKIN_TAG_DOUBLE(NULL, values[i]);

		blkin_span_put_item_(span, &item);
	}
	blkin_span_close_line_(span);
}

/** blkin_span_tag_bools - the same, of truth values: 0 is false, any other number true */
static inline void blkin_span_tag_bools(
	struct blkin_span *span, const char *key, const unsigned char *values, size_t count)
{
	size_t i;

	if (!blkin_span_begin_list_(span, key, 'b', values, count))
		return;
	for (i = 0; i < count; i++) {
		const struct blkin_tag item = BLKIN_TAG_BOOL(NULL, values[i]);

		blkin_span_put_item_(span, &item);
	}
	blkin_span_close_line_(span);
}

/**
 * blkin_span_status - say how the span ended
 * @span: a started span
 * @status: the last one counts
 * @message: what went wrong, for BLKIN_STATUS_ERROR; NULL or "": unknown
 *
 * For Zipkin, an error is the tag `error`, as blkin_span_error records it.
 */
static inline void blkin_span_status(struct blkin_span *span, enum blkin_status status, const char *message)
{
	static const char *const words[] = {"#!status=unset", "#!status=ok", "#!status=error"};
	const char *word = words[(unsigned)status < 3 ? (unsigned)status : 0];

	if (!span->recording)
		return;
	blkin_span_put_bytes_(span, word, strlen(word));
	if (message && *message) {
		blkin_span_put_bytes_(span, " ", 1);
		blkin_span_put_escaped_(span, message, 0, 0);
	}
	blkin_span_close_line_(span);
}

/**
 * blkin_span_trace_state - record W3C's tracestate, as it came or as it is sent
 * @span: a started span
 * @state: the header's value
 */
static inline void blkin_span_trace_state(struct blkin_span *span, const char *state)
{
	if (!span->recording || !state)
		return;
	blkin_span_put_bytes_(span, "#!state=", 8);
	blkin_span_put_escaped_(span, state, 0, 0);
	blkin_span_close_line_(span);
}

#ifdef __cplusplus
}
#endif

#endif
