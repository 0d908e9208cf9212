/* SPDX-License-Identifier: BSD-2-Clause */
/* Adding tags to a span in Thrift: addtags.h. It is looked through by hand, as this is done to each span. */
#include "encode/addtags.h"
#include "encode/wanted.h"
#include "wire/tbinary.h"

#define TAGS_FIELD 8
#define TYPE_STRING 6
/* Of a tag, but for its texts. */
#define TAG_ROOM 32
/* Structs and lists in each other: a span needs three. */
#define DEPTH_MAX 8
/* Before a field's value, and before a list's first element. */
#define FIELD_HEAD 3
#define LIST_HEAD (FIELD_HEAD + TBINARY_LIST_HEAD)
enum { I16_FIELD = FIELD_HEAD + 2, I32_FIELD = FIELD_HEAD + 4, I64_FIELD = FIELD_HEAD + 8 };

/* Looking: each of these returns where what it is named after ends, or NULL if it does not. */

/* Of a field with its head, but for what is in a string; 0: it has more in it. */
static const uint8_t field_sizes[256] = {
	[TBINARY_BOOL] = 4,
	[TBINARY_BYTE] = 4,
	[TBINARY_I16] = I16_FIELD,
	[TBINARY_I32] = I32_FIELD,
	[TBINARY_I64] = I64_FIELD,
	[TBINARY_DOUBLE] = I64_FIELD,
	[TBINARY_STRING] = 7,
};

static inline uint32_t get_i32(const uint8_t *from)
{
	uint32_t number;

	memcpy(&number, from, 4);
	return __builtin_bswap32(number);
}

static inline bool has(const uint8_t *at, const uint8_t *end, size_t size)
{
	return (size_t)(end - at) >= size;
}

static const uint8_t *skip_nested(const uint8_t *at, const uint8_t *end, int depth);

static inline const uint8_t *skip_field(const uint8_t *at, const uint8_t *end, int depth)
{
	uint8_t type = *at, size = field_sizes[type];
	uint32_t more;

	if (!size)
		return skip_nested(at, end, depth);
	if (!has(at, end, size))
		return NULL;
	if (type != TBINARY_STRING)
		return at + size;
	more = get_i32(at + FIELD_HEAD);
	return has(at + size, end, more) ? at + size + more : NULL;
}

static inline const uint8_t *skip_struct(const uint8_t *at, const uint8_t *end, int depth)
{
	while (at && at < end && *at != TBINARY_STOP)
		at = skip_field(at, end, depth);
	return at && at < end ? at + 1 : NULL;
}

/*
 * What our encoder writes is known by its types, so it is one step; all else goes field by field. These
 * return NULL if it is not that, or goes beyond the end.
 */

/* Behind a string's field and the next type; the string is behind @head bytes of other fields. */
static inline const uint8_t *behind_string(const uint8_t *at, const uint8_t *end, size_t head)
{
	size_t before = head + FIELD_HEAD + 4;

	if (!has(at, end, before + 1) || at[head] != TBINARY_STRING)
		return NULL;
	before += get_i32(at + before - 4);
	return has(at, end, before + 1) ? at + before : NULL;
}

/* An address, a port, a service's name. */
static inline const uint8_t *skip_usual_host(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *stop = behind_string(at, end, I32_FIELD + I16_FIELD);

	return stop && at[0] == TBINARY_I32 && at[I32_FIELD] == TBINARY_I16 && *stop == TBINARY_STOP
		       ? stop + 1
		       : NULL;
}

/* A time, a text, and a host in some. */
static inline const uint8_t *skip_usual_annotation(const uint8_t *at, const uint8_t *end)
{
	const uint8_t *next = behind_string(at, end, I64_FIELD);

	if (!next || at[0] != TBINARY_I64)
		return NULL;
	if (*next == TBINARY_STRUCT && has(next, end, FIELD_HEAD))
		next = skip_usual_host(next + FIELD_HEAD, end);
	return next && next < end && *next == TBINARY_STOP ? next + 1 : NULL;
}

/* A field that is a struct, or a list of structs. A span has no others. */
static const uint8_t *skip_nested(const uint8_t *at, const uint8_t *end, int depth)
{
	uint32_t count;

	if (depth >= DEPTH_MAX || !has(at, end, FIELD_HEAD + 1))
		return NULL;
	if (*at == TBINARY_STRUCT)
		return skip_struct(at + FIELD_HEAD, end, depth + 1);
	if (!has(at, end, LIST_HEAD) || *at != TBINARY_LIST || at[FIELD_HEAD] != TBINARY_STRUCT)
		return NULL;
	count = get_i32(at + FIELD_HEAD + 1);
	for (at += LIST_HEAD; at && count; count--) {
		const uint8_t *usual = skip_usual_annotation(at, end);

		at = usual ? usual : skip_struct(at, end, depth + 1);
	}
	return at;
}

/* Where things stand in the item. */
struct places {
	const uint8_t *list;   /* the list's elements, behind its head */
	uint32_t count;        /* of them */
	const uint8_t *remote; /* the end of the remote endpoint, if that is first; or the list's begin */
	const uint8_t *lc_end; /* of the entry that has just the place, if there is one */
	const uint8_t *host, *hosted; /* the host in that entry, and its end */
};

struct entry {
	struct text key;
	uint32_t value_size, type;
	const uint8_t *host, *hosted;
};

/* A field's type and id in one number; its value has to be there, too. */
#define FIELD(type, id) ((uint32_t)(type) << 16 | (id))

static inline uint32_t field_of(const uint8_t *at)
{
	return get_i32(at) >> 8;
}

/* A tag as our encoder writes it, without a host. */
static inline const uint8_t *read_usual_tag(const uint8_t *at, const uint8_t *end, struct entry *entry)
{
	const uint8_t *second = behind_string(at, end, 0),
		      *third = second ? behind_string(second, end, 0) : NULL;

	if (!third || !has(third, end, I32_FIELD + 1) || third[I32_FIELD] != TBINARY_STOP ||
		field_of(at) != FIELD(TBINARY_STRING, 1) || field_of(second) != FIELD(TBINARY_STRING, 2) ||
		field_of(third) != FIELD(TBINARY_I32, 3))
		return NULL;
	entry->key = (struct text){(const char *)at + FIELD_HEAD + 4, get_i32(at + FIELD_HEAD)};
	entry->value_size = get_i32(second + FIELD_HEAD);
	entry->type = get_i32(third + FIELD_HEAD);
	return third + I32_FIELD + 1;
}

static const uint8_t *read_entry(const uint8_t *at, const uint8_t *end, struct entry *entry)
{
	const uint8_t *usual = read_usual_tag(at, end, entry);

	if (usual)
		return usual;
	while (at && at < end && *at != TBINARY_STOP) {
		const uint8_t *field = at, *value = at + FIELD_HEAD;

		at = skip_field(field, end, 0);
		if (!at)
			return NULL;
		switch (field_of(field)) {
		case FIELD(TBINARY_STRING, 1):
			entry->key = (struct text){(const char *)value + 4, get_i32(value)};
			break;
		case FIELD(TBINARY_STRING, 2):
			entry->value_size = get_i32(value);
			break;
		case FIELD(TBINARY_I32, 3):
			entry->type = get_i32(value);
			break;
		case FIELD(TBINARY_STRUCT, 4):
			entry->host = value;
			entry->hosted = at;
		}
	}
	return at && at < end ? at + 1 : NULL;
}

static bool is_place(const struct entry *entry)
{
	return entry->hosted && !entry->value_size && entry->key.size == 2 &&
	       !memcmp(entry->key.data, "lc", 2);
}

static const uint8_t *read_entries(
	const uint8_t *at, const uint8_t *end, struct places *places, struct wanted *wanted)
{
	places->remote = places->list = at;
	for (uint32_t i = 0; i < places->count; i++) {
		const uint8_t *begin = at;
		struct entry entry = {0};

		at = read_entry(at, end, &entry);
		if (!at)
			return NULL;
		if (entry.type != TYPE_STRING) {
			places->remote = at;
		} else if (is_place(&entry) && begin == places->remote && i + 1 == places->count) {
			places->lc_end = at;
			places->host = entry.host;
			places->hosted = entry.hosted;
		} else {
			leave_out(wanted, entry.key);
		}
	}
	return at;
}

/* Finds the list of tags; false if the item is no span. */
static bool find(const uint8_t *at, const uint8_t *end, struct places *places, struct wanted *wanted)
{
	while (at && at < end && *at != TBINARY_STOP) {
		bool tags = has(at, end, LIST_HEAD) && field_of(at) == FIELD(TBINARY_LIST, TAGS_FIELD) &&
			    at[FIELD_HEAD] == TBINARY_STRUCT && !places->list;

		if (tags) {
			places->count = get_i32(at + FIELD_HEAD + 1);
			at = read_entries(at + LIST_HEAD, end, places, wanted);
		} else {
			at = skip_field(at, end, 0);
		}
	}
	return at && at + 1 == end && places->list;
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
static uint8_t *put_item(
	uint8_t *to, struct text item, const struct places *places, const struct wanted *wanted)
{
	uint32_t added = 0, left;
	const uint8_t *begin = (const uint8_t *)item.data, *end = begin + item.size,
		      *rest = places->lc_end ? places->lc_end : places->remote;

	for (uint64_t bits = wanted->bits; bits; bits &= bits - 1)
		added++;
	left = added;
	to = tbinary_put_bytes(to, begin, (size_t)(places->list - begin) - 4);
	to = tbinary_put_i32(to, places->count + added - (places->lc_end != NULL));
	to = tbinary_put_bytes(to, places->list, (size_t)(places->remote - places->list));
	for (size_t i = 0; i < wanted->count; i++)
		if (is_wanted(wanted, i))
			to = put_tag(to, &wanted->tags[i], places->host,
				--left ? 0 : (size_t)(places->hosted - places->host));
	return tbinary_put_bytes(to, rest, (size_t)(end - rest));
}

bool addtags_thrift(struct buffer *out, struct text item, const struct tag *tags, size_t count)
{
	const uint8_t *begin = (const uint8_t *)item.data;
	struct wanted wanted = want(tags, count);
	struct places places = {0};
	uint8_t *start;

	if (!find(begin, begin + item.size, &places, &wanted))
		return false;
	if (!wanted.bits) {
		buffer_put(out, item.data, item.size);
		return true;
	}
	start = buffer_reserve(out, item.size + room(&wanted));
	out->size += (size_t)(put_item(start, item, &places, &wanted) - start);
	return true;
}
