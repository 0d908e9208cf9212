/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bytes are a message of OTLP, before any of it is used; and how much room it takes. */
#ifndef ENCODE_OTLPCHECK_H
#define ENCODE_OTLPCHECK_H

#include "encode/otlpschema.h"

struct otlpcheck_found {
	/* The most that a resource, a scope or a span has of each. */
	size_t attributes; /* those of its events and links, too */
	size_t events, links;
	size_t bytes;
	size_t reading; /* and the most memory that reading one of them takes */
	/*
	 * Of a request: what its spans, or log records, take as items, at most. Each has its resource and its
	 * scope, which the request has but once, so that a few bytes of it may stand for many.
	 */
	size_t records;
};

/*
 * As parsers of Protocol Buffers have it: false if something is cut off or has no type, or a text is not
 * UTF-8; what is not known, or of another type, does not count. So does what is nested deeper than values may
 * be. @found, zeroed at first, grows.
 */
bool otlpcheck(
	const struct otlp_message *of, const uint8_t *bytes, size_t size, struct otlpcheck_found *found);

#endif
