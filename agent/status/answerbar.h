/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a span's time went, as a bar below the span's own on the page: a colour for each part, its name and
 * its time beside it, so that nobody has to tell colours. */
#ifndef STATUS_ANSWERBAR_H
#define STATUS_ANSWERBAR_H

#include "base/buffer.h"
#include "status/trace/answer.h"

/* What the bars of a page need to be there once. */
void answerbar_begin(struct buffer *out);

/* Appends the bar, in a place that is @scale wide, in which the span's own begins at @from and has @width;
 * then the parts in words, and the cause, with answertable_write's table at a click. */
void answerbar_write(
	struct buffer *out, const struct answer_span *span, double scale, double from, double width);

/* Appends an attribute with a number, for drawing. */
void answerbar_number(struct buffer *out, const char *attribute, double value);

#endif
