/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/addtags.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/pack.h"
#include "encode/jsonread.h"
#include "encode/otlp.h"
#include "wire/otlpattribute.h"
#include "wire/tbinary.h"

#define TAGS_FIELD 8
#define TYPE_STRING 6
/* Of a tag in Thrift, but for its texts. */
#define TAG_ROOM 32

/* The tags of which the span has none of its own: a bit for each. */
struct wanted {
	const struct tag *tags;
	size_t count;
	uint64_t bits;
};

static struct wanted want(const struct tag *tags, size_t count)
{
	return (struct wanted){tags, count, count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX};
}

static bool is_wanted(const struct wanted *wanted, size_t tag)
{
	return wanted->bits >> tag & 1;
}

static void leave_out(struct wanted *wanted, struct text key)
{
	for (size_t i = 0; i < wanted->count; i++)
		if (wanted->tags[i].key.size == key.size &&
			!memcmp(wanted->tags[i].key.data, key.data, key.size))
			wanted->bits &= ~(UINT64_C(1) << i);
}

/* Thrift */

/* Where things stand in the item. */
struct places {
	size_t list;         /* the list's elements, behind its head */
	uint32_t count;      /* of them */
	size_t remote;       /* the end of the remote endpoint, if that is first; else the list's begin */
	size_t lc, lc_end;   /* the entry that has just the place, if there is one */
	size_t host, hosted; /* the host in that entry, and its end */
};

struct entry {
	struct text key;
	uint32_t value_size, type;
	size_t host, hosted;
};

static struct entry read_entry(struct tbinary_reader *from)
{
	struct entry entry = {0};
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(from, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING) {
			entry.key.data = (const char *)tbinary_get_string(from, &entry.key.size);
		} else if (id == 2 && type == TBINARY_STRING) {
			tbinary_get_string(from, &entry.value_size);
		} else if (id == 3 && type == TBINARY_I32) {
			entry.type = tbinary_get_i32(from);
		} else if (id == 4 && type == TBINARY_STRUCT) {
			entry.host = from->at;
			tbinary_skip(from, type);
			entry.hosted = from->at;
		} else {
			tbinary_skip(from, type);
		}
	}
	return entry;
}

static void read_entries(struct tbinary_reader *from, struct places *places, struct wanted *wanted)
{
	places->remote = places->list = from->at;
	for (uint32_t i = 0; i < places->count && !tbinary_failed(from); i++) {
		size_t begin = from->at;
		struct entry entry = read_entry(from);

		if (tbinary_failed(from))
			return;
		if (entry.type != TYPE_STRING) {
			places->remote = from->at;
		} else if (entry.hosted && !entry.value_size && entry.key.size == 2 &&
			   !memcmp(entry.key.data, "lc", 2) && begin == places->remote &&
			   i + 1 == places->count) {
			places->lc = begin;
			places->lc_end = from->at;
			places->host = entry.host;
			places->hosted = entry.hosted;
		} else {
			leave_out(wanted, entry.key);
		}
	}
}

/* Finds the list of tags; false if the item is no span. */
static bool find(struct tbinary_reader *from, struct places *places, struct wanted *wanted)
{
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(from, &type, &id)) {
		if (id != TAGS_FIELD || type != TBINARY_LIST || places->list) {
			tbinary_skip(from, type);
			continue;
		}
		if (tbinary_get_u8(from) != TBINARY_STRUCT)
			return false;
		places->count = tbinary_get_i32(from);
		read_entries(from, places, wanted);
	}
	return !tbinary_failed(from) && !tbinary_left(from) && places->list;
}

static uint8_t *put_tag(uint8_t *to, const struct tag *tag, const uint8_t *host, size_t host_size)
{
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), tag->key.data, tag->key.size);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), tag->value.data, tag->value.size);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), TYPE_STRING);
	if (host_size)
		to = tbinary_put_bytes(tbinary_put_field(to, TBINARY_STRUCT, 4), host, host_size);
	return tbinary_put_stop(to);
}

static size_t room(const struct wanted *wanted)
{
	size_t bytes = 0;

	for (size_t i = 0; i < wanted->count; i++)
		bytes += wanted->tags[i].key.size + wanted->tags[i].value.size + TAG_ROOM;
	return bytes;
}

/* Writes the item. An entry that has just the place goes: the last tag has the place then. */
static uint8_t *put_item(uint8_t *to, const uint8_t *item, size_t size, const struct places *places,
	const struct wanted *wanted)
{
	uint32_t added = (uint32_t)__builtin_popcountll(wanted->bits), left = added;
	size_t before = places->remote - places->list, rest = places->remote;

	to = tbinary_put_bytes(to, item, places->list - 4);
	to = tbinary_put_i32(to, places->count + added - (places->lc_end > 0));
	to = tbinary_put_bytes(to, item + places->list, before);
	for (size_t i = 0; i < wanted->count; i++)
		if (is_wanted(wanted, i))
			to = put_tag(to, &wanted->tags[i], item + places->host,
				--left ? 0 : places->hosted - places->host);
	if (places->lc_end)
		rest = places->lc_end;
	return tbinary_put_bytes(to, item + rest, size - rest);
}

bool addtags_thrift(
	struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count)
{
	struct tbinary_reader from = tbinary_read(item, size);
	struct wanted wanted = want(tags, count);
	struct places places = {0};
	uint8_t *start;

	if (!find(&from, &places, &wanted))
		return false;
	if (!wanted.bits) {
		buffer_put(out, item, size);
		return true;
	}
	start = buffer_reserve(out, size + room(&wanted));
	out->size += (size_t)(put_item(start, item, size, &places, &wanted) - start);
	return true;
}

/* JSON */

static bool is_key(struct text key, const char *word)
{
	return key.size == strlen(word) && !memcmp(key.data, word, key.size);
}

static void read_own(struct jsonread *from, struct wanted *wanted)
{
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key)) {
		leave_out(wanted, key);
		jsonread_skip(from);
	}
}

/* Where the tags go: behind the bracket of the span's own, or ahead of what follows them. */
static bool find_json(struct jsonread *from, const char **place, bool *own, struct wanted *wanted)
{
	struct text key;

	*place = NULL;
	*own = false;
	if (!jsonread_open(from, '{'))
		return false;
	while (jsonread_key(from, &key)) {
		if (is_key(key, "tags") && !*own) {
			if (from->at == from->end || *from->at != '{')
				return false;
			*place = from->at + 1;
			*own = true;
			read_own(from, wanted);
			continue;
		}
		if (!*place && (is_key(key, "shared") || is_key(key, "debug")))
			*place = from->at - key.size - sizeof("\"\":") + 1;
		jsonread_skip(from);
	}
	if (!*place)
		*place = from->at - 1;
	return jsonread_is_over(from);
}

static void put_string(struct buffer *out, struct text text)
{
	buffer_put(out, "\"", 1);
	buffer_put(out, text.data, text.size);
	buffer_put(out, "\"", 1);
}

static void put_members(struct buffer *out, const struct wanted *wanted)
{
	for (size_t i = 0; i < wanted->count; i++) {
		if (!is_wanted(wanted, i))
			continue;
		put_string(out, wanted->tags[i].key);
		buffer_put(out, ":", 1);
		put_string(out, wanted->tags[i].value);
		buffer_put(out, ",", 1);
	}
	out->size--;
}

static void put_json(
	struct buffer *out, const struct text item, const char *place, bool own, const struct wanted *wanted)
{
	size_t before = (size_t)(place - item.data);
	bool last = *place == '}';

	buffer_put(out, item.data, before);
	if (!own)
		buffer_printf(out, "%s\"tags\":{", last ? "," : "");
	put_members(out, wanted);
	if (!own)
		buffer_put(out, "}", 1);
	if (!last)
		buffer_put(out, ",", 1);
	buffer_put(out, place, item.size - before);
}

bool addtags_json(struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count)
{
	struct text all = {(const char *)item, (uint32_t)size};
	struct wanted wanted = want(tags, count);
	struct jsonread from = {.at = all.data, .end = all.data + size};
	char *room = memory_get(size + 1);
	const char *place;
	bool own, good;

	from.room = room;
	good = find_json(&from, &place, &own, &wanted);
	free(room);
	if (!good)
		return false;
	if (wanted.bits)
		put_json(out, all, place, own, &wanted);
	else
		buffer_put(out, item, size);
	return true;
}

/* OTLP */

/* What the wire puts into each resource. */
static void leave_out_reserved(struct wanted *wanted)
{
	static const char *const keys[] = {
		OTLP_HOST, OTLP_SDK_NAME, OTLP_SDK_LANGUAGE, OTLP_SDK_VERSION, OTLP_INSTANCE, OTLP_PID};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		leave_out(wanted, (struct text){keys[i], (uint32_t)strlen(keys[i])});
}

static void leave_out_known(struct wanted *wanted, const struct protobuf_field *attribute)
{
	struct protobuf_reader from = protobuf_read(attribute->bytes, attribute->size);
	struct protobuf_field field;

	while (protobuf_next(&from, &field))
		if (field.number == KEYVALUE_KEY && field.type == PROTOBUF_BYTES)
			leave_out(wanted, (struct text){(const char *)field.bytes, (uint32_t)field.size});
}

bool addtags_otlp(struct buffer *out, const uint8_t *item, size_t size, const struct tag *tags, size_t count)
{
	struct unpacker from = unpacker_of(item, size);
	uint32_t head = unpack_u32(&from), pid = unpack_u32(&from);
	struct wanted wanted = want(tags, count);
	size_t start = out->size, room = size;
	struct protobuf_reader process;
	struct protobuf_field field;
	uint8_t *to, *end;

	if (from.failed || head < OTLP_ITEM_HEAD || head > size)
		return false;
	leave_out_reserved(&wanted);
	process = protobuf_read(item + OTLP_ITEM_HEAD, head - OTLP_ITEM_HEAD);
	while (protobuf_next(&process, &field))
		leave_out_known(&wanted, &field);
	if (process.failed)
		return false;
	for (size_t i = 0; i < count; i++)
		room += tags[i].key.size + tags[i].value.size + TAG_ROOM;
	buffer_reserve(out, room);
	out->size += OTLP_ITEM_HEAD;
	buffer_put(out, item + OTLP_ITEM_HEAD, head - OTLP_ITEM_HEAD);
	to = end = out->data + out->size;
	for (size_t i = 0; i < count; i++)
		if (is_wanted(&wanted, i))
			end = otlpattribute_put(end, tags[i].key, tags[i].value);
	out->size += (size_t)(end - to);
	otlp_put_item_head(out->data + start, (uint32_t)(out->size - start), pid);
	buffer_put(out, item + head, size - head);
	return true;
}
