/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: prints what was found out. */
#ifndef WHY_SHOW_H
#define WHY_SHOW_H

#include <stdbool.h>

#include "base/buffer.h"
#include "why/collect.h"

/* A screen for people; false if standard output does not take it, which is logged. */
bool why_show_text(const struct why *why);

/* A line of JSON for each span; the same. */
bool why_show_json(const struct why *why);

#endif
