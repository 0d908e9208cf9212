/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a span that did not fit into its event, and came before it in others, blkin:tag with a key that
 * begins with
 * "#~" (blkin/marks.h): "#~NUMBER+START", and '-' instead of '+' if the first line began in the piece
 * before. Put together in the order of their numbers, they are the text that they were; of a line that is not
 * whole, nothing is.
 */
#ifndef READER_ASSEMBLE_PIECES_H
#define READER_ASSEMBLE_PIECES_H

#include "core/event.h"
#include "reader/assemble/pending.h"

/* What a piece's key says. */
struct piece_key {
	uint64_t number, start; /* the start on the tracing clock */
	bool goes_on;
};

/* Whether the event is such a piece. */
bool piece_key_read(struct piece_key *key, const struct event *event);

/* Keeps the piece's lines. */
void pieces_keep(struct pending *pending, const struct piece_key *key, struct text lines);

/*
 * Writes those that were kept to @out, after the first line of @data, and before the rest of it. Where some
 * are missing is a line of NUL, also at the end if the last one is not that of number @all. Returns how many
 * pieces there were; @is_cut says whether there was more in them: of a line that is not whole, or of another
 * one by the same number.
 */
size_t pieces_join(
	const struct pending *pending, struct text data, uint64_t all, struct buffer *out, bool *is_cut);

#endif
