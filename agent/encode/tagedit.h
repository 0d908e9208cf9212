/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Leaving out, renaming and redacting tags of a span that is encoded already: config/tagrules.h. All else in
 * the item stays as it is.
 *
 * In Thrift, a span goes on as its sender wrote it, so tags are all binary annotations, of any type, but for
 * those that are addresses. In an item of otlp.h they are the span's attributes, also those that are made of
 * its remote endpoint, and the status is the tag `error`.
 */
#ifndef ENCODE_TAGEDIT_H
#define ENCODE_TAGEDIT_H

#include "config/tagrules.h"
#include "encode/spanread.h"

struct tagedit_counts {
	int64_t dropped, renamed, redacted;
};

/* What becomes of one tag. */
struct tagedit {
	enum { TAGEDIT_STAYS, TAGEDIT_GOES, TAGEDIT_CHANGES } what;
	struct text key;
	bool redacted;
};

/* What the formats share; zero it first. */
struct tagedit_memory {
	struct span_memory read;
	struct buffer tags;  /* struct tag: those of one span */
	struct buffer edits; /* struct tagedit: one for each */
	struct buffer parts; /* where they stand */
};

void tagedit_free(struct tagedit_memory *memory);

enum tagedit_result { TAGEDIT_NO_SPAN, TAGEDIT_SAME, TAGEDIT_CHANGED };

/* Append the item as the rules have it, if it was changed, and add to @counts; or else nothing. */
enum tagedit_result tagedit_thrift(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts);
enum tagedit_result tagedit_json(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts);
enum tagedit_result tagedit_otlp(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts);

/* For these alone: */

static inline const struct tagedit *tagedit_list(const struct tagedit_memory *memory)
{
	return (const struct tagedit *)(const void *)memory->edits.data;
}

/* Makes the edits of the tags in the memory; returns whether any changes. */
bool tagedit_judge(
	const struct tagrules *rules, struct tagedit_memory *memory, struct tagedit_counts *counts);

/* The span is read: it is encoded with the tags that it gets, unless none changes. */
typedef int tagedit_encoder(struct buffer *out, const struct span *span);
enum tagedit_result tagedit_span(struct buffer *out, struct span *span, tagedit_encoder *encode,
	const struct tagrules *rules, struct tagedit_memory *memory, struct tagedit_counts *counts);

/* A tag that changes has this value. */
struct text tagedit_value(const struct tagedit *edit, struct text value);

#endif
