/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/eventjson.h"

#include <string.h>

#include "encode/eventplace.h"
#include "encode/jsontext.h"
#include "net/base64.h"

/* What the parts of one event share. Each value is followed by a comma, which a closing bracket replaces. */
struct walk {
	struct eventjson *memory;
	struct event_cursor from; /* the scope's */
	struct buffer *out;
	size_t most; /* the size that @out may have */
	bool failed; /* it is too large, or the record is damaged */
};

#define PUT(out, literal) buffer_put(out, literal, sizeof(literal) - 1)

static void put_text(struct buffer *out, const char *text, size_t size, unsigned *repaired)
{
	uint8_t *to = buffer_reserve(out, JSONTEXT_MAX(size) + 1);
	char *end = jsontext_put((char *)to, text, size, repaired);

	*end++ = ',';
	out->size = (size_t)((uint8_t *)end - out->data);
}

static void end_number(struct buffer *out, char *end)
{
	*end++ = ',';
	out->size = (size_t)((uint8_t *)end - out->data);
}

static void put_unsigned(struct buffer *out, uint64_t value)
{
	end_number(out, jsonvalue_unsigned((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

static void put_signed(struct buffer *out, int64_t value)
{
	end_number(out, jsonvalue_signed((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

static void put_real(struct buffer *out, double value)
{
	end_number(out, jsonvalue_real((char *)buffer_reserve(out, JSONVALUE_MAX), value));
}

/* @bracket with a comma. */
static void close_with(struct buffer *out, const char *bracket)
{
	if (out->data[out->size - 1] == ',')
		out->size--;
	buffer_put(out, bracket, 2);
}

static void put_name(struct buffer *out, struct text name)
{
	unsigned repaired = 0;

	put_text(out, name.data, name.size, &repaired);
	out->data[out->size - 1] = ':';
}

/* A key with its colon, a word, a bracket. */
static void put_as_it_is(struct buffer *out, const char *json)
{
	buffer_put(out, json, strlen(json));
}

/* What JSON cannot say */

static void put_place(struct walk *walk, struct buffer *out, const struct event_place *place)
{
	struct buffer *pointer = &walk->memory->place;
	unsigned repaired = 0;

	pointer->size = 0;
	event_place_put(pointer, place);
	put_text(out, (const char *)pointer->data, pointer->size, &repaired);
}

/* Too much of it makes the event too large, as it is added to it. */
static void check_size(struct walk *walk)
{
	if (walk->out->size + walk->memory->bytes.size + walk->memory->cut.size > walk->most)
		walk->failed = true;
}

/* The bytes of a text that had to be repaired. */
static void keep_bytes(struct walk *walk, const struct event_place *place, const char *text, size_t size)
{
	struct buffer *out = &walk->memory->bytes;

	put_place(walk, out, place);
	out->data[out->size - 1] = ':';
	PUT(out, "\"");
	base64_encode((char *)buffer_reserve(out, BASE64_SIZE(size)), (const uint8_t *)text, size);
	out->size += BASE64_SIZE(size);
	PUT(out, "\",");
	check_size(walk);
}

static void put_cut(struct walk *walk, const struct event_place *place)
{
	PUT(walk->out, "null,");
	put_place(walk, &walk->memory->cut, place);
	check_size(walk);
}

/* Fields */

static void put_string(struct walk *walk, const struct event_place *place)
{
	struct text text = event_take_text(&walk->from);
	unsigned repaired = 0;

	put_text(walk->out, text.data, text.size, &repaired);
	if (repaired)
		keep_bytes(walk, place, text.data, text.size);
}

static void put_enumeration(struct walk *walk, enum field_kind kind)
{
	struct buffer *out = walk->out;
	unsigned repaired = 0;

	PUT(out, "{\"value\":");
	if (kind == FIELD_SIGNED_ENUM)
		put_signed(out, event_take_signed(&walk->from));
	else
		put_unsigned(out, event_take_unsigned(&walk->from));
	PUT(out, "\"labels\":[");
	for (uint64_t count = event_take_count(&walk->from); count > 0 && !walk->from.failed; count--) {
		struct text label = event_take_text(&walk->from);

		put_text(out, label.data, label.size, &repaired);
	}
	close_with(out, "],");
	close_with(out, "},");
}

static void put_value(struct walk *walk, const struct event_place *place);

static void put_member(struct walk *walk, const struct event_place *place)
{
	struct text name = event_take_text(&walk->from);
	const struct event_place here = {place, &name, 0};

	put_name(walk->out, name);
	put_value(walk, &here);
}

static void put_members(struct walk *walk, const struct event_place *place)
{
	uint64_t count = event_take_count(&walk->from);

	for (; count > 0 && !walk->failed; count--)
		put_member(walk, place);
}

static void put_elements(struct walk *walk, const struct event_place *place)
{
	uint64_t count = event_take_count(&walk->from);
	struct event_place here = {place, NULL, 0};

	for (; here.index < count && !walk->failed; here.index++)
		put_value(walk, &here);
}

/* What is in it stands between brackets. */
static void put_whole(struct walk *walk, enum field_kind kind, const struct event_place *place)
{
	bool array = kind == FIELD_ARRAY;

	if (!event_enter(&walk->from))
		return;
	put_as_it_is(walk->out, array ? "[" : "{");
	if (array)
		put_elements(walk, place);
	else if (kind == FIELD_STRUCTURE)
		put_members(walk, place);
	else /* which it is matters, as what it is depends on that */
		put_member(walk, place);
	close_with(walk->out, array ? "]," : "},");
	event_leave(&walk->from);
}

static void put_value(struct walk *walk, const struct event_place *place)
{
	struct event_cursor *from = &walk->from;
	struct buffer *out = walk->out;
	enum field_kind kind = event_take_kind(from);

	check_size(walk);
	switch (kind) {
	case FIELD_BOOL:
		put_as_it_is(out, event_take_bool(from) ? "true," : "false,");
		break;
	case FIELD_BITS:
	case FIELD_UNSIGNED:
		put_unsigned(out, event_take_unsigned(from));
		break;
	case FIELD_SIGNED:
		put_signed(out, event_take_signed(from));
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		put_enumeration(walk, kind);
		break;
	case FIELD_SINGLE:
	case FIELD_DOUBLE:
		put_real(out, event_take_real(from));
		break;
	case FIELD_STRING:
		put_string(walk, place);
		break;
	case FIELD_STRUCTURE:
	case FIELD_ARRAY:
	case FIELD_VARIANT:
		put_whole(walk, kind, place);
		break;
	case FIELD_OPTION:
		PUT(out, "null,");
		break;
	case FIELD_CUT:
		put_cut(walk, place);
		break;
	default:
		break; /* it has failed */
	}
	walk->failed |= from->failed;
}

/* The event */

/* The members of a scope, if there is one. */
static void put_scope(struct walk *walk, const struct event_record *record, enum event_scope scope,
	const struct event_place *place)
{
	if (!(record->scopes >> scope & 1))
		return;
	walk->from = record->scope[scope];
	put_members(walk, place);
	walk->failed |= !event_cursor_is_over(&walk->from);
}

static void put_moment(struct walk *walk, const struct moment *moment)
{
	struct buffer *out = walk->out;

	if (moment->kind == MOMENT_CYCLES) {
		PUT(out, "\"clock\":");
		put_unsigned(out, moment->cycles);
	} else if (moment->kind == MOMENT_TIME) {
		PUT(out, "\"timestamp\":");
		put_signed(out, moment->time);
		PUT(out, "\"time\":");
		end_number(out, jsonvalue_time((char *)buffer_reserve(out, JSONVALUE_MAX),
					&walk->memory->time, moment->time));
	}
}

static void put_known(struct buffer *out, const char *key, struct known_number number)
{
	if (!number.known)
		return;
	put_as_it_is(out, key);
	put_signed(out, number.value);
}

static void put_fact(struct buffer *out, const char *key, struct text text)
{
	unsigned repaired = 0;

	if (!text.size)
		return;
	put_as_it_is(out, key);
	put_text(out, text.data, text.size, &repaired);
}

/* Of an event without a name, its number tells it from others. */
static void put_event(struct buffer *out, const struct event_head *head)
{
	unsigned repaired = 0;

	PUT(out, "\"event\":");
	if (head->name.data) {
		put_text(out, head->name.data, head->name.size, &repaired);
	} else {
		PUT(out, "null,\"id\":");
		put_unsigned(out, head->id);
	}
	put_fact(out, "\"level\":", head->level.name);
}

static void put_process(struct buffer *out, const struct event_facts *facts)
{
	if (!facts->pid.known && !facts->tid.known && !facts->user.known && !facts->program.size)
		return;
	PUT(out, "\"process\":{");
	put_known(out, "\"pid\":", facts->pid);
	put_known(out, "\"tid\":", facts->tid);
	put_fact(out, "\"name\":", facts->program);
	put_known(out, "\"user\":", facts->user);
	close_with(out, "},");
}

static void put_head(struct walk *walk, const struct event_head *head)
{
	put_moment(walk, &head->moment);
	put_fact(walk->out, "\"host\":", head->host);
	put_fact(walk->out, "\"domain\":", head->domain);
	put_event(walk->out, head);
	put_process(walk->out, &head->facts);
	put_known(walk->out, "\"cpu\":", head->facts.cpu);
}

/* A member that is written if the record has one of @scopes. */
static void put_scopes(
	struct walk *walk, const struct event_record *record, unsigned scopes, struct text name)
{
	const struct event_place place = {NULL, &name, 0};

	put_name(walk->out, name);
	PUT(walk->out, "{");
	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		if (scopes >> scope & 1)
			put_scope(walk, record, scope, &place);
	close_with(walk->out, "},");
}

static void put_all_scopes(struct walk *walk, const struct event_record *record)
{
	const unsigned packet = 1u << SCOPE_PACKET, context = 1u << SCOPE_COMMON | 1u << SCOPE_SPECIFIC;

	if (record->scopes & packet)
		put_scopes(walk, record, packet, (struct text){"packet", 6});
	if (record->scopes & context)
		put_scopes(walk, record, context, (struct text){"context", 7});
	put_scopes(walk, record, 1u << SCOPE_PAYLOAD, (struct text){"payload", 7});
}

static void put_rest(struct buffer *out, const char *key, const struct buffer *rest, const char *bracket)
{
	if (!rest->size)
		return;
	put_as_it_is(out, key);
	buffer_put(out, rest->data, rest->size);
	close_with(out, bracket);
}

bool eventjson_put(struct eventjson *memory, struct buffer *out, const uint8_t *record, size_t size)
{
	size_t before = out->size;
	struct walk walk = {.memory = memory, .out = out, .most = before + EVENT_SIZE_MAX};
	struct event_record event;

	if (!event_record_open(&event, record, size))
		return false;
	memory->bytes.size = memory->cut.size = 0;
	PUT(out, "{");
	put_head(&walk, &event.head);
	put_all_scopes(&walk, &event);
	put_rest(out, "\"bytes\":{", &memory->bytes, "},");
	put_rest(out, "\"cut\":[", &memory->cut, "],");
	out->data[out->size - 1] = '}';
	if (walk.failed || out->size > walk.most)
		out->size = before;
	return out->size > before;
}

void eventjson_free(struct eventjson *memory)
{
	buffer_free(&memory->bytes);
	buffer_free(&memory->cut);
	buffer_free(&memory->place);
}
