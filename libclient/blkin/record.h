/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the header passes to libblkin-provider.so.1: the record of a span, and the table of calls. Types only:
 * the provider and the agent include it too.
 *
 * Programs do not use this file directly; its names may change with the table's version.
 */
#ifndef BLKIN_RECORD_H_
#define BLKIN_RECORD_H_

#include <stddef.h>
#include <stdint.h>

/*
 * A span as older providers and pieces have it, borrowed by the provider for one call. No pointer may be
 * NULL.
 */
struct blkin_span_record {
	uint64_t trace_id; /* its lower half, if it has 128 bits */
	uint64_t span_id;
	uint64_t parent_id; /* 0: a root */
	uint64_t start;     /* CLOCK_MONOTONIC, ns: LTTng's own clock */
	const char *name;
	const char *data; /* a head line, then a line for each annotation and so on; see span.h */
};

/* Bytes for a line about the process */
#define BLKIN_PROCESS_LINE_ 48

/* The line about the process: see span.h. All of it is copied, of which only its size counts. */
struct blkin_process {
	uint32_t size;
	char line[BLKIN_PROCESS_LINE_];
};

/*
 * The processor's counter as a clock, for <blkin/clock.h>: one for all of the process, changed by the
 * provider at any time. A reader takes all of it or, if `turn` is odd or becomes another one meanwhile,
 * nothing.
 */
struct blkin_clock {
	uint64_t turn;
	uint64_t ticks, time; /* the counter, and CLOCK_MONOTONIC, ns, then */
	uint64_t rate;        /* of time to ticks, times 2^32 */
	uint64_t window;      /* how many ticks that can be used for; 0: it cannot */
	uint64_t least;       /* no reading may be before that: one was handed out */
	uint64_t unused_too;
	/* Reads the time, with the ticks just now or 0, and renews the above; NULL: this clock cannot be
	 * used. */
	uint64_t (*read)(uint64_t ticks);
} __attribute__((aligned(64)));

/* syslog's eight severity levels */
#define BLKIN_LEVELS_ 8

/* Bytes in front of the text in what is handed to blkin_whole_span */
#define BLKIN_FRONT_ 4

/*
 * Writes a span's event, blkin:span2 or that of another level: @piece has BLKIN_FRONT_ bytes that the
 * provider may write, and then the text as it is in the event (see span.h). The size is the text's with its
 * NUL, which must be the only one. Nobody may change it during the call.
 */
typedef void (*blkin_whole_span)(char *piece, size_t size);

/*
 * The table that libblkin-provider.so.1 exports as `blkin_provider_1`. New members are only added at its end;
 * `size` is its size. An `_on` points to a tracepoint's state: not 0 while some session records this event.
 */
struct blkin_provider {
	uint32_t size;
	const int *span_on[BLKIN_LEVELS_];
	const int *keyval_string_on;
	const int *keyval_integer_on;
	const int *timestamp_on;
	void (*span[BLKIN_LEVELS_])(const struct blkin_span_record *record);
	/*
	 * Pieces, which are written before their span: the record's data is the span's head line, without the
	 * line break.
	 */
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
	const struct blkin_process *process;
	/* What follows is newer: a program may find a table without it. */
	const struct blkin_clock *clock;
	blkin_whole_span whole[BLKIN_LEVELS_];
};

/* The size of the oldest table that programs can use. */
#define BLKIN_PROVIDER_LEAST_ offsetof(struct blkin_provider, clock)

/* What the library also exports, as `blkin_report_1`: prints the line that BLKIN_DEBUG asks for. */
struct blkin_report {
	void (*print)(void);
};

#endif
