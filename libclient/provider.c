/* SPDX-License-Identifier: BSD-2-Clause */
/* libblkin-provider.so.1: the tracepoints, and the table through which programs reach them. */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#define _LGPL_SOURCE
#include "reader.h"

#include <blkin/text.h>

#include "clock.h"
#include "fields.h"
#include "process.h"
#include "report.h"
#include "sampling.h"

/* What LTTng would compute of a span's field, from its size: of a sequence, its length comes first, and it
 * has no NUL. */
static inline size_t blkin_span_size(size_t *sizes, void *data, const char *piece, size_t bytes)
{
	(void)data;
	(void)piece;
#ifdef BLKIN_SEQUENCE
	sizes[0] = bytes - 1;
	return BLKIN_FRONT_ + bytes - 1;
#else
	sizes[0] = bytes;
	return bytes;
#endif
}

/* The same of a classic event's. */
static inline size_t blkin_fields_size(size_t *sizes, void *data, const struct fields *fields)
{
	(void)data;
	for (unsigned i = 0; !fields->together && i < fields->texts; i++)
		sizes[i] = fields->sizes[i];
	return fields->size;
}

#include "tracepoints.h"

/* A span that is not in one piece yet */
struct parts {
	const struct blkin_span_record *record;
	size_t name_size, data_size; /* without their NULs */
};

/* Puts it into a text, which has room for it; another thread may change the name meanwhile. */
static void compose(char *text, size_t size, const struct parts *parts)
{
	const struct blkin_span_record *record = parts->record;
	char *to = text + BLKIN_IDS_TEXT_, *end = text + size - 1; /* where its NUL is */

	blkin_put_ids_(text, record->trace_id, record->span_id, record->parent_id, record->start);
	if (parts->name_size < 10)
		*to++ = '0';
	to = blkin_put_number_(to, parts->name_size);
	*to++ = ' ';
	memcpy(to, record->name, parts->name_size);
	to += parts->name_size;
	*to++ = '\n';
	memcpy(to, record->data, parts->data_size);
	*end = '\0';
	for (to = text; (to = memchr(to, '\0', (size_t)(end - to))); to++)
		*to = ' ';
}

static size_t size_of(const struct parts *parts)
{
	return BLKIN_IDS_TEXT_ + (parts->name_size < 10) + blkin_digits_(parts->name_size) + 1 +
	       parts->name_size + 1 + parts->data_size + 1;
}

/*
 * The program's errno stays what it is: it may be about to look at it, in a function whose span ends as it
 * returns. LTTng leaves its own there, as when a thread is new to it, or its consumer daemon is gone.
 */
#define KEEP_ERRNO(call)                                                                                     \
	do {                                                                                                 \
		const int kept = errno;                                                                      \
		call;                                                                                        \
		errno = kept;                                                                                \
	} while (0)

/* What most spans fit into; for a larger one the kernel is asked for memory, which is safe in any thread and
 * signal handler. */
#define PIECE_SIZE 4096
/* Without memory, so much of the name is better than nothing; the data is no larger than that (span.h). */
#define NAME_CUT 1000
#define DATA_CUT 2900

/* Writes it in one piece. */
static __attribute__((noinline)) void write_record(
	blkin_whole_span write, const struct blkin_span_record *record)
{
	struct parts parts = {record, strlen(record->name), strlen(record->data)};
	const int kept = errno;
	size_t size = size_of(&parts);
	char small[BLKIN_FRONT_ + PIECE_SIZE], *piece = small;

	if (size > PIECE_SIZE)
		piece = mmap(NULL, BLKIN_FRONT_ + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	if (piece == MAP_FAILED) {
		parts.name_size = parts.name_size < NAME_CUT ? parts.name_size : NAME_CUT;
		parts.data_size = parts.data_size < DATA_CUT ? parts.data_size : DATA_CUT;
		size = size_of(&parts);
		piece = small;
	}
	compose(piece + BLKIN_FRONT_, size, &parts);
	write(piece, size);
	if (piece != small)
		munmap(piece, BLKIN_FRONT_ + size);
	errno = kept;
}

/* A sequence's, as LTTng has it in front of it. */
static inline void put_length(char *piece, size_t size)
{
#ifdef BLKIN_SEQUENCE
	uint32_t length = (uint32_t)(size - 1);

	static_assert(sizeof(length) == BLKIN_FRONT_, "there is room for the length");
	memcpy(piece, &length, sizeof(length));
#else
	(void)piece;
	(void)size;
#endif
}

/* A span in one piece; and in a record, as those of older programs are, and those with long names. */
#define DEFINE_SPAN(level)                                                                                   \
	static void whole_##level(char *piece, size_t size)                                                  \
	{                                                                                                    \
		put_length(piece, size);                                                                     \
		KEEP_ERRNO(lttng_ust_do_tracepoint(blkin, level, piece, size));                              \
	}                                                                                                    \
	static void level(const struct blkin_span_record *record)                                            \
	{                                                                                                    \
		write_record(whole_##level, record);                                                         \
	}

DEFINE_SPAN(span2_emerg)
DEFINE_SPAN(span2_alert)
DEFINE_SPAN(span2_crit)
DEFINE_SPAN(span2_err)
DEFINE_SPAN(span2_warning)
DEFINE_SPAN(span2_notice)
DEFINE_SPAN(span2)
DEFINE_SPAN(span2_debug)

static void annotation(const struct blkin_span_record *record, uint64_t time, const char *value)
{
	KEEP_ERRNO(lttng_ust_tracepoint(blkin, annotation, record, time, value));
}

static void tag(const struct blkin_span_record *record, const char *key, const char *value)
{
	KEEP_ERRNO(lttng_ust_tracepoint(blkin, tag, record, key, value));
}

/* Aligned as LTTng aligns. */
static inline BLKIN_INLINE_ void put_together(struct fields *fields, enum fields_kind kind)
{
	fields_prepare(fields, kind, lttng_ust_rb_alignof(int), lttng_ust_rb_alignof(int64_t));
}

static void keyval_string(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, const char *val)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.key = key;
	fields.text = val;
	put_together(&fields, FIELDS_KEY_TEXT);
	KEEP_ERRNO(lttng_ust_do_tracepoint(blkin, keyval_string, &fields));
}

static void keyval_integer(const char *trace_name, const char *service, int port, const char *ip,
	int64_t trace, int64_t span, int64_t parent_span, const char *key, int64_t val)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.key = key;
	fields.number = val;
	put_together(&fields, FIELDS_KEY_NUMBER);
	KEEP_ERRNO(lttng_ust_do_tracepoint(blkin, keyval_integer, &fields));
}

static void timestamp(const char *trace_name, const char *service, int port, const char *ip, int64_t trace,
	int64_t span, int64_t parent_span, const char *event)
{
	struct fields fields;

	fields_set_head(&fields, trace_name, service, port, ip, trace, span, parent_span);
	fields.text = event;
	put_together(&fields, FIELDS_TEXT);
	KEEP_ERRNO(lttng_ust_do_tracepoint(blkin, timestamp, &fields));
}

__attribute__((visibility("default"))) extern const struct blkin_provider blkin_provider_1;

const struct blkin_provider blkin_provider_1 = {
	.size = sizeof(struct blkin_provider),
	.span_on = {&lttng_ust_tracepoint_blkin___span2_emerg.state,
		&lttng_ust_tracepoint_blkin___span2_alert.state,
		&lttng_ust_tracepoint_blkin___span2_crit.state, &lttng_ust_tracepoint_blkin___span2_err.state,
		&lttng_ust_tracepoint_blkin___span2_warning.state,
		&lttng_ust_tracepoint_blkin___span2_notice.state, &lttng_ust_tracepoint_blkin___span2.state,
		&lttng_ust_tracepoint_blkin___span2_debug.state},
	.keyval_string_on = &lttng_ust_tracepoint_blkin___keyval_string.state,
	.keyval_integer_on = &lttng_ust_tracepoint_blkin___keyval_integer.state,
	.timestamp_on = &lttng_ust_tracepoint_blkin___timestamp.state,
	.span = {span2_emerg, span2_alert, span2_crit, span2_err, span2_warning, span2_notice, span2,
		span2_debug},
	.annotation = annotation,
	.tag = tag,
	.keyval_string = keyval_string,
	.keyval_integer = keyval_integer,
	.timestamp = timestamp,
	.sample = sampling_decide,
	.set_sampling = sampling_set,
	.process = &process,
	.clock = &clock_shared,
	.whole = {whole_span2_emerg, whole_span2_alert, whole_span2_crit, whole_span2_err,
		whole_span2_warning, whole_span2_notice, whole_span2, whole_span2_debug},
};

__attribute__((visibility("default"))) extern const struct blkin_report blkin_report_1;

const struct blkin_report blkin_report_1 = {.print = report_print};
