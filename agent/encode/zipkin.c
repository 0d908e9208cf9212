/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/zipkin.h"

#include <string.h>

#include "base/copy.h"
#include "base/utf8.h"
#include "encode/zipkinplain.h"
#include "net/tbinary.h"

#define ANNOTATION_TYPE_BOOL 0
#define ANNOTATION_TYPE_STRING 6

/* Size of everything except texts: in a span, and in an annotation or tag. */
#define SPAN_ROOM 256
#define ITEM_ROOM 64
/* An endpoint without IPv6 and with a short name is so long at most, and is copied at once. */
#define SHORT_HOST 32

/* What the parts of one span share. */
struct encoding {
	const struct endpoint *local;
	const uint8_t *host; /* the local endpoint in TBinary, where it was written first; or else NULL */
	size_t host_size;
	bool placed; /* what is written so far has the span's place */
	unsigned repaired;
	int64_t timestamp, duration;           /* of the span, us */
	const struct tag *error, *description; /* its tags of these keys, the last ones; NULL: it has none */
};

/* Writes a field's text that is not all ASCII. */
static __attribute__((noinline)) uint8_t *put_utf8(
	uint8_t *to, uint16_t field, struct text text, struct encoding *encoding)
{
	size_t size = text.size;

	to = tbinary_put_field(to, TBINARY_STRING, field);
	if (!utf8_valid(text.data, size)) {
		size = utf8_repair((char *)to + 4, text.data, size);
		encoding->repaired++;
	} else {
		memcpy(to + 4, text.data, size);
	}
	return tbinary_put_i32(to, (uint32_t)size) + size;
}

static inline __attribute__((always_inline)) uint8_t *put_text(
	uint8_t *to, uint16_t field, struct text text, struct encoding *encoding)
{
	uint8_t *bytes = tbinary_put_string_head(to, field, text.size);

	if (!utf8_copy_ascii((char *)bytes, text.data, text.size))
		return put_utf8(to, field, text, encoding);
	return bytes + text.size;
}

static uint8_t *put_endpoint(uint8_t *to, const struct endpoint *endpoint, struct encoding *encoding)
{
	to = tbinary_put_field(to, TBINARY_I32, 1);
	if (endpoint->address_size == 4)
		to = tbinary_put_bytes(to, endpoint->address, 4);
	else
		to = tbinary_put_i32(to, 0);
	to = tbinary_put_i16(tbinary_put_field(to, TBINARY_I16, 2), endpoint->port);
	to = put_text(to, 3, endpoint->service, encoding);
	if (endpoint->address_size == 16)
		to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 4), endpoint->address, 16);
	return tbinary_put_stop(to);
}

/* Two of them are more than SHORT_HOST apart. */
static inline uint8_t *put_host(uint8_t *to, uint16_t field, struct encoding *encoding)
{
	to = tbinary_put_field(to, TBINARY_STRUCT, field);
	if (!encoding->host) {
		encoding->host = to;
		to = put_endpoint(to, encoding->local, encoding);
		encoding->host_size = (size_t)(to - encoding->host);
		return to;
	}
	if (encoding->host_size <= SHORT_HOST)
		memcpy(to, encoding->host, SHORT_HOST);
	else
		memcpy(to, encoding->host, encoding->host_size);
	return to + encoding->host_size;
}

/* The core annotations, which readers recognise only if they have a host. */
static bool is_core(struct text value)
{
	char who = value.size == 2 ? value.data[0] : '\0';

	return (who == 'c' || who == 's' || who == 'm' || who == 'w') &&
	       (value.data[1] == 's' || value.data[1] == 'r');
}

static inline uint8_t *put_annotation(uint8_t *to, int64_t time, struct text value, struct encoding *encoding)
{
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), (uint64_t)time);
	to = put_text(to, 2, value, encoding);
	if (is_core(value)) {
		to = put_host(to, 3, encoding);
		encoding->placed |= value.data[0] != 'w';
	}
	return tbinary_put_stop(to);
}

/* One that the span's kind stands for. */
static uint8_t *put_core(uint8_t *to, int64_t time, const char *value, struct encoding *encoding)
{
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), (uint64_t)time);
	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 2), value, 2);
	encoding->placed = true;
	return tbinary_put_stop(put_host(to, 3, encoding));
}

static inline uint8_t *put_tag(uint8_t *to, const struct tag *tag, bool with_host, struct encoding *encoding)
{
	to = put_text(to, 1, tag->key, encoding);
	to = put_text(to, 2, tag->value, encoding);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), ANNOTATION_TYPE_STRING);
	if (with_host)
		to = put_host(to, 4, encoding);
	return tbinary_put_stop(to);
}

/* The remote endpoint: a BOOL annotation with value true and the key sa, ca or ma. */
static uint8_t *put_remote(uint8_t *to, const struct span *span, struct encoding *encoding)
{
	static const char *const keys[] = {"sa", "sa", "ca", "ma", "ma"};

	to = tbinary_put_string(tbinary_put_field(to, TBINARY_STRING, 1), keys[span->kind], 2);
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_STRING, 2), 1);
	*to++ = 1;
	to = tbinary_put_i32(tbinary_put_field(to, TBINARY_I32, 3), ANNOTATION_TYPE_BOOL);
	to = put_endpoint(tbinary_put_field(to, TBINARY_STRUCT, 4), &span->remote, encoding);
	return tbinary_put_stop(to);
}

/* The core annotations of each kind; messaging spans have only a beginning. */
static const struct core {
	const char *begin, *end;
} cores[] = {
	[SPAN_LOCAL] = {NULL, NULL},
	[SPAN_CLIENT] = {"cs", "cr"},
	[SPAN_SERVER] = {"sr", "ss"},
	[SPAN_PRODUCER] = {"ms", NULL},
	[SPAN_CONSUMER] = {"mr", NULL},
};

static uint8_t *put_annotations(uint8_t *to, const struct span *span, struct encoding *encoding)
{
	const struct core *core = &cores[span->kind];
	const struct annotation *annotation = span->annotations;
	bool end = core->end && span->duration != 0;

	to = tbinary_put_list(
		to, TBINARY_STRUCT, (uint32_t)(span->annotation_count + (core->begin != NULL) + end));
	if (core->begin)
		to = put_core(to, encoding->timestamp, core->begin, encoding);
	for (size_t left = span->annotation_count; left; left--, annotation++)
		to = put_annotation(to, annotation->time / 1000, annotation->value, encoding);
	if (end)
		to = put_core(to, encoding->timestamp + encoding->duration, core->end, encoding);
	return to;
}

static bool has_key(const struct tag *tag, const char *key, uint32_t size)
{
	return tag->key.size == size && !memcmp(tag->key.data, key, size);
}

/* What went wrong, if the span says it, and does not say it to OpenTelemetry by itself; or else NULL. */
static const struct text *find_reason(const struct encoding *encoding)
{
	const struct text *reason = encoding->error ? &encoding->error->value : NULL;

	if (!reason || encoding->description || !reason->size ||
		(reason->size == 4 && !memcmp(reason->data, "true", 4)))
		return NULL;
	return reason;
}

/*
 * A span without core annotations gets its place from the host of the last entry, a tag or, without tags, an
 * empty `lc`. It must come after the remote endpoint, because OpenTelemetry's collector uses the last one.
 */
static uint8_t *put_tags(uint8_t *to, const struct span *span, struct encoding *encoding)
{
	static const struct tag none = {{"lc", 2}, {"", 0}, TAG_TEXT};
	const struct text *reason = find_reason(encoding);
	const struct tag *tag = span->tags;
	bool place = !encoding->placed;
	size_t others = span->tag_count - (place && span->tag_count);

	to = tbinary_put_list(
		to, TBINARY_STRUCT, (uint32_t)(others + place + span->has_remote + (reason != NULL)));
	if (span->has_remote)
		to = put_remote(to, span, encoding);
	if (reason)
		to = put_tag(to,
			&(struct tag){{ZIPKIN_STATUS_DESCRIPTION, sizeof(ZIPKIN_STATUS_DESCRIPTION) - 1},
				*reason, TAG_TEXT},
			false, encoding);
	for (; others; others--, tag++)
		to = put_tag(to, tag, false, encoding);
	if (place)
		to = put_tag(to, span->tag_count ? tag : &none, true, encoding);
	return to;
}

/* An upper limit of the span's size, including repairs; finds the tags that mean something, by the way. */
static size_t measure(const struct span *span, struct encoding *encoding)
{
	size_t items = span->annotation_count + span->tag_count + 4, hosts = 3,
	       texts = span->name.size + span->remote.service.size;

	for (size_t i = 0; i < span->annotation_count; i++) {
		texts += span->annotations[i].value.size;
		hosts += is_core(span->annotations[i].value);
	}
	for (size_t i = 0; i < span->tag_count; i++) {
		texts += span->tags[i].key.size + span->tags[i].value.size;
		if (has_key(&span->tags[i], "error", 5)) {
			encoding->error = &span->tags[i];
			texts += span->tags[i].value.size; /* which is written twice */
		} else if (has_key(&span->tags[i], ZIPKIN_STATUS_DESCRIPTION,
				   sizeof(ZIPKIN_STATUS_DESCRIPTION) - 1)) {
			encoding->description = &span->tags[i];
		}
	}
	texts += hosts * span->local.service.size;
	return SPAN_ROOM + (items + hosts) * ITEM_ROOM + UTF8_REPAIRED_MAX(texts);
}

static uint8_t *put_span(uint8_t *to, const struct span *span, struct encoding *encoding)
{
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 1), span->trace_id);
	to = put_text(to, 3, span->name, encoding);
	to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 4), span->id);
	if (span->parent_id)
		to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 5), span->parent_id);
	to = put_annotations(tbinary_put_field(to, TBINARY_LIST, 6), span, encoding);
	to = put_tags(tbinary_put_field(to, TBINARY_LIST, 8), span, encoding);
	if (span->debug) {
		to = tbinary_put_field(to, TBINARY_BOOL, 9);
		*to++ = 1;
	}
	if (!span->shared) {
		to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 10), (uint64_t)encoding->timestamp);
		if (span->duration)
			to = tbinary_put_i64(
				tbinary_put_field(to, TBINARY_I64, 11), (uint64_t)encoding->duration);
	}
	if (span->trace_id_high)
		to = tbinary_put_i64(tbinary_put_field(to, TBINARY_I64, 12), span->trace_id_high);
	return tbinary_put_stop(to);
}

static int encode(void *to, const struct span *span)
{
	struct encoding encoding = {.local = &span->local,
		.timestamp = span_timestamp_us(span),
		.duration = span_duration_us(span)};
	size_t span_room = measure(span, &encoding);
	struct buffer *out = to;
	uint8_t *start;

	if (span_room > ZIPKIN_SPAN_MAX)
		return -1;
	start = buffer_reserve(out, span_room);
	out->size += (size_t)(put_span(start, span, &encoding) - start);
	return (int)encoding.repaired;
}

int zipkin_encode(struct buffer *out, const struct span *span)
{
	return zipkinplain_is(span) ? encode(out, span) : zipkinplain_take(out, span, encode);
}
