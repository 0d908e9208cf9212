/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans ready to be encoded, in Zipkin's terms. Independent of the events that they were made from. */
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
	int64_t time; /* us since the epoch */
	struct text value;
};

struct tag {
	struct text key, value;
};

/* A span ready to be encoded; everything in it is borrowed for the duration of a call. */
struct span {
	uint64_t trace_id_high, trace_id, id, parent_id;
	enum span_kind kind;
	bool shared; /* the server's half of a span that the client started under the same id */
	bool debug;
	bool classic; /* made of the events of the old libraries, which name the core annotations themselves
		       */
	int64_t timestamp; /* us since the epoch */
	int64_t duration;  /* us; 0: unknown */
	struct text name;
	struct endpoint local;
	bool has_remote;
	struct endpoint remote;
	const struct annotation *annotations;
	size_t annotation_count;
	const struct tag *tags;
	size_t tag_count;
	int64_t last_event; /* ns since the epoch: the latency is measured from here */
};

#endif
