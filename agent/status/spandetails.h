/* SPDX-License-Identifier: BSD-2-Clause */
/* All that a span has, as the page's waterfall shows it at a click. */
#ifndef STATUS_SPANDETAILS_H
#define STATUS_SPANDETAILS_H

#include <stdint.h>

#include "base/buffer.h"
#include "status/trace/span2.h"

/* Annotations shown of a span, and tags. */
#define SPANDETAILS_LINES 100

/* Appends a table; @start: the trace's, in us since the epoch. */
void spandetails_write(struct buffer *out, const struct span2 *span, int64_t start);

#endif
