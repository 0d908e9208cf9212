/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace as the page shows it: its spans below each other, each a bar from when it began to its end. */
#ifndef STATUS_WATERFALL_H
#define STATUS_WATERFALL_H

#include "base/buffer.h"
#include "status/tracefind.h"

/* Appends the trace; @ui: as of pagetrace_write. */
void waterfall_write(struct buffer *out, const struct found_trace *found, const char *ui);

#endif
