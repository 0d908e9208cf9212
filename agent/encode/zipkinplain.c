/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkinplain.h"

#include <glib.h>

#include "encode/jsonvalue.h"
#include "encode/valuejson.h"
#include "encode/wanted.h"

/* So many tags need no memory. */
#define FEW 32
/* The most that are made of what no tag is. */
#define MADE 7

/* A text that is not where it will be yet. */
struct placed {
	struct text *text;
	size_t at; /* in `texts` */
};

struct making {
	const struct span *from;
	struct span *plain;
	struct tag *tags;
	struct buffer texts, placed;
};

static struct tag *next_tag(struct making *is)
{
	return &is->tags[is->plain->tag_count++];
}

/* The text is what was appended to `texts` from @at on. */
static void place(struct making *is, struct text *text, size_t at)
{
	const struct placed placed = {text, at};

	text->size = (uint32_t)(is->texts.size - at);
	buffer_put(&is->placed, &placed, sizeof(placed));
}

/* When all are made. */
static void place_all(struct making *is)
{
	const struct placed *placed = (const struct placed *)(const void *)is->placed.data;

	for (size_t i = 0; i < is->placed.size / sizeof(*placed); i++)
		placed[i].text->data = (const char *)is->texts.data + placed[i].at;
}

/* What OpenTelemetry says besides tags */

/* For Zipkin, a span that has the tag `error` has failed, whatever it says. A status of ours that is good
 * outranks it. */
static bool is_no_error(const struct tag *tag, const struct span_more *more)
{
	if (!text_is(tag->key, "error"))
		return false;
	if (more->ours)
		return more->status == SPAN_STATUS_OK;
	return tag->type < TAG_BYTES && text_is(tag->value, "false");
}

static void make_tag(struct making *is, const char *key, struct text value)
{
	for (size_t i = 0; i < is->plain->tag_count; i++)
		if (text_is(is->tags[i].key, key))
			return;
	*next_tag(is) = (struct tag){{key, (uint32_t)strlen(key)}, value, TAG_TEXT};
}

static void make_count(struct making *is, const char *key, uint32_t count)
{
	size_t before = is->plain->tag_count, at = is->texts.size;
	char *to = (char *)buffer_reserve(&is->texts, JSONVALUE_MAX);

	if (!count)
		return;
	make_tag(is, key, (struct text){"", 0});
	if (is->plain->tag_count == before)
		return;
	is->texts.size += (size_t)(jsonvalue_unsigned(to, count) - to);
	place(is, &is->tags[before].value, at);
}

static void make_status(struct making *is, const struct span_more *more)
{
	if (more->status == SPAN_STATUS_ERROR) {
		make_tag(is, "error",
			more->status_message.size ? more->status_message : (struct text){"true", 4});
		make_tag(is, "otel.status_code", (struct text){"ERROR", 5});
	} else if (more->status == SPAN_STATUS_OK) {
		make_tag(is, "otel.status_code", (struct text){"OK", 2});
	}
}

static void make_tags(struct making *is, const struct span_more *more)
{
	for (size_t i = 0; i < is->from->tag_count; i++) {
		const struct tag *from = &is->from->tags[i];
		size_t at = is->texts.size;
		struct tag *tag;

		if (is_no_error(from, more))
			continue;
		tag = next_tag(is);
		*tag = *from;
		if (tag->type < TAG_BYTES)
			continue;
		valuejson_text(&is->texts, from);
		place(is, &tag->value, at);
		tag->type = TAG_TEXT;
	}
	make_status(is, more);
	if (more->scope_name.size)
		make_tag(is, "otel.scope.name", more->scope_name);
	if (more->scope_version.size)
		make_tag(is, "otel.scope.version", more->scope_version);
	make_count(is, "otel.dropped_attributes_count", more->dropped_tags);
	make_count(is, "otel.dropped_events_count", more->dropped_annotations);
	make_count(is, "otel.dropped_links_count", more->dropped_links);
}

/* An event's attributes go behind its name. */
static void make_annotations(
	struct making *is, const struct attributes *of_annotations, struct annotation *annotations)
{
	for (size_t i = 0; i < is->from->annotation_count; i++) {
		size_t at = is->texts.size;

		annotations[i] = is->from->annotations[i];
		if (!of_annotations[i].count)
			continue;
		buffer_put(&is->texts, annotations[i].value.data, annotations[i].value.size);
		buffer_put(&is->texts, ": ", 2);
		valuejson_object(&is->texts, &of_annotations[i]);
		place(is, &annotations[i].value, at);
	}
	is->plain->annotations = annotations;
}

static int take_more(void *to, const struct span *span, zipkinplain_taker *take)
{
	const struct span_more *more = span->more;
	size_t tags = (span->tag_count + MADE) * sizeof(struct tag);
	struct buffer memory = {0};
	struct span plain = *span;
	struct making is = {.from = span, .plain = &plain};
	int taken;

	is.tags = (struct tag *)(void *)buffer_reserve(
		&memory, tags + span->annotation_count * sizeof(struct annotation));
	plain.more = NULL;
	plain.tags = is.tags;
	plain.tag_count = 0;
	plain.duration = MAX(plain.duration, 0);
	make_tags(&is, more);
	if (more->of_annotations)
		make_annotations(
			&is, more->of_annotations, (struct annotation *)(void *)(memory.data + tags));
	place_all(&is);
	taken = zipkinplain_take(to, &plain, take);
	buffer_free(&is.texts);
	buffer_free(&is.placed);
	buffer_free(&memory);
	return taken;
}

/* What an output adds */

static void put_added(struct span *plain, struct tag *tags, const struct span *span)
{
	struct wanted wanted = want(span->added, span->added_count);

	for (size_t i = 0; i < span->tag_count; i++)
		leave_out(&wanted, span->tags[i].key);
	for (size_t i = 0; i < wanted.count; i++)
		if (is_wanted(&wanted, i))
			tags[plain->tag_count++] = wanted.tags[i];
}

static int take_added(void *to, const struct span *span, zipkinplain_taker *take)
{
	size_t most = span->added_count + span->tag_count;
	struct buffer memory = {0};
	struct span plain = *span;
	struct tag few[FEW], *tags = few;
	int taken;

	if (most > FEW)
		tags = (struct tag *)(void *)buffer_reserve(&memory, most * sizeof(*tags));
	plain.tags = tags;
	plain.tag_count = plain.added_count = 0;
	put_added(&plain, tags, span);
	if (span->tag_count)
		memcpy(tags + plain.tag_count, span->tags, span->tag_count * sizeof(*tags));
	plain.tag_count += span->tag_count;
	taken = take(to, &plain);
	buffer_free(&memory);
	return taken;
}

int zipkinplain_take(void *to, const struct span *span, zipkinplain_taker *take)
{
	if (span->more)
		return take_more(to, span, take);
	return span->added_count ? take_added(to, span, take) : take(to, span);
}
