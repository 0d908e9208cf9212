/* SPDX-License-Identifier: BSD-2-Clause */
/* The state as text, for people. */
#ifndef STATE_TEXT_H
#define STATE_TEXT_H

#include "state/told.h"

/* Appends what state_complete has made as text, and a NUL; false if it cannot be understood. */
bool state_text(struct buffer *out, const char *json);

/* The part of it that is a paragraph for each output; and whether each delivers, or did a moment ago. */
void state_put_outputs(struct buffer *out, struct told state);
bool state_delivers(struct told state);

#endif
