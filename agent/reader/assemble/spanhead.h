/* SPDX-License-Identifier: BSD-2-Clause */
/* Parses the head line of a span's data, which says what the span is, and where (blkin/span.h). */
#ifndef READER_ASSEMBLE_SPANHEAD_H
#define READER_ASSEMBLE_SPANHEAD_H

#include "core/span.h"
#include "reader/assemble/endpointcache.h"

/*
 * Parses "KIND PORT IP SERVICE", without a line break. The result borrows from @line. Returns false if it is
 * malformed. @cache may be NULL.
 */
bool span_head_read(struct span_head *head, struct text line, struct endpoint_cache *cache);

#endif
