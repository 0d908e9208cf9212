/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans ready to be encoded, in Zipkin's terms. Independent of the events that they were made from. Times are
 * ns since the epoch, of which Zipkin's formats carry whole microseconds.
 */
#ifndef CORE_SPAN_H
#define CORE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

enum span_kind { SPAN_LOCAL, SPAN_CLIENT, SPAN_SERVER, SPAN_PRODUCER, SPAN_CONSUMER };

struct endpoint {
	struct text service;
	uint8_t address[16];  /* network order; IPv4 in the first four bytes */
	uint8_t address_size; /* 0, 4 or 16 */
	uint16_t port;
};

struct annotation {
	int64_t time; /* ns since the epoch */
	struct text value;
};

/* What the program meant. The value is text all the same: an integer that fits into int64_t, a number that
 * strtod reads, "true" or "false". */
enum tag_type { TAG_TEXT, TAG_INT, TAG_DOUBLE, TAG_BOOL, TAG_TYPES };

struct tag {
	struct text key, value;
	enum tag_type type;
};

/* A span ready to be encoded; everything in it is borrowed for the duration of a call. */
struct span {
	uint64_t trace_id_high, trace_id, id, parent_id;
	enum span_kind kind;
	bool shared; /* the server's half of a span that the client started under the same id */
	bool debug;
	bool classic; /* made of the events of the old libraries, which name the core annotations themselves
		       */
	int64_t timestamp; /* ns since the epoch */
	int64_t duration;  /* ns; 0: unknown */
	struct text name;
	uint32_t pid;        /* of the program, as it sees itself; 0: unknown */
	struct text program; /* the name of its file */
	bool has_user;       /* whose programs' events are recorded apart: */
	uint32_t user;       /* the program's */
	struct endpoint local;
	bool has_remote;
	struct endpoint remote;
	const struct annotation *annotations;
	size_t annotation_count;
	const struct tag *tags;
	size_t tag_count;
	int64_t last_event; /* ns since the epoch: the latency is measured from here */
};

/* Zipkin's times, in us. Both ends are rounded, so that a child never ends after its parent. */
static inline int64_t span_timestamp_us(const struct span *span)
{
	return span->timestamp / 1000;
}

static inline int64_t span_duration_us(const struct span *span)
{
	int64_t us = (span->timestamp + span->duration) / 1000 - span->timestamp / 1000;

	return span->duration && !us ? 1 : us;
}

#endif
