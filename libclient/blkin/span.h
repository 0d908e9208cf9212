/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The span API: a span lives on the caller's stack and is written as one LTTng event, blkin:span, when it
 * finishes.
 *
 *     struct blkin_span span;
 *
 *     blkin_span_start(&span, BLKIN_SERVER, "read", &here, &received);
 *     blkin_span_annotate(&span, "cache miss");
 *     blkin_span_tag(&span, "object", name);
 *     blkin_span_finish(&span);
 *
 * While no session records spans, or the trace is not sampled, each call costs one branch.
 *
 * The event's `data` field holds a line, ended by '\n', for each
 *     annotation       +NANOSECONDS VALUE    (after the span's start; -NANOSECONDS before it)
 *     tag              KEY=VALUE
 *     remote endpoint  @PORT IP SERVICE      (IP is "-" if unknown)
 * An annotation or tag that has no room there, or that a line cannot hold (a line break; a key with '=' or
 * that starts with '+', '-' or '@'), goes before the span in an event of its own, blkin:annotation or
 * blkin:tag, whole; the span tells in `pieces` how many did.
 */
#ifndef BLKIN_SPAN_H_
#define BLKIN_SPAN_H_

#include <string.h>

#include <blkin/context.h>
#include <blkin/endpoint.h>
#include <blkin/id.h>
#include <blkin/provider.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of annotations and tags that a span carries in its own event. */
#ifndef BLKIN_SPAN_TEXT
#define BLKIN_SPAN_TEXT 480
#endif
#if BLKIN_SPAN_TEXT > 2048
#error "BLKIN_SPAN_TEXT can be 2048 at most: the agent takes 1024 lines of a span, of two bytes at least"
#endif
/* Longest name of a remote service; what is beyond is cut. */
#define BLKIN_REMOTE_NAME 255
/* Room behind the text for the remote endpoint's line: "@65535 " + address + ' ' + name + '\n' + NUL. */
#define BLKIN_REMOTE_TEXT_ (7 + 48 + 1 + BLKIN_REMOTE_NAME + 2)

/** enum blkin_level - how much a span matters: syslog's eight severity levels, the lowest number the most */
enum blkin_level {
	BLKIN_EMERG = 0,
	BLKIN_ALERT = 1,
	BLKIN_CRIT = 2,
	BLKIN_ERR = 3,
	BLKIN_WARNING = 4,
	BLKIN_NOTICE = 5,
	BLKIN_INFO = 6,
	BLKIN_DEBUG = 7
};

/** enum blkin_kind - Zipkin's span kinds; a span that crosses no process boundary is local */
enum blkin_kind {
	BLKIN_LOCAL = 0,
	BLKIN_CLIENT = 1,
	BLKIN_SERVER = 2,
	BLKIN_PRODUCER = 3,
	BLKIN_CONSUMER = 4
};

/**
 * struct blkin_span - a span in progress
 *
 * Its owner is whoever holds it: one thread at a time. It needs no destruction; without blkin_span_finish it
 * is never recorded. Its fields are the library's, but for the context, which blkin_span_context reads.
 */
struct blkin_span {
	struct blkin_context context;
	int recording;
	enum blkin_level level;
	uint32_t used; /* bytes of text */
	const struct blkin_endpoint *remote;
	struct blkin_span_record record;
	char text[BLKIN_SPAN_TEXT + BLKIN_REMOTE_TEXT_];
};

/**
 * blkin_tracing_level - whether a session records spans of a level at this moment
 *
 * Returns not 0 if one does. For work that is only worth doing for a span; the calls below ask by themselves.
 */
static inline int blkin_tracing_level(enum blkin_level level)
{
	return __builtin_expect(__atomic_load_n(blkin_provider_->span_on[level], __ATOMIC_RELAXED) != 0, 0) !=
	       0;
}

/** blkin_tracing - whether a session records spans of level info, which blkin_span_start gives them */
static inline int blkin_tracing(void)
{
	return blkin_tracing_level(BLKIN_INFO);
}

static inline void blkin_span_begin_(struct blkin_span *span, enum blkin_kind kind, unsigned flags,
	const char *name, const struct blkin_endpoint *local, uint64_t start)
{
	struct blkin_span_record *record = &span->record;

	span->recording = 1;
	record->trace_id_high = span->context.trace_id_high;
	record->trace_id = span->context.trace_id;
	record->span_id = span->context.span_id;
	record->parent_id = span->context.parent_id;
	record->finish = 0;
	record->flags = (uint16_t)((unsigned)kind | flags | (span->context.debug ? BLKIN_FLAG_DEBUG : 0u) |
				   ((unsigned)span->level ^ (unsigned)BLKIN_INFO) << BLKIN_FLAG_LEVEL_SHIFT);
	record->pieces = 0;
	record->port = local ? (uint16_t)local->port : (uint16_t)0;
	record->name = name ? name : "";
	record->service = local && local->name ? local->name : "";
	record->ip = local && local->ip ? local->ip : "";
	record->start = start;
}

/* What every started span has, recorded or not. Without a parent nothing is known of a trace yet. */
static inline void blkin_span_prepare_(
	struct blkin_span *span, enum blkin_level level, const struct blkin_context *parent)
{
	static const struct blkin_context unknown = {0, 0, 0, 0, 0, 1, 0};

	span->recording = 0;
	span->used = 0;
	span->remote = NULL;
	span->level = (enum blkin_level)((unsigned)level % BLKIN_LEVELS_);
	span->context = parent ? *parent : unknown;
}

/* Whether the trace is sampled, or may be: nobody has decided yet. */
static inline int blkin_span_wanted_(const struct blkin_span *span)
{
	return span->context.trace_id || span->context.deferred;
}

/* Decides, where nobody has, whether the trace is sampled: a new one, with the root id @id, or a received
 * one. */
static inline int blkin_span_sampled_(
	struct blkin_span *span, uint64_t id, uint64_t start, const struct blkin_endpoint *local)
{
	struct blkin_context *context = &span->context;
	int sample;

	if (!context->deferred)
		return 1;
	sample = context->debug || blkin_provider_->sample(context->trace_id ? context->trace_id : id, start,
					   local && local->name ? local->name : "");
	if (sample && !context->trace_id)
		context->trace_id = id;
	blkin_context_decide(context, sample);
	context->deferred = 0;
	return sample;
}

/**
 * blkin_span_start_level - start a span of a level other than info
 * @level: how much it matters; the node's configuration says down to which level spans are recorded. Zipkin
 * shows another level than info as the tag `level`.
 * @span, @kind, @name, @local, @parent: as for blkin_span_start
 */
static inline void blkin_span_start_level(struct blkin_span *span, enum blkin_level level,
	enum blkin_kind kind, const char *name, const struct blkin_endpoint *local,
	const struct blkin_context *parent)
{
	uint64_t start, id;

	blkin_span_prepare_(span, level, parent);
	if (!blkin_tracing_level(span->level) || !blkin_span_wanted_(span))
		return;
	start = blkin_now();
	id = blkin_id();
	if (!blkin_span_sampled_(span, id, start, local))
		return;
	span->context.parent_id = span->context.span_id;
	span->context.span_id = id;
	blkin_span_begin_(span, kind, 0, name, local, start);
}

/**
 * blkin_span_start - start a span
 * @span: the caller's memory, of any content
 * @kind: what the span is
 * @name: what is being done, as "read"; borrowed until the span finishes
 * @local: where; borrowed until the span finishes; NULL if unknown
 * @parent: the span that it is part of, or the context that came with the request; NULL: a new trace begins
 * here
 *
 * A span whose parent is not sampled is not sampled either; whether a new trace is, or one that the sender
 * left to the receiver to decide, blkin_sampling() tells. While no session records spans, the span hands its
 * parent's context on unchanged.
 */
static inline void blkin_span_start(struct blkin_span *span, enum blkin_kind kind, const char *name,
	const struct blkin_endpoint *local, const struct blkin_context *parent)
{
	blkin_span_start_level(span, BLKIN_INFO, kind, name, local, parent);
}

/**
 * blkin_sampling - choose how many of this program's traces are recorded
 * @one_in: 1/@one_in of the traces that begin here; 0 and 1: all
 * @per_second: but so many a second at most; 0: no cap
 *
 * It is decided once for a trace, at its root. BLKIN_SAMPLE=1/100 in the environment outweighs @one_in, and
 * what the node's administrator says by `blkin sampling` outweighs both; the cap stays. Without LTTng it does
 * nothing.
 */
static inline void blkin_sampling(uint32_t one_in, uint32_t per_second)
{
	blkin_provider_->set_sampling(one_in, per_second);
}

/**
 * blkin_span_join - start the server's half of a client's span
 * @span, @name, @local: as for blkin_span_start
 * @received: the context of the client's span, as it came with the request
 *
 * The server records under the client's own span id, as B3 peers do, and Zipkin shows both halves as one
 * span. With blkin_span_start(..., BLKIN_SERVER, ..., received) the server's span is a child of the client's
 * instead, as BlkKin and OpenTelemetry do.
 */
static inline void blkin_span_join(struct blkin_span *span, const char *name,
	const struct blkin_endpoint *local, const struct blkin_context *received)
{
	uint64_t start;

	if (!received->span_id) { /* only a decision came: the client has no span */
		blkin_span_start(span, BLKIN_SERVER, name, local, received);
		return;
	}
	blkin_span_prepare_(span, BLKIN_INFO, received);
	if (!blkin_tracing() || !blkin_span_wanted_(span))
		return;
	start = blkin_now();
	if (blkin_span_sampled_(span, received->span_id, start, local))
		blkin_span_begin_(span, BLKIN_SERVER, BLKIN_FLAG_SHARED, name, local, start);
}

/**
 * blkin_span_context - the context to send along with a request made within this span
 *
 * Returns a pointer into @span.
 */
static inline const struct blkin_context *blkin_span_context(const struct blkin_span *span)
{
	return &span->context;
}

/* Writes @number in decimal at @to, which has room for 20 digits; returns where it ends. */
static inline char *blkin_put_number_(char *to, uint64_t number)
{
	char digits[20];
	unsigned n = 0;

	do {
		digits[sizeof(digits) - ++n] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(to, digits + sizeof(digits) - n, n);
	return to + n;
}

/* Room for a line of up to @need bytes in the span's own event, or NULL. */
static inline char *blkin_span_room_(struct blkin_span *span, size_t need)
{
	return need <= (size_t)(BLKIN_SPAN_TEXT - span->used) ? span->text + span->used : NULL;
}

static inline void blkin_span_count_piece_(struct blkin_span *span)
{
	if (span->record.pieces < UINT16_MAX)
		span->record.pieces++;
}

static inline void blkin_span_tag_piece_(struct blkin_span *span, const char *key, const char *value)
{
	blkin_provider_->tag(&span->record, key, value);
	blkin_span_count_piece_(span);
}

/**
 * blkin_span_annotate_at - record that something happened, at a given time
 * @span: a started span
 * @time: from blkin_now()
 * @value: what happened; copied; NULL is ignored
 */
static inline void blkin_span_annotate_at(struct blkin_span *span, uint64_t time, const char *value)
{
	size_t size;
	char *to;

	if (!span->recording || !value)
		return;
	size = strlen(value);
	to = blkin_span_room_(span, size + 23);
	if (!to || memchr(value, '\n', size)) {
		blkin_provider_->annotation(&span->record, time, value);
		blkin_span_count_piece_(span);
		return;
	}
	*to++ = time >= span->record.start ? '+' : '-';
	to = blkin_put_number_(
		to, time >= span->record.start ? time - span->record.start : span->record.start - time);
	*to++ = ' ';
	memcpy(to, value, size);
	to[size] = '\n';
	span->used = (uint32_t)(to + size + 1 - span->text);
}

/**
 * blkin_span_annotate - record that something happens now
 * @span: a started span
 * @value: what happens, as "cache miss"; copied; NULL is ignored
 */
static inline void blkin_span_annotate(struct blkin_span *span, const char *value)
{
	if (span->recording)
		blkin_span_annotate_at(span, blkin_now(), value);
}

/**
 * blkin_span_tag - describe the span by a key and a value
 * @span: a started span
 * @key, @value: copied; NULL is ignored; of equal keys the last one counts in Zipkin
 */
static inline void blkin_span_tag(struct blkin_span *span, const char *key, const char *value)
{
	size_t key_size, value_size;
	char *to;

	if (!span->recording || !key || !value)
		return;
	key_size = strlen(key);
	value_size = strlen(value);
	to = blkin_span_room_(span, key_size + value_size + 2);
	if (!to || *key == '+' || *key == '-' || *key == '@' || memchr(key, '=', key_size) ||
		memchr(key, '\n', key_size) || memchr(value, '\n', value_size)) {
		blkin_span_tag_piece_(span, key, value);
		return;
	}
	memcpy(to, key, key_size);
	to += key_size;
	*to++ = '=';
	memcpy(to, value, value_size);
	to[value_size] = '\n';
	span->used = (uint32_t)(to + value_size + 1 - span->text);
}

/**
 * blkin_span_tag_int - the same with a whole number, recorded as its decimal text, as Zipkin's tags are text
 */
static inline void blkin_span_tag_int(struct blkin_span *span, const char *key, int64_t value)
{
	char text[22], *to = text;

	if (!span->recording)
		return;
	if (value < 0)
		*to++ = '-';
	*blkin_put_number_(to, value < 0 ? 0u - (uint64_t)value : (uint64_t)value) = '\0';
	blkin_span_tag(span, key, text);
}

/**
 * blkin_span_remote - tell who is at the other end of a client, server, producer or consumer span
 * @span: a started span
 * @remote: borrowed until the span finishes; of a name longer than BLKIN_REMOTE_NAME the beginning is
 * recorded
 */
static inline void blkin_span_remote(struct blkin_span *span, const struct blkin_endpoint *remote)
{
	if (span->recording)
		span->remote = remote;
}

/* Appends the line of the remote endpoint, for which the span has room set aside. */
static inline void blkin_span_put_remote_(struct blkin_span *span)
{
	const struct blkin_endpoint *remote = span->remote;
	const char *ip = remote->ip && *remote->ip && strlen(remote->ip) < 48 ? remote->ip : "-";
	char *to = span->text + span->used;
	size_t size;

	*to++ = '@';
	to = blkin_put_number_(to, (uint16_t)remote->port);
	*to++ = ' ';
	for (; *ip; ip++)
		*to++ = *ip == ' ' || *ip == '\n' ? '?' : *ip;
	*to++ = ' ';
	for (size = 0; size < BLKIN_REMOTE_NAME && remote->name && remote->name[size]; size++)
		*to++ = remote->name[size] == '\n' ? ' ' : remote->name[size];
	*to++ = '\n';
	span->used = (uint32_t)(to - span->text);
}

/**
 * blkin_span_finish_at - finish the span at a given time
 * @span: a started span; finishing it twice records it once
 * @time: from blkin_now(), not before its start; 0: now
 */
static inline void blkin_span_finish_at(struct blkin_span *span, uint64_t time)
{
	if (!span->recording)
		return;
	span->recording = 0;
	if (span->remote)
		blkin_span_put_remote_(span);
	span->text[span->used] = '\0';
	span->record.data = span->text;
	span->record.finish = time;
	if (blkin_tracing_level(span->level))
		blkin_provider_->span[span->level](&span->record);
}

/**
 * blkin_span_finish - finish the span now, and record it
 * @span: a started span; finishing it twice records it once
 */
static inline void blkin_span_finish(struct blkin_span *span)
{
	blkin_span_finish_at(span, 0);
}

/**
 * BLKIN_SPAN - a span for the rest of the block that this stands in: declared, started, and finished on every
 * way out
 * @span: the name of the variable
 * @kind, @name, @local, @parent: as for blkin_span_start
 *
 * For C, by GCC's and Clang's cleanup attribute; C++ has blkin::Span in <blkin/span.hpp>.
 */
#define BLKIN_SPAN(span, kind, name, local, parent)                                                          \
	struct blkin_span span __attribute__((cleanup(blkin_span_finish)));                                  \
	blkin_span_start(&span, kind, name, local, parent)

#ifdef __cplusplus
}
#endif

#endif
