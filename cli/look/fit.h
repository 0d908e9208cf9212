/* SPDX-License-Identifier: BSD-2-Clause */
/* Text for a screen of some width, which may not have more than ASCII. */
#ifndef LOOK_FIT_H
#define LOOK_FIT_H

#include <stdbool.h>

#include "base/buffer.h"

/* Appends printable @text cut to @columns, with … where something is left out. Returns its width. */
int fit_put(struct buffer *out, const char *text, int columns);

/* The same, with spaces up to @columns. */
void fit_put_left(struct buffer *out, const char *text, int columns);
void fit_put_right(struct buffer *out, const char *text, int columns);

/* Whether the user's locale has UTF-8. */
bool fit_has_utf8(void);

/* Replaces all that is not ASCII, column by column, unless the locale has UTF-8. */
void fit_locale(struct buffer *text);

#endif
