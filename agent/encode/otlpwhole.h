/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans that go on as their SDKs sent them, for otlp.c: a process, a scope, a Span (net/otlpitem.h). */
#ifndef ENCODE_OTLPWHOLE_H
#define ENCODE_OTLPWHOLE_H

#include "base/buffer.h"
#include "core/span.h"

/* Appends the span, which has `more`, as an item. Returns whether all texts were UTF-8; if not, nothing was
 * appended. */
bool otlpwhole_put(struct buffer *out, const struct span *span);

/* Appends just the Span, of which `more` says all that no tag or annotation does. Returns whether all texts
 * were UTF-8.
 */
bool otlpwhole_put_span(struct buffer *out, const struct span *span);

#endif
