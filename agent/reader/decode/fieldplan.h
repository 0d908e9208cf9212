/* SPDX-License-Identifier: BSD-2-Clause */
/* Making the plan of a field, with all that is in it: for eventplan.c. */
#ifndef READER_DECODE_FIELDPLAN_H
#define READER_DECODE_FIELDPLAN_H

#include "reader/decode/eventplan.h"

/* The plan of a scope, a structure; @names (of char *, owned) has those that are taken, and gets its own. */
struct field_plan field_plan_scope(GStringChunk *texts, const bt_field_class *field_class, GHashTable *names);
void field_plan_free(struct field_plan *plan);

/* @text as UTF-8, kept in @texts. */
struct text field_plan_text(GStringChunk *texts, const char *text);

#endif
