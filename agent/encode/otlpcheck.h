/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether bytes are a message of OTLP, before any of it is used; and how much room reading it takes. */
#ifndef ENCODE_OTLPCHECK_H
#define ENCODE_OTLPCHECK_H

#include "encode/otlpschema.h"

/* The most that a resource, a scope or a span has of each. */
struct otlpcheck_most {
	size_t attributes; /* those of its events and links, too */
	size_t events, links;
	size_t bytes;
};

/*
 * As parsers of Protocol Buffers have it: false if something is cut off or has no type, or a text is not
 * UTF-8; what is not known, or of another type, does not count. So does what is nested deeper than values may
 * be. @most, zeroed at first, grows.
 */
bool otlpcheck(const struct otlp_message *of, const uint8_t *bytes, size_t size, struct otlpcheck_most *most);

#endif
