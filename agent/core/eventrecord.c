/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/eventrecord.h"

#include <endian.h>

#define VERSION 1

/* What stands where it always does. */
struct fixed {
	uint8_t version, moment;
	uint16_t flags;
	uint32_t severity;
	uint64_t time; /* or what the clock showed */
	int64_t observed;
};

_Static_assert(sizeof(struct fixed) == 24, "it has no padding");

enum {
	HAS_PID = 1 << 0,
	HAS_TID = 1 << 1,
	HAS_USER = 1 << 2,
	HAS_CPU = 1 << 3,
	HAS_NAME = 1 << 4,
	SCOPES_BIT = 5, /* the first of those of the scopes */
	FLAGS_END = 1 << (SCOPES_BIT + EVENT_SCOPES)
};

/* Before a scope. */
#define SIZE_BYTES 4

_Static_assert(EVENT_SIZE_MAX < INT32_MAX, "a scope's size fits");

/* Writing */

static unsigned flags_of(const struct event_head *head, unsigned scopes)
{
	const struct event_facts *facts = &head->facts;

	return (facts->pid.known ? HAS_PID : 0) | (facts->tid.known ? HAS_TID : 0) |
	       (facts->user.known ? HAS_USER : 0) | (facts->cpu.known ? HAS_CPU : 0) |
	       (head->name.data ? HAS_NAME : 0) | scopes << SCOPES_BIT;
}

static void put_fixed(struct buffer *out, const struct event_head *head, unsigned scopes)
{
	const struct moment *moment = &head->moment;
	const struct fixed fixed = {
		.version = VERSION,
		.moment = (uint8_t)moment->kind,
		.flags = htole16((uint16_t)flags_of(head, scopes)),
		.severity = htole32(head->level.severity),
		.time = htole64(moment->kind == MOMENT_TIME     ? (uint64_t)moment->time
				: moment->kind == MOMENT_CYCLES ? moment->cycles
								: 0),
		.observed = (int64_t)htole64((uint64_t)head->observed),
	};

	buffer_put(out, &fixed, sizeof(fixed));
}

static void put_known(struct buffer *out, struct known_number number)
{
	if (number.known)
		event_put_count(out, varint_fold(number.value));
}

static void put_text(struct buffer *out, struct text text)
{
	event_put_text(out, text.data, text.size);
}

void event_record_begin(struct buffer *out, const struct event_head *head, unsigned scopes)
{
	put_fixed(out, head, scopes);
	put_known(out, head->facts.pid);
	put_known(out, head->facts.tid);
	put_known(out, head->facts.user);
	put_known(out, head->facts.cpu);
	put_text(out, head->host);
	put_text(out, head->domain);
	put_text(out, head->level.name);
	put_text(out, head->facts.program);
	if (head->name.data)
		put_text(out, head->name);
	else
		event_put_count(out, head->id);
}

size_t event_scope_open(struct buffer *out)
{
	buffer_reserve(out, SIZE_BYTES);
	out->size += SIZE_BYTES;
	return out->size;
}

void event_scope_close(struct buffer *out, size_t begin)
{
	uint32_t size = htole32((uint32_t)(out->size - begin));

	memcpy(out->data + begin - SIZE_BYTES, &size, sizeof(size));
}

void event_put_real(struct buffer *out, enum field_kind kind, double value)
{
	uint8_t *to = buffer_reserve(out, 1 + sizeof(uint64_t));
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	bits = htole64(bits);
	*to++ = (uint8_t)kind;
	memcpy(to, &bits, sizeof(bits));
	out->size += 1 + sizeof(bits);
}

/* Reading. What has failed is at its end, where nothing comes. */

static void fail(struct event_cursor *from)
{
	from->failed = true;
	from->at = from->end;
}

static inline size_t left(const struct event_cursor *from)
{
	return (size_t)(from->end - from->at);
}

/* @size bytes; NULL, and then it has failed, if there are not as many. */
static inline const uint8_t *take(struct event_cursor *from, size_t size)
{
	const uint8_t *at = from->at;

	if (size > left(from)) {
		fail(from);
		return NULL;
	}
	from->at += size;
	return at;
}

/* Most numbers are small. */
static inline uint64_t take_number(struct event_cursor *from)
{
	uint64_t number;
	const uint8_t *next;

	if (from->at < from->end && *from->at < 0x80)
		return *from->at++;
	next = varint_get(from->at, from->end, &number);
	if (!next) {
		fail(from);
		return 0;
	}
	from->at = next;
	return number;
}

enum field_kind event_take_kind(struct event_cursor *from)
{
	const uint8_t *byte = take(from, 1);
	uint8_t kind = byte ? *byte : 0;

	if (!kind || kind >= FIELD_KINDS) {
		fail(from);
		return 0;
	}
	return (enum field_kind)kind;
}

bool event_take_bool(struct event_cursor *from)
{
	const uint8_t *value = take(from, 1);

	if (value && *value > 1)
		fail(from);
	return value && *value == 1;
}

uint64_t event_take_unsigned(struct event_cursor *from)
{
	return take_number(from);
}

int64_t event_take_signed(struct event_cursor *from)
{
	return varint_unfold(take_number(from));
}

double event_take_real(struct event_cursor *from)
{
	const uint8_t *bytes = take(from, sizeof(uint64_t));
	uint64_t bits = 0;
	double value;

	if (bytes)
		memcpy(&bits, bytes, sizeof(bits));
	bits = le64toh(bits);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

struct text event_take_text(struct event_cursor *from)
{
	uint64_t size = take_number(from);
	const uint8_t *text = take(from, size);

	return text ? (struct text){(const char *)text, (uint32_t)size} : (struct text){"", 0};
}

/* Each takes a byte at least. */
uint64_t event_take_count(struct event_cursor *from)
{
	uint64_t count = take_number(from);

	if (count <= left(from))
		return count;
	fail(from);
	return 0;
}

bool event_enter(struct event_cursor *from)
{
	if (from->depth < EVENT_DEPTH_MAX)
		from->depth++;
	else
		fail(from);
	return !from->failed;
}

void event_leave(struct event_cursor *from)
{
	from->depth--;
}

bool event_cursor_is_over(const struct event_cursor *from)
{
	return !from->failed && from->at == from->end;
}

/* The record */

static bool get_fixed(struct fixed *fixed, const uint8_t *bytes, size_t size)
{
	if (size < sizeof(*fixed) || size > EVENT_SIZE_MAX)
		return false;
	memcpy(fixed, bytes, sizeof(*fixed));
	fixed->flags = le16toh(fixed->flags);
	fixed->time = le64toh(fixed->time);
	fixed->observed = (int64_t)le64toh((uint64_t)fixed->observed);
	return fixed->version == VERSION && fixed->moment <= MOMENT_TIME && fixed->flags < FLAGS_END;
}

static struct moment get_moment(const struct fixed *fixed)
{
	struct moment moment = {.kind = (enum moment_kind)fixed->moment};

	if (moment.kind == MOMENT_TIME)
		moment.time = (int64_t)fixed->time;
	else
		moment.cycles = fixed->time;
	return moment;
}

static struct known_number get_known(struct event_cursor *from, bool known)
{
	return known ? (struct known_number){true, event_take_signed(from)} : (struct known_number){0};
}

static void get_head(struct event_cursor *from, struct event_head *head, const struct fixed *fixed)
{
	*head = (struct event_head){.moment = get_moment(fixed), .observed = fixed->observed};
	head->level.severity = le32toh(fixed->severity);
	head->facts.pid = get_known(from, fixed->flags & HAS_PID);
	head->facts.tid = get_known(from, fixed->flags & HAS_TID);
	head->facts.user = get_known(from, fixed->flags & HAS_USER);
	head->facts.cpu = get_known(from, fixed->flags & HAS_CPU);
	head->host = event_take_text(from);
	head->domain = event_take_text(from);
	head->level.name = event_take_text(from);
	head->facts.program = event_take_text(from);
	if (fixed->flags & HAS_NAME)
		head->name = event_take_text(from);
	else
		head->id = event_take_unsigned(from);
}

static struct event_cursor get_scope(struct event_cursor *from)
{
	const uint8_t *bytes = take(from, SIZE_BYTES), *scope;
	uint32_t size = 0;

	if (bytes)
		memcpy(&size, bytes, SIZE_BYTES);
	size = le32toh(size);
	scope = take(from, size);
	if (!scope)
		return (struct event_cursor){.failed = true};
	return (struct event_cursor){.at = scope, .end = scope + size, .depth = 1};
}

bool event_record_open(struct event_record *record, const uint8_t *bytes, size_t size)
{
	struct event_cursor from = {0};
	struct fixed fixed;

	if (!get_fixed(&fixed, bytes, size))
		return false;
	from.at = bytes + sizeof(fixed);
	from.end = bytes + size;
	get_head(&from, &record->head, &fixed);
	record->scopes = fixed.flags >> SCOPES_BIT;
	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		if (record->scopes >> scope & 1)
			record->scope[scope] = get_scope(&from);
	return event_cursor_is_over(&from);
}
