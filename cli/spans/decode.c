/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/decode.h"

#include <stdint.h>
#include <string.h>

#include "net/tbinary.h"
#include "spans/v1_to_v2.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The most that Zipkin accepts of each in a span. */
#define ANNOTATIONS_MAX 10000

static const struct tbinary_field endpoint_fields[] = {
	{1, TBINARY_I32},
	{2, TBINARY_I16},
	{3, TBINARY_STRING},
	{4, TBINARY_STRING},
};
static const struct tbinary_struct endpoint = {"Endpoint", endpoint_fields, COUNT(endpoint_fields)};

static const struct tbinary_field annotation_fields[] = {
	{1, TBINARY_I64},
	{2, TBINARY_STRING},
	{3, TBINARY_STRUCT, &endpoint},
};
static const struct tbinary_struct annotation = {"Annotation", annotation_fields, COUNT(annotation_fields)};

static const struct tbinary_field binary_fields[] = {
	{1, TBINARY_STRING},
	{2, TBINARY_STRING},
	{3, TBINARY_I32},
	{4, TBINARY_STRUCT, &endpoint},
};
static const struct tbinary_struct binary = {"BinaryAnnotation", binary_fields, COUNT(binary_fields)};

static const struct tbinary_field span_fields[] = {
	{1, TBINARY_I64},
	{3, TBINARY_STRING},
	{4, TBINARY_I64},
	{5, TBINARY_I64},
	{6, TBINARY_LIST, &annotation, ANNOTATIONS_MAX},
	{8, TBINARY_LIST, &binary, ANNOTATIONS_MAX},
	{9, TBINARY_BOOL},
	{10, TBINARY_I64},
	{11, TBINARY_I64},
	{12, TBINARY_I64},
};
static const struct tbinary_struct span = {"Span", span_fields, COUNT(span_fields)};

/*
 * Copies base64 without its white space and with its padding, as GLib wants it: GLib itself would skip what
 * is not base64, and drop a last unit that lacks padding. Returns NULL having written what is wrong.
 */
static char *tidy_base64(const char *text, size_t size, char *error, size_t error_size)
{
	char *tidy = g_malloc(size + 3);
	size_t used = 0;

	while (size && strchr(" \t\r\n=", text[size - 1]) && text[size - 1])
		size--;
	for (size_t i = 0; i < size; i++) {
		char c = text[i];

		if (g_ascii_isalnum(c) || c == '+' || c == '/') {
			tidy[used++] = c;
		} else if (!g_ascii_isspace(c)) {
			g_snprintf(error, error_size, "it is not base64: byte %zu is 0x%02x", i,
				(unsigned char)c);
			goto bad;
		}
	}
	if (used % 4 == 1) {
		g_snprintf(error, error_size, "it is not base64: it ends in the middle of a unit");
		goto bad;
	}
	while (used % 4)
		tidy[used++] = '=';
	tidy[used] = '\0';
	return tidy;
bad:
	g_free(tidy);
	return NULL;
}

bool decode_span(const void *bytes, size_t size, GPtrArray *spans, char *error, size_t error_size)
{
	struct tbinary_reader reader = tbinary_read(bytes, size);
	const char *wrong = "it is not a span in TBinary";
	struct v1_span v1;

	if (!tbinary_check(&reader, &span)) {
		g_snprintf(error, error_size, "%s: %s", wrong, reader.error);
		return false;
	}
	if (v1_read(&v1, bytes, size))
		wrong = v1_to_v2(&v1, spans);
	v1_clear(&v1);
	if (wrong)
		g_strlcpy(error, wrong, error_size);
	return !wrong;
}

bool decode_message(const char *message, size_t size, GPtrArray *spans, char *error, size_t error_size)
{
	char *bytes = tidy_base64(message, size, error, error_size);
	gsize bytes_size = 0;
	bool good;

	if (!bytes)
		return false;
	if (*bytes)
		g_base64_decode_inplace(bytes, &bytes_size);
	good = decode_span(bytes, bytes_size, spans, error, error_size);
	g_free(bytes);
	return good;
}
