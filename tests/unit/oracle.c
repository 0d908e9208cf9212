/* SPDX-License-Identifier: BSD-2-Clause */
#include "oracle.h"

#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

#include "texts.h"
#include "zipkin_zipkin_core_types.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#else
#define __lsan_disable()
#define __lsan_enable()
#endif

static char *to_string(struct text text)
{
	return g_strndup(text.data, text.size);
}

static GByteArray *to_bytes(const void *data, size_t size)
{
	return g_byte_array_append(g_byte_array_new(), data, (guint)size);
}

/* The generated structs have a constructor's defaults, which are freed when replaced. */
static void set_string(char **field, struct text text)
{
	g_free(*field);
	*field = to_string(text);
}

static ZipkinEndpoint *make_endpoint(const struct endpoint *endpoint)
{
	ZipkinEndpoint *made = g_object_new(ZIPKIN_TYPE_ENDPOINT, NULL);

	if (endpoint->address_size == 4) {
		uint32_t address;

		memcpy(&address, endpoint->address, 4);
		made->ipv4 = (gint32)GUINT32_FROM_BE(address);
	}
	made->port = (gint16)endpoint->port;
	set_string(&made->service_name, endpoint->service);
	if (endpoint->address_size == 16) {
		if (made->ipv6)
			g_byte_array_unref(made->ipv6);
		made->ipv6 = to_bytes(endpoint->address, 16);
		made->__isset_ipv6 = TRUE;
	}
	return made;
}

/* @endpoint NULL: none. */
static void set_host(ZipkinEndpoint **field, gboolean *set, const struct endpoint *endpoint)
{
	if (!endpoint)
		return;
	if (*field)
		g_object_unref(*field);
	*field = make_endpoint(endpoint);
	*set = TRUE;
}

static void add_annotation(GPtrArray *list, int64_t time, struct text value, const struct endpoint *host)
{
	ZipkinAnnotation *made = g_object_new(ZIPKIN_TYPE_ANNOTATION, NULL);

	made->timestamp = time;
	set_string(&made->value, value);
	set_host(&made->host, &made->__isset_host, host);
	g_ptr_array_add(list, made);
}

/* Between the two ends in whole microseconds; what is known is not 0. */
static int64_t duration_us(const struct span *span)
{
	int64_t end = (span->timestamp + span->duration) / 1000, begin = span->timestamp / 1000;

	return span->duration == 0 ? 0 : end == begin ? 1 : end - begin;
}

static void add_binary(GPtrArray *list, struct text key, struct text value, ZipkinAnnotationType type,
	const struct endpoint *host)
{
	ZipkinBinaryAnnotation *made = g_object_new(ZIPKIN_TYPE_BINARY_ANNOTATION, NULL);

	set_string(&made->key, key);
	if (made->value)
		g_byte_array_unref(made->value);
	made->value = to_bytes(value.data, value.size);
	made->annotation_type = type;
	set_host(&made->host, &made->__isset_host, host);
	g_ptr_array_add(list, made);
}

static gboolean is_core(struct text value)
{
	static const char *const words[] = {"cs", "cr", "sr", "ss", "ms", "mr", "ws", "wr"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (value.size == 2 && !memcmp(value.data, words[i], 2))
			return TRUE;
	return FALSE;
}

static void add_annotations(GPtrArray *list, const struct span *span)
{
	static const char *const begin[] = {NULL, "cs", "sr", "ms", "mr"}, *const end[] = {NULL, "cr", "ss",
										   NULL, NULL};

	if (begin[span->kind])
		add_annotation(list, span->timestamp / 1000, literal(begin[span->kind]), &span->local);
	for (size_t i = 0; i < span->annotation_count; i++)
		add_annotation(list, span->annotations[i].time / 1000, span->annotations[i].value,
			is_core(span->annotations[i].value) ? &span->local : NULL);
	if (end[span->kind] && span->duration)
		add_annotation(list, span->timestamp / 1000 + duration_us(span), literal(end[span->kind]),
			&span->local);
}

static gboolean has_core(const struct span *span)
{
	for (size_t i = 0; i < span->annotation_count; i++)
		if (is_core(span->annotations[i].value) && span->annotations[i].value.data[0] != 'w')
			return TRUE;
	return span->kind != SPAN_LOCAL;
}

static gboolean has_key(const struct tag *tag, const char *key)
{
	return tag->key.size == strlen(key) && !memcmp(tag->key.data, key, tag->key.size);
}

/* What the last tag `error` says, but for "true" and nothing, goes to OpenTelemetry, too, unless the span
 * does that. */
static void add_reason(GPtrArray *list, const struct span *span)
{
	struct text reason = {0};

	for (size_t i = 0; i < span->tag_count; i++) {
		if (has_key(&span->tags[i], "otel.status_description"))
			return;
		if (has_key(&span->tags[i], "error"))
			reason = span->tags[i].value;
	}
	if (reason.size && !(reason.size == 4 && !memcmp(reason.data, "true", 4)))
		add_binary(list, literal("otel.status_description"), reason, ZIPKIN_ANNOTATION_TYPE_STRING,
			NULL);
}

static void add_tags(GPtrArray *list, const struct span *span)
{
	static const char *const remote[] = {"sa", "sa", "ca", "ma", "ma"};
	gboolean placed = has_core(span);

	if (span->has_remote)
		add_binary(list, literal(remote[span->kind]), literal("\1"), ZIPKIN_ANNOTATION_TYPE_BOOL,
			&span->remote);
	add_reason(list, span);
	for (size_t i = 0; i < span->tag_count; i++)
		add_binary(list, span->tags[i].key, span->tags[i].value, ZIPKIN_ANNOTATION_TYPE_STRING,
			!placed && i + 1 == span->tag_count ? &span->local : NULL);
	if (!placed && !span->tag_count)
		add_binary(list, literal("lc"), literal(""), ZIPKIN_ANNOTATION_TYPE_STRING, &span->local);
}

static ZipkinSpan *make_span(const struct span *span)
{
	ZipkinSpan *made = g_object_new(ZIPKIN_TYPE_SPAN, NULL);

	made->trace_id = (gint64)span->trace_id;
	set_string(&made->name, span->name);
	made->id = (gint64)span->id;
	made->parent_id = (gint64)span->parent_id;
	made->__isset_parent_id = span->parent_id != 0;
	add_annotations(made->annotations, span);
	add_tags(made->binary_annotations, span);
	made->debug = span->debug;
	made->__isset_debug = span->debug;
	made->timestamp = span->timestamp / 1000;
	made->__isset_timestamp = !span->shared;
	made->duration = duration_us(span);
	made->__isset_duration = !span->shared && span->duration;
	made->trace_id_high = (gint64)span->trace_id_high;
	made->__isset_trace_id_high = span->trace_id_high != 0;
	return made;
}

static GByteArray *encode(const struct span *span)
{
	GByteArray *bytes = g_byte_array_new();
	ThriftMemoryBuffer *transport =
		g_object_new(THRIFT_TYPE_MEMORY_BUFFER, "buf", bytes, "buf_size", 64 << 20, NULL);
	ThriftProtocol *protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", transport, NULL);
	ZipkinSpan *made = make_span(span);
	GError *error = NULL;

	thrift_struct_write(THRIFT_STRUCT(made), protocol, &error);
	g_assert_no_error(error);
	g_byte_array_ref(bytes);
	g_object_unref(made);
	g_object_unref(protocol);
	g_object_unref(transport);
	return bytes;
}

GByteArray *oracle_encode(const struct span *span)
{
	GByteArray *bytes;

	__lsan_disable(); /* GObject's last unref allocates something that LeakSanitizer then loses sight of
			   */
	bytes = encode(span);
	__lsan_enable();
	return bytes;
}
