/* SPDX-License-Identifier: BSD-2-Clause */
/* The plan of a field, with all that is in it, of which the plans of events are made. */
#ifndef READER_DECODE_FIELDPLAN_H
#define READER_DECODE_FIELDPLAN_H

#include <stdint.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "core/eventrecord.h"

/* Its parts are a structure's members, what each element of an array is, what an option may have, or the
 * choices of a variant. */
struct field_plan {
	enum field_kind kind;
	uint8_t hex_bits;   /* of a number that is declared as hexadecimal: its size; 0: it is not */
	struct text name;   /* UTF-8; no other part of the same whole has it */
	struct text packed; /* the same as records have it */
	uint32_t count;
	struct field_plan *parts;
};

/* The plan of a scope, a structure; @names (of char *, owned) has those that are taken, and gets its own. */
struct field_plan field_plan_scope(GStringChunk *texts, const bt_field_class *field_class, GHashTable *names);
void field_plan_free(struct field_plan *plan);

/* @text as UTF-8, kept in @texts. */
struct text field_plan_text(GStringChunk *texts, const char *text);

#endif
