/* SPDX-License-Identifier: BSD-2-Clause */
#include "http/body.h"

#include <string.h>

#include <zstd.h>

#include "encode/jsonread.h"
#include "encode/otlpjson.h"
#include "encode/spanread.h"
#include "net/tbinary.h"
#include "net/unsqueeze.h"
#include "spans/decode.h"
#include "spans/shown.h"

#define PIECE (256 * 1024)

/* Unpacking */

static bool unpack_gzip(const uint8_t *data, size_t size, struct buffer *out)
{
	struct unsqueeze *unsqueeze = unsqueeze_create();
	bool good = unsqueeze_gzip(unsqueeze, data, size, BODY_UNPACKED_MAX, out) == UNSQUEEZED;

	unsqueeze_destroy(unsqueeze);
	return good;
}

static bool unpack_zstd(const uint8_t *data, size_t size, struct buffer *out)
{
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {data, size, 0};
	size_t left = 1;

	while (context && left && !ZSTD_isError(left) && out->size < BODY_UNPACKED_MAX) {
		ZSTD_outBuffer to = {buffer_reserve(out, PIECE), PIECE, 0};

		left = ZSTD_decompressStream(context, &to, &in);
		out->size += to.pos;
		if (!to.pos && in.pos == in.size)
			break;
	}
	ZSTD_freeDCtx(context);
	return !left;
}

bool body_unpack(const char *encoding, const uint8_t *data, size_t size, struct buffer *out)
{
	return strcmp(encoding, "gzip") == 0 ? unpack_gzip(data, size, out) : unpack_zstd(data, size, out);
}

/* Reading */

/* What the readers share. */
struct reading {
	GPtrArray *spans;
	struct span_memory memory;
	bool failed;
};

static void add(void *data, const struct span *span)
{
	struct reading *reading = data;

	reading->failed |= shown_span(span, reading->spans) != NULL;
}

static bool read_otlp_json(struct reading *reading, const char *text, size_t size)
{
	const struct otlpjson_sink sink = {add, reading};

	return otlpjson_read(text, size, &reading->memory, &sink);
}

static bool read_otlp(struct reading *reading, const uint8_t *data, size_t size)
{
	struct buffer text = {0};
	bool good = otlpjson_put(&text, data, size) &&
		    read_otlp_json(reading, (const char *)text.data, text.size);

	buffer_free(&text);
	return good;
}

static bool read_zipkin_json(struct reading *reading, const char *text, size_t size)
{
	g_autofree char *room = g_malloc(size + 1);
	struct jsonread from = {.at = text, .end = text + size, .room = room};
	struct span span;

	if (!jsonread_open(&from, '['))
		return false;
	while (jsonread_element(&from)) {
		const char *begin = from.at;

		jsonread_skip(&from);
		if (from.failed || !spanread_json(&span, (const uint8_t *)begin, (size_t)(from.at - begin),
					   &reading->memory))
			return false;
		add(reading, &span);
	}
	return jsonread_is_over(&from);
}

static bool read_zipkin_list(struct reading *reading, const uint8_t *data, size_t size)
{
	struct tbinary_reader reader = tbinary_read(data, size);
	bool structs = tbinary_get_u8(&reader) == TBINARY_STRUCT;
	uint32_t count = tbinary_get_i32(&reader);
	char error[256];

	for (; structs && count && !tbinary_failed(&reader); count--) {
		size_t begin = reader.at;

		tbinary_skip(&reader, TBINARY_STRUCT);
		if (tbinary_failed(&reader) ||
			!decode_span(data + begin, reader.at - begin, reading->spans, error, sizeof(error)))
			return false;
	}
	return !tbinary_failed(&reader) && !count && !tbinary_left(&reader);
}

static bool read_kind(struct reading *reading, enum body_kind kind, const uint8_t *data, size_t size)
{
	switch (kind) {
	case BODY_OTLP:
		return read_otlp(reading, data, size);
	case BODY_OTLP_JSON:
		return read_otlp_json(reading, (const char *)data, size);
	case BODY_ZIPKIN_JSON:
		return read_zipkin_json(reading, (const char *)data, size);
	default:
		return read_zipkin_list(reading, data, size);
	}
}

bool body_read(enum body_kind kind, const uint8_t *data, size_t size, GPtrArray *spans)
{
	struct reading reading = {.spans = spans};
	guint before = spans->len;
	bool good = read_kind(&reading, kind, size ? data : (const uint8_t *)"", size) && !reading.failed;

	if (!good)
		g_ptr_array_set_size(spans, (gint)before);
	span_memory_free(&reading.memory);
	return good;
}
