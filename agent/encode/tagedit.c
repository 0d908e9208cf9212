/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a span's tags, and doing it to a span in JSON: tagedit.h. */
#include "encode/tagedit.h"

#include <string.h>

#include "encode/zipkin.h"
#include "encode/zipkinjson.h"

static const struct text redacted = {TAGRULES_REDACTED, sizeof(TAGRULES_REDACTED) - 1};

void tagedit_free(struct tagedit_memory *memory)
{
	span_memory_free(&memory->read);
	buffer_free(&memory->tags);
	buffer_free(&memory->edits);
	buffer_free(&memory->parts);
}

struct text tagedit_value(const struct tagedit *edit, struct text value)
{
	return edit->redacted ? redacted : value;
}

/* A span's tags. */
struct judged {
	const struct tagrules *rules;
	const struct tag *tags;
	size_t count;
	const struct tag *error; /* the one that counts; NULL: there is none */
};

static bool has_key(const struct judged *is, struct text key)
{
	for (size_t i = 0; i < is->count; i++)
		if (text_is_equal(is->tags[i].key, key))
			return true;
	return false;
}

/* What the encoder made of `error`, or might have: it says the same under another name. */
static bool tells_error(const struct judged *is, const struct tag *tag)
{
	return is->error && tag != is->error && text_is(tag->key, ZIPKIN_STATUS_DESCRIPTION) &&
	       text_is_equal(tag->value, is->error->value);
}

static struct tagfate find_fate(const struct judged *is, const struct tag *tag)
{
	struct tagfate fate = tagrules_find(is->rules, tag->key, tag->value), error;

	if (tells_error(is, tag)) {
		error = tagrules_find(is->rules, is->error->key, is->error->value);
		fate.dropped |= error.dropped;
		fate.redacted |= error.redacted;
	}
	return fate;
}

/* Of two tags that would have the same key, the one that always had it stays. */
static struct tagedit judge(const struct judged *is, const struct tag *tag, struct tagedit_counts *counts)
{
	struct tagfate fate = find_fate(is, tag);
	bool renamed = fate.key.data != tag->key.data;
	struct tagedit edit = {TAGEDIT_STAYS, fate.key, fate.redacted};

	if (fate.dropped || (renamed && has_key(is, fate.key))) {
		counts->dropped++;
		edit.what = TAGEDIT_GOES;
		return edit;
	}
	if (tag->type == TAG_TEXT && text_is_equal(tag->value, redacted))
		edit.redacted = false;
	if (edit.redacted || renamed)
		edit.what = TAGEDIT_CHANGES;
	counts->renamed += renamed;
	counts->redacted += edit.redacted;
	return edit;
}

bool tagedit_judge(const struct tagrules *rules, struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	const struct tag *tags = (const struct tag *)(const void *)memory->tags.data;
	struct judged is = {rules, tags, memory->tags.size / sizeof(*tags), NULL};
	bool any = false;

	for (size_t i = 0; i < is.count; i++)
		if (text_is(tags[i].key, "error"))
			is.error = &tags[i];
	memory->edits.size = 0;
	for (size_t i = 0; i < is.count; i++) {
		struct tagedit edit = judge(&is, &tags[i], counts);

		any |= edit.what != TAGEDIT_STAYS;
		buffer_put(&memory->edits, &edit, sizeof(edit));
	}
	return any;
}

/* Makes the span's tags those that they become. */
static void change(struct span *span, struct tagedit_memory *memory)
{
	struct tag *tags = (struct tag *)(void *)memory->tags.data;
	const struct tagedit *edits = tagedit_list(memory);
	size_t count = 0;

	for (size_t i = 0; i < span->tag_count; i++) {
		if (edits[i].what == TAGEDIT_GOES)
			continue;
		tags[count] = tags[i];
		if (edits[i].what == TAGEDIT_CHANGES) {
			tags[count].key = edits[i].key;
			tags[count].value = tagedit_value(&edits[i], tags[i].value);
		}
		count++;
	}
	span->tags = tags;
	span->tag_count = count;
}

enum tagedit_result tagedit_span(struct buffer *out, struct span *span, tagedit_encoder *encode,
	const struct tagrules *rules, struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	memory->tags.size = 0;
	buffer_put(&memory->tags, span->tags, span->tag_count * sizeof(*span->tags));
	if (!tagedit_judge(rules, memory, counts))
		return TAGEDIT_SAME;
	change(span, memory);
	return encode(out, span) >= 0 ? TAGEDIT_CHANGED : TAGEDIT_NO_SPAN;
}

/* Items in JSON are all of our encoder's, so that it writes again what it does not change. */
enum tagedit_result tagedit_json(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	struct span span;

	if (!spanread_json(&span, (const uint8_t *)item.data, item.size, &memory->read))
		return TAGEDIT_NO_SPAN;
	return tagedit_span(out, &span, zipkinjson_encode, rules, memory, counts);
}
