/* SPDX-License-Identifier: BSD-2-Clause */
/* What the page says of where a span's time went, in words. */
#ifndef STATUS_ANSWERTABLE_H
#define STATUS_ANSWERTABLE_H

#include "base/buffer.h"
#include "config/config.h"
#include "status/trace/answer.h"

/* Appends a square in the colour of a part. */
void answertable_key(struct buffer *out, enum part part);

/* Appends a table of the parts, with who ran meanwhile, who woke the thread, and its system calls. */
void answertable_write(struct buffer *out, const struct answer_span *span);

/* Appends what is wrong with the answer about the trace @id, and what it does not tell; without one, how to
 * come by one, if @config has the kernel recorded. */
void answertable_remarks(
	struct buffer *out, const struct answer *answer, const char *id, const struct config *config);

#endif
