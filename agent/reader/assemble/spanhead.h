/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parses the head line of a span's data, which says what the span is, and where (blkin/span.h). Also numbers
 * and endpoints, which other lines contain too.
 */
#ifndef READER_ASSEMBLE_SPANHEAD_H
#define READER_ASSEMBLE_SPANHEAD_H

#include "core/span.h"
#include "reader/assemble/endpointcache.h"

/*
 * Parses "KIND PORT IP SERVICE", without a line break. The result borrows from @line. Returns false if it is
 * malformed. @cache may be NULL.
 */
bool span_head_read(struct span_head *head, struct text line, struct endpoint_cache *cache);

/* Parses "PORT IP SERVICE" up to @end. */
bool span_endpoint_read(struct endpoint *endpoint, const char *at, const char *end);

/* Reads decimal digits up to @end; returns where they end, or NULL if there are none or more than 18. */
static inline const char *span_number_read(const char *at, const char *end, uint64_t *number)
{
	const char *first = at;
	uint64_t value = 0;
	unsigned digit;

	for (; at < end && (digit = (unsigned char)*at - (unsigned)'0') <= 9; at++)
		value = value * 10 + digit;
	*number = value;
	return at == first || at - first > 18 ? NULL : at;
}

#endif
