/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/pair/pairfields.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/shortest.h"
#include "core/value.h"

/* Where a value goes: into a map, with a key, or into a list. */
struct place {
	struct buffer *out;
	bool in_map;
	struct text key;
};

static void put(const struct place *place, enum tag_type type, struct text value)
{
	const struct tag tag = {place->key, value, type};

	value_put(place->out, place->in_map, &tag);
}

static void put_signed(const struct place *place, int64_t number)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%" PRId64, number);

	put(place, TAG_INT, (struct text){digits, (uint32_t)size});
}

/* What no signed number can be is text. */
static void put_unsigned(const struct place *place, uint64_t number)
{
	char digits[24];
	int size = snprintf(digits, sizeof(digits), "%" PRIu64, number);

	put(place, number > INT64_MAX ? TAG_TEXT : TAG_INT, (struct text){digits, (uint32_t)size});
}

static void put_real(const struct place *place, double number)
{
	const char *word = shortest_word(number);
	char digits[SHORTEST_ROOM];
	size_t size = word ? strlen(word) : shortest_print(digits, number);

	put(place, TAG_DOUBLE, (struct text){word ? word : digits, (uint32_t)size});
}

/* What people read of an enumeration is its label; one that has none is its number. */
static void put_enum(const struct place *place, enum field_kind kind, struct event_cursor *from)
{
	uint64_t number =
		kind == FIELD_SIGNED_ENUM ? (uint64_t)event_take_signed(from) : event_take_unsigned(from);
	uint64_t count = event_take_count(from);
	struct text label = {"", 0};

	for (uint64_t i = 0; i < count && !from->failed; i++) {
		struct text next = event_take_text(from);

		label = i ? label : next;
	}
	if (count)
		put(place, TAG_TEXT, label);
	else if (kind == FIELD_SIGNED_ENUM)
		put_signed(place, (int64_t)number);
	else
		put_unsigned(place, number);
}

static void put_value(const struct place *place, struct event_cursor *from);

static void put_members(struct buffer *out, uint64_t count, struct event_cursor *from)
{
	for (uint64_t i = 0; i < count && !from->failed; i++) {
		struct text name = event_take_text(from);
		const struct place member = {out, true, name};

		put_value(&member, from);
	}
}

/* A structure, a variant (which is a map of the one that was chosen), or an array. */
static void put_whole(const struct place *place, enum field_kind kind, struct event_cursor *from)
{
	const struct place element = {place->out, false, {"", 0}};
	size_t begin =
		value_open(place->out, place->in_map, place->key, kind == FIELD_ARRAY ? TAG_LIST : TAG_MAP);

	if (event_enter(from)) {
		uint64_t count = kind == FIELD_VARIANT ? 1 : event_take_count(from);

		if (kind != FIELD_ARRAY)
			put_members(place->out, count, from);
		for (uint64_t i = 0; kind == FIELD_ARRAY && i < count && !from->failed; i++)
			put_value(&element, from);
		event_leave(from);
	}
	value_close(place->out, begin);
}

static void put_value(const struct place *place, struct event_cursor *from)
{
	enum field_kind kind = event_take_kind(from);

	switch (kind) {
	case FIELD_BOOL:
		if (event_take_bool(from))
			put(place, TAG_BOOL, (struct text){"true", 4});
		else
			put(place, TAG_BOOL, (struct text){"false", 5});
		break;
	case FIELD_BITS:
	case FIELD_UNSIGNED:
		put_unsigned(place, event_take_unsigned(from));
		break;
	case FIELD_SIGNED:
		put_signed(place, event_take_signed(from));
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		put_enum(place, kind, from);
		break;
	case FIELD_SINGLE:
	case FIELD_DOUBLE:
		put_real(place, event_take_real(from));
		break;
	case FIELD_STRING:
		put(place, TAG_TEXT, event_take_text(from));
		break;
	case FIELD_STRUCTURE:
	case FIELD_ARRAY:
	case FIELD_VARIANT:
		put_whole(place, kind, from);
		break;
	case FIELD_OPTION:
	case FIELD_CUT:
		put(place, TAG_NONE, (struct text){"", 0});
		break;
	default:
		break; /* it has failed */
	}
}

bool pair_fields_put(struct buffer *out, const struct event_record *record)
{
	size_t before = out->size;
	struct event_cursor from = record->scope[SCOPE_PAYLOAD];

	if (!(record->scopes >> SCOPE_PAYLOAD & 1))
		return true;
	put_members(out, event_take_count(&from), &from);
	if (!event_cursor_is_over(&from))
		out->size = before;
	return event_cursor_is_over(&from);
}

/* Reads past values that are no numbers: then there is none, as what follows is not known. */
static struct known_number find_number(struct event_cursor from, const char *name)
{
	static const struct known_number none;
	uint64_t count = event_take_count(&from);

	for (uint64_t i = 0; i < count && !from.failed; i++) {
		struct text is = event_take_text(&from);
		enum field_kind kind = event_take_kind(&from);
		int64_t value;

		if (kind == FIELD_UNSIGNED)
			value = (int64_t)event_take_unsigned(&from);
		else if (kind == FIELD_SIGNED)
			value = event_take_signed(&from);
		else if (kind == FIELD_STRING)
			event_take_text(&from), value = 0;
		else
			return none;
		if (kind != FIELD_STRING && text_is(is, name) && !from.failed)
			return (struct known_number){true, value};
	}
	return none;
}

struct known_number pair_fields_context(const struct event_record *record, const char *name)
{
	struct known_number found = {0};

	for (enum event_scope scope = SCOPE_COMMON; scope <= SCOPE_SPECIFIC && !found.known; scope++)
		if (record->scopes >> scope & 1)
			found = find_number(record->scope[scope], name);
	return found;
}
