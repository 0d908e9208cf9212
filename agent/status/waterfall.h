/* SPDX-License-Identifier: BSD-2-Clause */
/* One trace as the page shows it: its spans below each other, each a bar from when it began to its end, and
 * where the time of late ones went below that. */
#ifndef STATUS_WATERFALL_H
#define STATUS_WATERFALL_H

#include "base/buffer.h"
#include "config/config.h"
#include "status/tracefind.h"

/* Appends the trace. */
void waterfall_write(struct buffer *out, const struct found_trace *found, const struct config *config);

#endif
