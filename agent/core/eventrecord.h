/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any event that is no part of a span, as bytes: what rings, queues and spools hold, from the reader up to
 * the output that encodes it. Flat, self-delimiting, and the same on each machine; numbers are little-endian,
 * those called "number" are varints (core/varint.h), folded if they have a sign; a text is a number, and so
 * many bytes.
 *
 *     u8      version: 1
 *     u8      enum moment_kind
 *     u16     flags, those of eventrecord.c: what there is of the rest
 *     u32     how severe it is, in OTLP's numbers; 0: it has no level
 *     u64     what the clock showed, or i64 the time: ns since the epoch; 0: there is no clock
 *     i64     when it was read: ns since the epoch
 *             of these numbers each that is known: the process, the thread, the user, the CPU
 *     text    the host; the domain; the level; the program. Empty: not known
 *             the event's name, a text; if it has none, its class's number
 *             each scope that there is, in the order of enum event_scope: u32 how many bytes, and a structure
 *
 * A structure is a number of members: for each a text, its name, and a value. A value is
 *     u8      enum field_kind; then, by that,
 *     nothing for FIELD_OPTION and FIELD_CUT
 *     u8      FIELD_BOOL: 0 or 1
 *     number  FIELD_BITS, FIELD_UNSIGNED; with a sign FIELD_SIGNED
 *     u64     FIELD_SINGLE, FIELD_DOUBLE: the bits of a double
 *     text    FIELD_STRING
 *     number  FIELD_UNSIGNED_ENUM, with a sign FIELD_SIGNED_ENUM; and how many labels, texts
 *             FIELD_STRUCTURE: a structure
 *     number  FIELD_ARRAY: how many values
 *     text    FIELD_VARIANT: the name of the one that was chosen, and its value
 *
 * FIELD_OPTION is an option that has nothing; one that has something is just that.
 *
 * Spools keep records for ever: a later version reads what this one writes. Who packs a record makes names
 * UTF-8 (the host's, the event's, those of fields); what programs log is left as it is. Records come from
 * another process and from disks, so what reads them here reads nothing beyond the end, and whatever they
 * say, whoever walks one takes no more steps than it has bytes, and goes no deeper than EVENT_DEPTH_MAX. No
 * thread, no state.
 */
#ifndef CORE_EVENTRECORD_H
#define CORE_EVENTRECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/copy.h"
#include "core/text.h"
#include "core/varint.h"

/* No event becomes larger than this, packed or encoded; one that would is left out. */
#define EVENT_SIZE_MAX (1024 * 1024)

/* What is nested deeper is left out, and said to be so: those who read JSON have such limits, too. */
#define EVENT_DEPTH_MAX 32

enum field_kind {
	FIELD_BOOL = 1,
	FIELD_BITS,
	FIELD_UNSIGNED,
	FIELD_SIGNED,
	FIELD_UNSIGNED_ENUM,
	FIELD_SIGNED_ENUM,
	FIELD_SINGLE,
	FIELD_DOUBLE,
	FIELD_STRING,
	FIELD_STRUCTURE,
	FIELD_ARRAY,
	FIELD_OPTION, /* that has nothing */
	FIELD_VARIANT,
	FIELD_CUT, /* too deep, or of a class that only a newer babeltrace2 knows */
	FIELD_KINDS
};

/* The scopes of an event, in the order in which they are written. */
enum event_scope { SCOPE_PACKET, SCOPE_COMMON, SCOPE_SPECIFIC, SCOPE_PAYLOAD, EVENT_SCOPES };

/* The time of an event. */
struct moment {
	enum moment_kind { MOMENT_NONE, MOMENT_CYCLES, MOMENT_TIME } kind;
	uint64_t cycles; /* of its clock, unless there is none */
	int64_t time;    /* ns since the epoch, if the clock says that */
};

struct known_number {
	bool known;
	int64_t value;
};

/* By whom it was logged, and where. */
struct event_facts {
	struct known_number pid, tid, user, cpu;
	struct text program; /* any bytes; size 0: not known */
};

struct event_level {
	struct text name;  /* size 0: the event has none */
	uint32_t severity; /* OTLP's */
};

/* All but the scopes. Of a record, the moment has either the clock's number or the time. */
struct event_head {
	struct moment moment;
	int64_t observed;         /* when it was read: ns since the epoch */
	struct text host, domain; /* size 0: not known */
	struct text name;         /* data is NULL: it has none, */
	uint64_t id;              /* and its class's number tells it from others */
	struct event_level level;
	struct event_facts facts;
};

/* Writing: appended to a buffer. First the head; @scopes has a bit for each that is to come. */
void event_record_begin(struct buffer *out, const struct event_head *head, unsigned scopes);

/* Then each scope: its members between these two; @begin is what the first has returned. */
size_t event_scope_open(struct buffer *out);
void event_scope_close(struct buffer *out, size_t begin);

/* How many members a structure has, before them; a name. */
static inline void event_put_count(struct buffer *out, uint64_t count)
{
	out->size = (size_t)(varint_put(buffer_reserve(out, VARINT_MAX), count) - out->data);
}

static inline void event_put_text(struct buffer *out, const char *text, size_t size)
{
	uint8_t *to = varint_put(buffer_reserve(out, VARINT_MAX + size), size);

	copy_few((char *)to, text, size);
	out->size = (size_t)(to + size - out->data);
}

/* The same of one that was packed before, as names are, once. */
static inline void event_put_packed(struct buffer *out, struct text packed)
{
	copy_few((char *)buffer_reserve(out, packed.size), packed.data, packed.size);
	out->size += packed.size;
}

/* Of a value: its kind; its kind and a number that it begins with. */
static inline void event_put_kind(struct buffer *out, enum field_kind kind)
{
	*buffer_reserve(out, 1) = (uint8_t)kind;
	out->size++;
}

static inline void event_put_number(struct buffer *out, enum field_kind kind, uint64_t number)
{
	uint8_t *to = buffer_reserve(out, 1 + VARINT_MAX);

	*to++ = (uint8_t)kind;
	out->size = (size_t)(varint_put(to, number) - out->data);
}

void event_put_real(struct buffer *out, enum field_kind kind, double value);

/* Reading. What is read borrows from the record. */

/* What is left of a scope. Once something is wrong, nothing comes any more: all is 0, and empty. */
struct event_cursor {
	const uint8_t *at, *end;
	unsigned depth;
	bool failed;
};

struct event_record {
	struct event_head head;
	unsigned scopes;                         /* a bit for each that there is */
	struct event_cursor scope[EVENT_SCOPES]; /* before its structure */
};

/* False if it is none; what is in the scopes is not looked at. */
bool event_record_open(struct event_record *record, const uint8_t *bytes, size_t size);

/* The kind of the value that comes; and, by that, what is in it. 0: none. */
enum field_kind event_take_kind(struct event_cursor *from);
bool event_take_bool(struct event_cursor *from);
uint64_t event_take_unsigned(struct event_cursor *from);
int64_t event_take_signed(struct event_cursor *from);
double event_take_real(struct event_cursor *from);
struct text event_take_text(struct event_cursor *from);

/* How many members, elements or labels there are; 0, if there cannot be as many. */
uint64_t event_take_count(struct event_cursor *from);

/* Around what is in a structure, an array or a variant; false, and then it is not left, if that is too deep.
 * A scope is the first level. */
bool event_enter(struct event_cursor *from);
void event_leave(struct event_cursor *from);

/* Whether the scope was read up to its end, and nothing was wrong. */
bool event_cursor_is_over(const struct event_cursor *from);

#endif
