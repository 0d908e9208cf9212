/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans of all kinds, made at random. */
#ifndef RANDOMSPAN_H
#define RANDOMSPAN_H

#include <stdbool.h>
#include <stdint.h>

#include "core/span.h"

struct random_spans;

struct random_spans *random_spans_create(uint32_t seed);
void random_spans_free(struct random_spans *spans);

/* Valid until the next one. No key comes twice. @core: some annotations are called as the core annotations
 * are. */
const struct span *random_span(struct random_spans *spans, bool core);

#endif
