/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span: the only model of it, whatever it was made from and wherever it goes. It is in Zipkin's terms as
 * far as these go; what only OpenTelemetry has is in struct span_more. Times are ns since the epoch, of which
 * Zipkin's formats carry whole microseconds. core/record.h is the same as bytes.
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

/*
 * What the program meant. The value of a number is text all the same: an integer that fits into int64_t, a
 * number that strtod reads, "true" or "false". That of TAG_BYTES is any bytes, and that of TAG_NONE is empty.
 * TAG_LIST and TAG_MAP are of values that core/value.h reads. The numbers are stored in records and must
 * never change.
 */
enum tag_type {
	TAG_TEXT,
	TAG_INT,
	TAG_DOUBLE,
	TAG_BOOL,
	TAG_BYTES,
	TAG_LIST,
	TAG_MAP,
	TAG_NONE, /* a value that is none */
	TAG_TYPES
};

struct tag {
	struct text key, value;
	enum tag_type type;
};

/* OpenTelemetry's attributes: tags, of which @dropped more were left out by whoever recorded them. */
struct attributes {
	const struct tag *tags;
	size_t count;
	uint32_t dropped;
};

/* Another span that this one has to do with. */
struct span_link {
	uint64_t trace_id_high, trace_id, id;
	struct text trace_state;
	uint32_t flags;
	struct attributes attributes;
};

/* The numbers are OTLP's. */
enum span_status { SPAN_STATUS_UNSET, SPAN_STATUS_OK, SPAN_STATUS_ERROR };

/*
 * What OpenTelemetry's SDKs say of a span, and Zipkin has no word for. A span that has it, and is not @ours,
 * was made by one of them: its tags are the attributes as they are, also one that is called `error`, its
 * process is `resource`, and `local` is what of that Zipkin shows.
 */
struct span_more {
	bool ours;      /* made by our header: as any other span, but that it also has links and so on */
	uint32_t flags; /* W3C's, and OTLP's bits above them */
	bool no_kind;   /* OTLP's SPAN_KIND_UNSPECIFIED, and not INTERNAL */
	struct text trace_state;
	enum span_status status;
	struct text status_message;
	uint32_t dropped_tags, dropped_annotations, dropped_links;
	const struct attributes *of_annotations; /* one for each annotation; NULL: none has any */
	const struct span_link *links;
	size_t link_count;
	struct text scope_name, scope_version, scope_schema;
	struct attributes scope;
	struct text resource_schema;
	struct attributes resource;
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
	int64_t last_event;           /* ns since the epoch: the latency is measured from here */
	const struct span_more *more; /* NULL: nothing of that, nor a tag of TAG_BYTES or a type after it */
	const struct tag *added; /* an output's `tags`: those whose keys the span has itself do not count */
	size_t added_count;
};

/* ns since the epoch. Of a record from a disk it may be anything. */
static inline int64_t span_end(const struct span *span)
{
	return (int64_t)((uint64_t)span->timestamp + (uint64_t)span->duration);
}

/* Zipkin's times, in us. Both ends are rounded, so that a child never ends after its parent. */
static inline int64_t span_timestamp_us(const struct span *span)
{
	return span->timestamp / 1000;
}

static inline int64_t span_duration_us(const struct span *span)
{
	int64_t us = span_end(span) / 1000 - span->timestamp / 1000;

	return span->duration && !us ? 1 : us;
}

#endif
