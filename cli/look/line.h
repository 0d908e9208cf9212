/* SPDX-License-Identifier: BSD-2-Clause */
/* A span as a line, for `blkin tail`. */
#ifndef LOOK_LINE_H
#define LOOK_LINE_H

#include "base/buffer.h"
#include "look/style.h"
#include "status/trace/span2.h"

/*
 * Appends when it ended, how long it took, whether it failed, its service, name, kind, trace and tags; cut to
 * the style's width, unless that is 0.
 */
void line_put(struct buffer *out, const struct span2 *span, const struct trace_style *style);

#endif
