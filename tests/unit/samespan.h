/* SPDX-License-Identifier: BSD-2-Clause */
/* Comparing spans with all that they have. */
#ifndef SAMESPAN_H
#define SAMESPAN_H

#include "core/span.h"

/* Fails the test unless both say the same, but for `added`. */
void assert_same_span(const struct span *one, const struct span *other);

#endif
