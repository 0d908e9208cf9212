/* SPDX-License-Identifier: BSD-2-Clause */
/* Changing tags of a span in Thrift: tagedit.h. */
#include "encode/tagedit.h"

#include <string.h>

#include "encode/zipkin.h"
#include "wire/tbinary.h"

#define ANNOTATIONS_FIELD 6
#define TAGS_FIELD 8
#define TYPE_BOOL 0
#define TYPE_STRING 6
/* Of a tag, but for its texts and its host. */
#define TAG_ROOM 32

/* A run of the item's bytes. */
struct run {
	size_t begin, end;
};

/* An element of the list of tags. */
struct entry {
	struct run all, host; /* empty: it has none */
	bool is_text;         /* and not of another type */
	bool fixed;           /* it is an address, and no tag */
	size_t tag;           /* otherwise, which of the memory's */
};

struct item {
	struct tbinary_reader from;
	struct tagedit_memory *memory;
	struct run list; /* the elements of the list of tags */
	uint32_t count;  /* of them */
	bool has_host;   /* an annotation tells where the span was */
	bool has_more;   /* there is another such list, which nobody writes */
};

static struct run skip(struct tbinary_reader *from, uint8_t type)
{
	struct run run = {.begin = from->at};

	tbinary_skip(from, type);
	run.end = from->at;
	return run;
}

static struct text get_text(struct tbinary_reader *from)
{
	struct text text = {"", 0};
	const uint8_t *data = tbinary_get_string(from, &text.size);

	if (data)
		text.data = (const char *)data;
	return text;
}

/* What tells an address: a remote one, or, empty, the span's own. */
static bool is_address(const struct tag *tag, uint32_t type, bool has_host)
{
	if (!has_host)
		return false;
	if (type == TYPE_BOOL)
		return text_is(tag->key, "sa") || text_is(tag->key, "ca") || text_is(tag->key, "ma");
	return type == TYPE_STRING && text_is(tag->key, "lc") && !tag->value.size;
}

static void get_entry(struct item *is)
{
	struct entry entry = {.all.begin = is->from.at};
	struct tag tag = {{"", 0}, {"", 0}, TAG_TEXT};
	uint32_t kind = 0;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING)
			tag.key = get_text(&is->from);
		else if (id == 2 && type == TBINARY_STRING)
			tag.value = get_text(&is->from);
		else if (id == 3 && type == TBINARY_I32)
			kind = tbinary_get_i32(&is->from);
		else if (id == 4 && type == TBINARY_STRUCT)
			entry.host = skip(&is->from, type);
		else
			tbinary_skip(&is->from, type);
	}
	entry.all.end = is->from.at;
	entry.is_text = kind == TYPE_STRING;
	entry.fixed = is_address(&tag, kind, entry.host.end > 0);
	/* whatever else it is, it is none that has the value already */
	tag.type = entry.is_text ? TAG_TEXT : TAG_INT;
	entry.tag = is->memory->tags.size / sizeof(tag);
	if (!entry.fixed)
		buffer_put(&is->memory->tags, &tag, sizeof(tag));
	buffer_put(&is->memory->parts, &entry, sizeof(entry));
}

static void get_annotation(struct item *is)
{
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&is->from, &type, &id)) {
		is->has_host |= id == 3 && type == TBINARY_STRUCT;
		tbinary_skip(&is->from, type);
	}
}

static void get_list(struct item *is, uint32_t count, void (*get)(struct item *is))
{
	while (count-- && !tbinary_failed(&is->from))
		get(is);
}

static void get_field(struct item *is, uint8_t type, int16_t id)
{
	bool tags = id == TAGS_FIELD, annotations = id == ANNOTATIONS_FIELD;
	uint32_t count;

	if (type != TBINARY_LIST || (!tags && !annotations) || tbinary_left(&is->from) < TBINARY_LIST_HEAD ||
		is->from.data[is->from.at] != TBINARY_STRUCT) {
		tbinary_skip(&is->from, type);
		return;
	}
	tbinary_get_u8(&is->from);
	count = tbinary_get_i32(&is->from);
	if (annotations) {
		get_list(is, count, get_annotation);
		return;
	}
	is->has_more = is->list.begin > 0;
	is->count = count;
	is->list.begin = is->from.at;
	get_list(is, count, get_entry);
	is->list.end = is->from.at;
}

static bool read_item(struct item *is)
{
	uint8_t type;
	int16_t id;

	is->memory->tags.size = is->memory->parts.size = 0;
	while (tbinary_get_field(&is->from, &type, &id))
		get_field(is, type, id);
	return !tbinary_failed(&is->from) && !tbinary_left(&is->from);
}

static uint8_t *put_run(uint8_t *to, const struct item *is, struct run run)
{
	return tbinary_put_bytes(to, is->from.data + run.begin, run.end - run.begin);
}

static uint8_t *put_tag(
	uint8_t *to, const struct item *is, struct text key, struct text value, struct run host)
{
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), key.data, key.size);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), value.data, value.size);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), TYPE_STRING);
	if (host.end)
		to = put_run(tbinary_put_field(to, TBINARY_STRUCT, 4), is, host);
	return tbinary_put_stop(to);
}

/* A tag of another type that only gets another key. */
static uint8_t *put_renamed(uint8_t *to, const struct item *is, const struct entry *entry, struct text key)
{
	struct tbinary_reader from = tbinary_read(is->from.data, entry->all.end);
	size_t begin = from.at = entry->all.begin;
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&from, &type, &id)) {
		struct run value = skip(&from, type);

		if (id == 1 && type == TBINARY_STRING)
			to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), key.data, key.size);
		else
			to = put_run(to, is, (struct run){begin, value.end});
		begin = value.end;
	}
	return tbinary_put_stop(to);
}

static uint8_t *put_changed(
	uint8_t *to, const struct item *is, const struct entry *entry, const struct tagedit *edit)
{
	const struct tag *tag = (const struct tag *)(const void *)is->memory->tags.data + entry->tag;

	if (!entry->is_text && !edit->redacted)
		return put_renamed(to, is, entry, edit->key);
	return put_tag(to, is, edit->key, tagedit_value(edit, tag->value), entry->host);
}

/*
 * Where the span was may be told by tags alone: if the last of those has gone, an entry that has just the
 * place comes in its stead, as the encoder writes it. Returns the end; @count: what is there now.
 */
static uint8_t *put_entries(uint8_t *to, const struct item *is, uint32_t *count)
{
	const struct entry *entries = (const struct entry *)(const void *)is->memory->parts.data;
	struct run lost = {0};
	bool has_host = is->has_host;

	*count = 0;
	for (uint32_t i = 0; i < is->count; i++) {
		const struct entry *entry = &entries[i];
		const struct tagedit *edit = entry->fixed ? NULL : &tagedit_list(is->memory)[entry->tag];

		if (edit && edit->what == TAGEDIT_GOES) {
			lost = entry->is_text && entry->host.end ? entry->host : lost;
			continue;
		}
		if (edit && edit->what == TAGEDIT_CHANGES)
			to = put_changed(to, is, entry, edit);
		else
			to = put_run(to, is, entry->all);
		has_host |= entry->is_text && entry->host.end;
		++*count;
	}
	if (has_host || !lost.end)
		return to;
	++*count;
	return put_tag(to, is, (struct text){"lc", 2}, (struct text){"", 0}, lost);
}

/* An upper limit of what is added. */
static size_t room(const struct item *is)
{
	const struct tagedit *edits = tagedit_list(is->memory);
	size_t bytes = 2 * TAG_ROOM;

	for (size_t i = 0; i < is->memory->tags.size / sizeof(struct tag); i++)
		bytes += edits[i].key.size + sizeof(TAGRULES_REDACTED) + TAG_ROOM;
	return bytes;
}

/* As a reader who goes through all of its lists has it; what is no text is not read. */
static enum tagedit_result edit_anew(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	struct span span;
	enum tagedit_result result;

	if (!spanread_thrift(&span, (const uint8_t *)item.data, item.size, &memory->read))
		return TAGEDIT_NO_SPAN;
	result = tagedit_span(out, &span, zipkin_encode, rules, memory, counts);
	if (result != TAGEDIT_SAME)
		return result;
	return zipkin_encode(out, &span) >= 0 ? TAGEDIT_CHANGED : TAGEDIT_NO_SPAN;
}

enum tagedit_result tagedit_thrift(struct buffer *out, struct text text, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts)
{
	struct item is = {.from = tbinary_read(text.data, text.size), .memory = memory};
	uint8_t *start, *list, *to;
	uint32_t count;

	if (!read_item(&is))
		return TAGEDIT_NO_SPAN;
	if (is.has_more)
		return edit_anew(out, text, rules, memory, counts);
	if (!tagedit_judge(rules, memory, counts))
		return TAGEDIT_SAME;
	start = buffer_reserve(out, text.size + room(&is));
	list = put_run(start, &is, (struct run){0, is.list.begin});
	to = put_entries(list, &is, &count);
	tbinary_put_i32(list - 4, count);
	to = put_run(to, &is, (struct run){is.list.end, text.size});
	out->size += (size_t)(to - start);
	return TAGEDIT_CHANGED;
}
