/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The span API: a span lives on the caller's stack and is written as one LTTng event, blkin:span2, when it
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
 * The event, or blkin:span2_LEVEL of a level other than info, has one field, `text`, a string or a sequence
 * of characters: each field would cost its reader more than what is in it. So all is in lines:
 *     first            TRACE SPAN PARENT START SIZE NAME
 *     head             KIND PORT IP SERVICE  (IP is "-" if unknown)
 *     annotation       +NANOSECONDS VALUE    (after the span's start; -NANOSECONDS before it)
 *     tag              KEY=VALUE             (#iKEY: a whole number; #dKEY: a floating-point one; #bKEY:
 *                                            true or false; #sKEY: a text whose key begins with '#')
 *     remote endpoint  @PORT IP SERVICE
 *     explicit finish  !finish +NANOSECONDS  (after the start; without it: the time of the event)
 *     pieces           !pieces NUMBER
 *     process          &PID=NAME             (the name of its file)
 * Lines that begin with '#' and a character that is no small letter are those of marks.h.
 *
 * The ids and START, of CLOCK_MONOTONIC in nanoseconds, are 16 hex digits each; NAME has SIZE bytes, in which
 * there may be line breaks. KIND is local, client, server, producer or consumer, if necessary with ",shared",
 * ",debug" and ",high=" and the upper 16 hex digits of a 128-bit trace id. An example, on several lines:
 *     4bf92f3577b34da6 00f067aa0ba902b7 0000000000000000 0000000000001be7 04 read
 *     client 6800 10.0.0.1 osd.4
 *     +1200 cache miss
 *     object=motd
 *
 * An annotation or tag that does not fit, or that a line cannot hold (because of a line break, or a key that
 * contains '=' or starts with '+', '-', '@', '!' or '&'), is written before the span in a separate event, a
 * piece: blkin:annotation or blkin:tag. The span says how many there are.
 *
 * Providers of before 0.2 write an event blkin:span instead, with six fields: the ids and the start as
 * numbers, the name, and in `data` the lines from the head on.
 */
#ifndef BLKIN_SPAN_H_
#define BLKIN_SPAN_H_

#include <string.h>

#include <blkin/clock.h>
#include <blkin/context.h>
#include <blkin/endpoint.h>
#include <blkin/hex.h>
#include <blkin/id.h>
#include <blkin/provider.h>
#include <blkin/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of annotations and tags that a span carries in its own event. */
#ifndef BLKIN_SPAN_TEXT
#define BLKIN_SPAN_TEXT 480
#endif
#if BLKIN_SPAN_TEXT < 1 || BLKIN_SPAN_TEXT > 2048
#error "BLKIN_SPAN_TEXT can be 1 to 2048: the agent takes 1024 lines of a span, of two bytes at least"
#endif
/* Longest name of a service, local or remote; longer ones are cut off. */
#define BLKIN_SERVICE_NAME 255
/* Longest address as text: an IPv6 one that ends as IPv4 does. */
#define BLKIN_ADDRESS_TEXT_ 45
/* An endpoint: "65535 " + address + ' ' + name + '\n'. */
#define BLKIN_ENDPOINT_TEXT_ (6 + BLKIN_ADDRESS_TEXT_ + 1 + BLKIN_SERVICE_NAME + 1)
/* Where a name begins, after the provider's bytes, the ids and the two digits of its size, and the room for a
 * short one with its end
 */
#define BLKIN_NAME_AT_ (BLKIN_FRONT_ + BLKIN_IDS_TEXT_ + 3)
#define BLKIN_NAME_TEXT_ 64
/* Room before the lines: that, "producer,shared,debug,high=0123456789abcdef ", endpoint. */
#define BLKIN_HEAD_TEXT_ (BLKIN_NAME_AT_ + BLKIN_NAME_TEXT_ + 44 + BLKIN_ENDPOINT_TEXT_)
/* Room behind them: "@" and the remote endpoint, "!finish +" and "!pieces " with their numbers, the process,
 * NUL. */
#define BLKIN_TAIL_TEXT_ (1 + BLKIN_ENDPOINT_TEXT_ + 9 + 21 + 8 + 11 + BLKIN_PROCESS_LINE_ + 1)
/* Longest key, with its NUL, that keeps its type in an event of its own; a longer one is a text's. */
#define BLKIN_TYPED_KEY_ 128

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
 * Only one thread at a time may use it. It needs no destruction; without blkin_span_finish it
 * is never recorded. Its fields are private; blkin_span_context returns its context.
 */
struct blkin_span {
	struct blkin_context context;
	int recording;
	enum blkin_level level;
	uint32_t head, lines; /* begin and end of the head in the text */
	uint32_t used;        /* bytes of text */
	uint32_t pieces;      /* that were written before */
	const char *name;     /* one too long to be copied, or NULL: then it is in the text */
	uint32_t flushed;     /* of these, such as are lines: see marks.h */
	int goes_on;          /* the text's first line began in the last one of them */
	const struct blkin_endpoint *remote;
	struct blkin_span_record record;
	char text[BLKIN_HEAD_TEXT_ + BLKIN_SPAN_TEXT + BLKIN_TAIL_TEXT_];
};

/**
 * blkin_tracing_level - whether a session records spans of a level at this moment
 *
 * Returns not 0 if one does. For work that is needed only for a span; the calls below check this themselves.
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

/* Writes "+NANOSECONDS", or with '-': how much @time is after the span's start. */
static inline char *blkin_span_put_time_(const struct blkin_span *span, char *to, uint64_t time)
{
	uint64_t start = span->record.start;

	*to++ = time >= start ? '+' : '-';
	return blkin_put_number_(to, time >= start ? time - start : start - time);
}

/*
 * Writes "PORT IP SERVICE" and a line break. Text that cannot be an address, because of its length or a
 * blank, is written as unknown.
 */
static inline char *blkin_put_endpoint_(char *to, const struct blkin_endpoint *endpoint)
{
	const char *ip = endpoint && endpoint->ip ? endpoint->ip : "",
		   *name = endpoint && endpoint->name ? endpoint->name : "";
	size_t size = strlen(ip);

	to = blkin_put_number_(to, endpoint ? (uint16_t)endpoint->port : 0u);
	*to++ = ' ';
	if (size == 0 || size > BLKIN_ADDRESS_TEXT_ || blkin_copy_(to, ip, size, ' ' + 1)) {
		*to = '-';
		size = 1;
	}
	to += size;
	*to++ = ' ';
	to = blkin_put_name_(to, name, BLKIN_SERVICE_NAME);
	*to = '\n';
	return to + 1;
}

/* Writes the words that the head line begins with. */
static inline char *blkin_span_put_kind_(
	const struct blkin_span *span, char *to, enum blkin_kind kind, int shared)
{
	static const char kinds[5][9] = {"local", "client", "server", "producer", "consumer"};
	static const unsigned char sizes[5] = {5, 6, 6, 8, 8};
	unsigned i = (unsigned)kind < 5 ? (unsigned)kind : 0;

	memcpy(to, kinds[i], 8);
	to += sizes[i];
	if (shared) {
		memcpy(to, ",shared", 7);
		to += 7;
	}
	if (span->context.debug) {
		memcpy(to, ",debug", 6);
		to += 6;
	}
	if (span->context.trace_id_high) {
		memcpy(to, ",high=", 6);
		to = blkin_put_hex_(to + 6, span->context.trace_id_high);
	}
	*to++ = ' ';
	return to;
}

/* Writes the name's size in front of it, in two digits. */
static inline BLKIN_INLINE_ void blkin_span_put_size_(struct blkin_span *span, size_t size)
{
	const char digits[] = {(char)('0' + size / 10), (char)('0' + size % 10), ' '};

	memcpy(span->text + BLKIN_NAME_AT_ - sizeof(digits), digits, sizeof(digits));
}

/*
 * Writes the name into the text, with a NUL that becomes its line's end at last, or notes one that is too
 * long; returns where it ends. @known is the size of a literal that is there already, or 0.
 */
static inline char *blkin_span_put_name_(struct blkin_span *span, const char *name, size_t known)
{
	char *to = span->text + BLKIN_NAME_AT_;
	size_t size;

	span->name = NULL;
	if (known)
		return to + known;
	name = name ? name : "";
	size = strlen(name);
	if (size >= BLKIN_NAME_TEXT_) {
		span->name = name;
		return to;
	}
	to[size] = '\0';
	if (blkin_copy_(to, name, size, 1)) /* another thread has made it shorter */
		size = strlen(to);
	blkin_span_put_size_(span, size);
	return to + size + 1;
}

static inline void blkin_span_begin_(struct blkin_span *span, enum blkin_kind kind, int shared,
	const char *name, size_t known, const struct blkin_endpoint *local, uint64_t start)
{
	char *to = blkin_span_put_name_(span, name, known);

	span->recording = 1;
	span->remote = NULL;
	span->record.trace_id = span->context.trace_id;
	span->record.span_id = span->context.span_id;
	span->record.parent_id = span->context.parent_id;
	span->record.start = start;
	span->pieces = span->flushed = 0;
	span->goes_on = 0;
	span->head = (uint32_t)(to - span->text);
	to = blkin_put_endpoint_(blkin_span_put_kind_(span, to, kind, shared), local);
	span->lines = span->used = (uint32_t)(to - span->text);
}

/* Sets what every started span needs, recorded or not. Without a parent, no trace is known yet. */
static inline void blkin_span_prepare_(
	struct blkin_span *span, enum blkin_level level, const struct blkin_context *parent)
{
	static const struct blkin_context unknown = {0, 0, 0, 0, 0, 1, 0};

	span->recording = 0;
	span->level = (enum blkin_level)((unsigned)level % BLKIN_LEVELS_);
	span->context = parent ? *parent : unknown;
}

/* Whether the trace is sampled, or undecided. */
static inline int blkin_span_wanted_(const struct blkin_span *span)
{
	return span->context.trace_id || span->context.deferred;
}

/*
 * If it is undecided, decides whether the trace is sampled: a new one, with the root id @id, or a received
 * one.
 */
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

/* Starts a span that somebody may record. */
static BLKIN_APART_ void blkin_span_start_wanted_(struct blkin_span *span, enum blkin_kind kind,
	const char *name, size_t known, const struct blkin_endpoint *local)
{
	uint64_t start = blkin_now(), id = blkin_id();

	if (!blkin_span_sampled_(span, id, start, local))
		return;
	span->context.parent_id = span->context.span_id;
	span->context.span_id = id;
	blkin_span_begin_(span, kind, 0, name, known, local, start);
}

/**
 * blkin_span_start_level - start a span of a level other than info
 * @level: its severity; the node's configuration sets the lowest severity that is recorded. Zipkin shows
 * a level other than info as the tag `level`.
 * @span, @kind, @name, @local, @parent: as for blkin_span_start
 */
static inline BLKIN_INLINE_ void blkin_span_start_level(struct blkin_span *span, enum blkin_level level,
	enum blkin_kind kind, const char *name, const struct blkin_endpoint *local,
	const struct blkin_context *parent)
{
	int on = blkin_tracing_level((enum blkin_level)((unsigned)level % BLKIN_LEVELS_));
	size_t known = 0;

	blkin_span_prepare_(span, level, parent);
	if (!on || !blkin_span_wanted_(span))
		return;
	name = name ? name : "";
	if (BLKIN_KNOWN_SHORT_(name, BLKIN_NAME_TEXT_)) {
		known = strlen(name) + 1;
		blkin_span_put_size_(span, known - 1);
		memcpy(span->text + BLKIN_NAME_AT_, name, known);
	}
	blkin_span_start_wanted_(span, kind, name, known, local);
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
 * A span whose parent is not sampled is not sampled either; for a new trace, or one whose
 * sender left the decision to the receiver, see blkin_sampling(). While no session records spans, the span
 * passes its parent's context on unchanged.
 */
static inline BLKIN_INLINE_ void blkin_span_start(struct blkin_span *span, enum blkin_kind kind,
	const char *name, const struct blkin_endpoint *local, const struct blkin_context *parent)
{
	blkin_span_start_level(span, BLKIN_INFO, kind, name, local, parent);
}

/**
 * blkin_sampling - choose how many of this program's traces are recorded
 * @one_in: 1/@one_in of the traces that begin here; 0 and 1: all
 * @per_second: but at most this many per second; 0: no limit
 *
 * It is decided once for a trace, at its root. BLKIN_SAMPLE=1/100 in the environment overrides
 * @one_in, and the administrator's `blkin sampling` overrides both; the limit always applies. Without LTTng
 * this does nothing.
 */
static inline void blkin_sampling(uint32_t one_in, uint32_t per_second)
{
	blkin_provider_->set_sampling(one_in, per_second);
}

/**
 * blkin_span_join - start the server's half of a client's span
 * @span, @name, @local: as for blkin_span_start
 * @received: the context of the client's span, as it came with the request; NULL: none came
 *
 * The server records under the client's own span id, as B3 peers do, and Zipkin shows both halves as one
 * span. With blkin_span_start(..., BLKIN_SERVER, ..., received) the server's span is a child of the client's
 * instead, as BlkKin and OpenTelemetry do.
 */
static inline void blkin_span_join(struct blkin_span *span, const char *name,
	const struct blkin_endpoint *local, const struct blkin_context *received)
{
	uint64_t start;

	if (!received || !received->span_id) { /* at most a decision was received: the client has no span */
		blkin_span_start(span, BLKIN_SERVER, name, local, received);
		return;
	}
	blkin_span_prepare_(span, BLKIN_INFO, received);
	if (!blkin_tracing() || !blkin_span_wanted_(span))
		return;
	start = blkin_now();
	if (blkin_span_sampled_(span, received->span_id, start, local))
		blkin_span_begin_(span, BLKIN_SERVER, 1, name, 0, local, start);
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

/* Room for a line of up to @need bytes in the span's own event, or NULL. */
static inline char *blkin_span_room_(struct blkin_span *span, size_t need)
{
	uint32_t room = span->lines + BLKIN_SPAN_TEXT - span->used;

	return need <= room ? span->text + span->used : NULL;
}

/* The line that began in this room ends here. */
static inline void blkin_span_end_line_(struct blkin_span *span, char *end)
{
	*end = '\n';
	span->used = (uint32_t)(end + 1 - span->text);
}

/*
 * Sets the record's texts. They point into the span, which may have been copied, so they are set before each
 * use.
 */
static inline const struct blkin_span_record *blkin_span_record_(struct blkin_span *span)
{
	span->record.name = span->name ? span->name : span->text + BLKIN_NAME_AT_;
	span->record.data = span->text + span->head;
	return &span->record;
}

/* Writes an annotation, or with a key a tag, as a piece: its data is only the head line. */
static inline BLKIN_RARE_ void blkin_span_piece_(
	struct blkin_span *span, uint64_t time, const char *key, const char *value)
{
	span->text[span->lines - 1] = '\0';
	if (key)
		blkin_provider_->tag(blkin_span_record_(span), key, value);
	else
		blkin_provider_->annotation(blkin_span_record_(span), time, value);
	span->text[span->lines - 1] = '\n';
	span->pieces++;
}

/* @known: there is no line break in it. */
static inline BLKIN_INLINE_ void blkin_span_put_annotation_(
	struct blkin_span *span, uint64_t time, const char *value, size_t size, int known)
{
	char *to = blkin_span_room_(span, size + 23);

	if (to) {
		to = blkin_span_put_time_(span, to, time);
		*to++ = ' ';
		if (known)
			memcpy(to, value, size);
		else if (!blkin_copy_line_(to, value, size))
			to = NULL;
	}
	if (to)
		blkin_span_end_line_(span, to + size);
	else
		blkin_span_piece_(span, time, NULL, value);
}

/**
 * blkin_span_annotate_at - record that something happened, at a given time
 * @span: a started span
 * @time: from blkin_now()
 * @value: what happened; copied; NULL is ignored
 */
static inline BLKIN_INLINE_ void blkin_span_annotate_at(
	struct blkin_span *span, uint64_t time, const char *value)
{
	if (span->recording && value)
		blkin_span_put_annotation_(span, time, value, strlen(value), BLKIN_KNOWN_LINE_(value));
}

/* Now, but not before the span's start: another thread, or another processor, may have read a later time. */
static inline uint64_t blkin_span_now_(const struct blkin_span *span)
{
	uint64_t now = blkin_now();

	return now >= span->record.start ? now : span->record.start;
}

/**
 * blkin_span_annotate - record that something happens now
 * @span: a started span
 * @value: what happens, as "cache miss"; copied; NULL is ignored
 */
static inline BLKIN_INLINE_ void blkin_span_annotate(struct blkin_span *span, const char *value)
{
	if (span->recording)
		blkin_span_annotate_at(span, blkin_span_now_(span), value);
}

/* Writes "KEY=", or returns NULL if the line would be read as something else. @type is 0 of a text. */
static inline char *blkin_put_key_(char *to, const char *key, size_t size, char type)
{
	size_t i;

	if (type || *key == '#') {
		*to++ = '#';
		*to++ = type ? type : 's';
	} else if (*key == '+' || *key == '-' || *key == '@' || *key == '!' || *key == '&') {
		return NULL;
	}
	for (i = 0; i < size; i++) {
		char c = key[i];

		if (c == '=' || c == '\n' || c == '\0')
			return NULL;
		to[i] = c;
	}
	to[size] = '=';
	return to + size + 1;
}

/* Writes a tag as a piece, with its type if the key is not too long. */
static inline BLKIN_RARE_ void blkin_span_tag_piece_(
	struct blkin_span *span, const char *key, size_t size, const char *value, char type)
{
	char typed[2 + BLKIN_TYPED_KEY_];

	if ((type || *key == '#') && size < BLKIN_TYPED_KEY_) {
		typed[0] = '#';
		typed[1] = type ? type : 's';
		memcpy(typed + 2, key, size + 1);
		key = typed;
	}
	blkin_span_piece_(span, 0, key, value);
}

static inline void blkin_span_put_tag_(struct blkin_span *span, const char *key, size_t key_size,
	const char *value, size_t value_size, char type)
{
	char *to = blkin_span_room_(span, key_size + value_size + (type || *key == '#' ? 4 : 2));

	if (to)
		to = blkin_put_key_(to, key, key_size, type);
	if (!to || !blkin_copy_line_(to, value, value_size))
		blkin_span_tag_piece_(span, key, key_size, value, type);
	else
		blkin_span_end_line_(span, to + value_size);
}

/* A text's tag, whose key is known to need no mark. */
static inline BLKIN_INLINE_ void blkin_span_put_known_tag_(
	struct blkin_span *span, const char *key, size_t key_size, const char *value, size_t value_size)
{
	char *to = blkin_span_room_(span, key_size + value_size + 2);

	if (to) {
		memcpy(to, key, key_size);
		to[key_size] = '=';
		to += key_size + 1;
	}
	if (!to || !blkin_copy_line_(to, value, value_size))
		blkin_span_tag_piece_(span, key, key_size, value, 0);
	else
		blkin_span_end_line_(span, to + value_size);
}

/**
 * blkin_span_tag - describe the span by a key and a value
 * @span: a started span
 * @key, @value: copied; NULL is ignored; if a key is set twice, the last value counts in Zipkin
 */
static inline BLKIN_INLINE_ void blkin_span_tag(struct blkin_span *span, const char *key, const char *value)
{
	if (!span->recording || !key || !value)
		return;
	if (BLKIN_KNOWN_KEY_(key))
		blkin_span_put_known_tag_(span, key, strlen(key), value, strlen(value));
	else
		blkin_span_put_tag_(span, key, strlen(key), value, strlen(value), 0);
}

/* Writes a whole number. */
static inline char *blkin_put_int_(char *to, int64_t value)
{
	if (value < 0)
		*to++ = '-';
	return blkin_put_number_(to, value < 0 ? 0u - (uint64_t)value : (uint64_t)value);
}

static inline void blkin_span_put_int_tag_(
	struct blkin_span *span, const char *key, size_t key_size, int64_t value)
{
	char text[22], *end = blkin_put_int_(text, value);

	*end = '\0';
	blkin_span_put_tag_(span, key, key_size, text, (size_t)(end - text), 'i');
}

/**
 * blkin_span_tag_int - the same with a whole number, which Zipkin shows as its decimal text, and
 * OpenTelemetry as a number
 */
static inline BLKIN_INLINE_ void blkin_span_tag_int(struct blkin_span *span, const char *key, int64_t value)
{
	size_t size;
	char *to;

	if (!span->recording || !key)
		return;
	size = strlen(key);
	to = BLKIN_KNOWN_KEY_(key) ? blkin_span_room_(span, size + 24) : NULL;
	if (to) {
		*to++ = '#';
		*to++ = 'i';
		memcpy(to, key, size);
		to[size] = '=';
		blkin_span_end_line_(span, blkin_put_int_(to + size + 1, value));
	} else {
		blkin_span_put_int_tag_(span, key, size, value);
	}
}

/**
 * blkin_span_remote - set the other end of a client, server, producer or consumer span
 * @span: a started span
 * @remote: borrowed until the span finishes; of a name longer than BLKIN_SERVICE_NAME the beginning is
 * recorded
 */
static inline void blkin_span_remote(struct blkin_span *span, const struct blkin_endpoint *remote)
{
	if (span->recording)
		span->remote = remote;
}

/* Appends what few spans have: a remote endpoint, a time of their own, pieces; returns where it ends. */
static BLKIN_APART_ char *blkin_span_put_extras_(struct blkin_span *span, char *to, uint64_t finish)
{
	if (span->remote) {
		*to++ = '@';
		to = blkin_put_endpoint_(to, span->remote);
	}
	if (finish) {
		memcpy(to, "!finish ", 8);
		to = blkin_span_put_time_(span, to + 8, finish);
		*to++ = '\n';
	}
	if (span->pieces) {
		memcpy(to, "!pieces ", 8);
		to = blkin_put_number_(to + 8, span->pieces);
		*to++ = '\n';
	}
	return to;
}

/* Appends what is known only at the end, for which the span has reserved room; returns where it ends. */
static inline char *blkin_span_put_tail_(struct blkin_span *span, uint64_t finish)
{
	const struct blkin_process *process = blkin_provider_->process;
	char *to = span->text + span->used;

	if (span->remote || finish || span->pieces)
		to = blkin_span_put_extras_(span, to, finish);
	memcpy(to, process->line, BLKIN_PROCESS_LINE_);
	to += process->size;
	*to = '\0';
	return to + 1;
}

/* Writes the first line, in which the name and its size are already. */
static inline void blkin_span_put_first_(struct blkin_span *span)
{
	const struct blkin_span_record *record = &span->record;

	blkin_put_ids_(span->text + BLKIN_FRONT_, record->trace_id, record->span_id, record->parent_id,
		record->start);
	span->text[span->head - 1] = '\n';
}

/* Hands the span, whose text ends at @end, to the provider. */
static inline void blkin_span_write_(struct blkin_span *span, const char *end)
{
	if (span->name || !blkin_whole_) {
		blkin_provider_->span[span->level](blkin_span_record_(span));
		return;
	}
	blkin_span_put_first_(span);
	blkin_whole_[span->level](span->text, (size_t)(end - span->text) - BLKIN_FRONT_);
}

/* Finishes a span that has been recorded. */
static BLKIN_APART_ void blkin_span_finish_recording_(struct blkin_span *span, uint64_t time)
{
	const char *end;

	span->recording = 0;
	end = blkin_span_put_tail_(span, time);
	if (blkin_tracing_level(span->level))
		blkin_span_write_(span, end);
}

/**
 * blkin_span_finish_at - finish the span at a given time
 * @span: a started span; finishing it twice records it once
 * @time: from blkin_now(), not before its start; 0: now
 */
static inline void blkin_span_finish_at(struct blkin_span *span, uint64_t time)
{
	if (span->recording)
		blkin_span_finish_recording_(span, time);
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
 * BLKIN_SPAN - a span for the rest of the enclosing block: declared, started, and finished on
 * every way out
 * @span: the name of the variable
 * @kind, @name, @local, @parent: as for blkin_span_start
 *
 * For C, by GCC's and Clang's cleanup attribute; C++ has blkin::Span in <blkin/span.hpp>. What jumps over it
 * into the rest of the block, a goto or a case, would have it finish what was never started: where there is
 * one, the span needs a block of its own.
 */
#define BLKIN_SPAN(span, kind, name, local, parent)                                                          \
	struct blkin_span span __attribute__((cleanup(blkin_span_finish)));                                  \
	blkin_span_start(&span, kind, name, local, parent)

#ifdef __cplusplus
}
#endif

#endif
