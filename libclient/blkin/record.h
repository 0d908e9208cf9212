/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the header hands to libblkin-provider.so.1: the record of a span, and the table of calls. Types only:
 * the provider and the agent include it too.
 *
 * Programs do not use this file directly; its names may change with the table's version.
 */
#ifndef BLKIN_RECORD_H_
#define BLKIN_RECORD_H_

#include <stdint.h>

/* The fields of the LTTng event blkin:span, in the provider's hands for one call. No pointer may be NULL. */
struct blkin_span_record {
	uint64_t trace_id_high; /* upper half of a 128-bit trace id, 0 for a 64-bit one */
	uint64_t trace_id;
	uint64_t span_id;
	uint64_t parent_id; /* 0: a root */
	uint64_t start;     /* CLOCK_MONOTONIC, ns: LTTng's own clock */
	uint64_t finish;    /* the same; 0: the moment of the event */
	uint16_t flags;     /* BLKIN_FLAG_* */
	uint16_t pieces;    /* how many blkin:annotation and blkin:tag events of this span went before */
	uint16_t port;      /* of the local endpoint, host order */
	const char *name;
	const char *service; /* name of the local endpoint */
	const char *ip;      /* of the local endpoint, text; "" if unknown */
	const char *data;    /* annotations, tags and the remote endpoint, a line each; see span.h */
};

/* blkin_span_record.flags: the kind in the low bits, then Zipkin's shared and debug, then the level. */
#define BLKIN_FLAG_KIND 0x0007u
#define BLKIN_FLAG_SHARED 0x0008u
#define BLKIN_FLAG_DEBUG 0x0010u
/* The severity level, exclusive-or 6, so that 0 is info. */
#define BLKIN_FLAG_LEVEL 0x00e0u
#define BLKIN_FLAG_LEVEL_SHIFT 5

/* syslog's eight severity levels */
#define BLKIN_LEVELS_ 8

/*
 * The table that libblkin-provider.so.1 exports as `blkin_provider_1`. It only ever grows at its end; `size`
 * tells how far it goes. An `_on` points to a tracepoint's state: not 0 while some session records that
 * event.
 */
struct blkin_provider {
	uint32_t size;
	const int *span_on[BLKIN_LEVELS_];
	const int *keyval_string_on;
	const int *keyval_integer_on;
	const int *timestamp_on;
	void (*span[BLKIN_LEVELS_])(const struct blkin_span_record *record);
	void (*annotation)(const struct blkin_span_record *record, uint64_t time, const char *value);
	void (*tag)(const struct blkin_span_record *record, const char *key, const char *value);
	void (*keyval_string)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *key, const char *val);
	void (*keyval_integer)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *key, int64_t val);
	void (*timestamp)(const char *trace_name, const char *service, int port, const char *ip,
		int64_t trace, int64_t span, int64_t parent_span, const char *event);
	int (*sample)(uint64_t id, uint64_t now, const char *service);
	void (*set_sampling)(uint32_t one_in, uint32_t per_second);
};

#endif
