/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `blkin spool discard` and the agent say to each other, over HTTP on the control socket:
 *
 *     POST /spool/discard?protocol=...&output=NAME[&before=NS]    an order; the answer has its number
 *     GET  /spool/discard?protocol=...&output=NAME                how it goes
 *
 * Both are answered with the state of the output's last order.
 */
#ifndef STATUS_DISCARDTALK_H
#define STATUS_DISCARDTALK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "output/spool/discard.h"
#include "output/spool/spoolname.h"

#define DISCARDTALK_PATH "/spool/discard"

struct discard_question {
	char output[SPOOLNAME_MAX + 1];
	int64_t before; /* see discard_order */
};

/* Appends @question as the query of a URI, without the question mark. */
void discardtalk_put_question(struct buffer *query, const struct discard_question *question);

/* Reads it; returns false if it is none, or of another version. @query may be NULL. */
bool discardtalk_get_question(const char *query, struct discard_question *question);

/* The same for the answer. */
void discardtalk_put_answer(struct buffer *out, const struct discard_state *state);
bool discardtalk_get_answer(const char *text, struct discard_state *state);

#endif
