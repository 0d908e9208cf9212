/* SPDX-License-Identifier: BSD-2-Clause */
/* What to do about each fault of an output. */
#ifndef STATUS_REMEDY_H
#define STATUS_REMEDY_H

#include "status/status.h"

/* The finding's code, a constant. */
const char *remedy_code(enum fault fault);

/* What to do, in the words of the output's section, type and kind; the caller's to g_free. */
char *remedy_describe(const struct status *status, const struct output_state *output, enum fault fault);

#endif
