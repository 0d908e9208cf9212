/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Span of Zipkin's version 1 in TBinary (proto/zipkinCore.thrift), as whoever wrote it says it: what it
 * means is for the caller to find out, as spanread_thrift does. Texts borrow from the bytes; one that is not
 * there has no data.
 */
#ifndef ENCODE_ZIPKINWIRE_H
#define ENCODE_ZIPKINWIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

/* Types of binary annotations. */
enum { ZIPKINWIRE_BOOL = 0, ZIPKINWIRE_STRING = 6, ZIPKINWIRE_NO_TYPE = -1 };

struct zipkinwire_host {
	struct text service;
	uint32_t ipv4;    /* in the machine's order; 0: none */
	struct text ipv6; /* the address itself, of 16 bytes, if it is one */
	uint16_t port;    /* 0: none */
};

struct zipkinwire_annotation {
	int64_t time; /* us */
	struct text value;
	const struct zipkinwire_host *host; /* NULL: it has none */
};

struct zipkinwire_tag {
	struct text key, value;
	int32_t type;
	const struct zipkinwire_host *host; /* the same */
};

/* Times are in us; 0: it says none. */
struct zipkinwire_span {
	uint64_t trace_id_high, trace_id, id, parent_id;
	struct text name;
	int64_t timestamp, duration;
	bool debug;
};

/* Who is shown each annotation, and each tag, in their order; the others of the span's fields may come before
 * or behind. */
struct zipkinwire_sink {
	void (*annotation)(void *data, const struct zipkinwire_annotation *annotation);
	void (*tag)(void *data, const struct zipkinwire_tag *tag);
	void *data;
};

/* Returns how many of the bytes it takes; 0 if it ends too early, or is nothing of TBinary's. */
size_t zipkinwire_read(
	struct zipkinwire_span *span, const uint8_t *bytes, size_t size, const struct zipkinwire_sink *sink);

#endif
