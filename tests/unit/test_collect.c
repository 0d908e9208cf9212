/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin collect`, from bytes on the wire to text on the terminal. */
#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

#include "blkin_scribe_types.h"
#include "collect_cases.h"
#include "run.h"
#include "thriftfix.h"

ZipkinSpan *v1_span(int64_t trace_id, int64_t id, int64_t parent_id, const char *name)
{
	ZipkinSpan *span = g_object_new(ZIPKIN_TYPE_SPAN, NULL);

	span->trace_id = trace_id;
	span->id = id;
	span->parent_id = parent_id;
	span->__isset_parent_id = parent_id != 0;
	span->name = g_strdup(name);
	return span;
}

ZipkinEndpoint *v1_host(const char *service, uint32_t ipv4, int16_t port)
{
	ZipkinEndpoint *host = g_object_new(ZIPKIN_TYPE_ENDPOINT, NULL);

	host->service_name = g_strdup(service);
	host->ipv4 = (int32_t)ipv4;
	host->port = port;
	return host;
}

void v1_annotate(ZipkinSpan *span, int64_t timestamp, const char *value, ZipkinEndpoint *host)
{
	ZipkinAnnotation *annotation = g_object_new(ZIPKIN_TYPE_ANNOTATION, NULL);

	annotation->timestamp = timestamp;
	annotation->value = g_strdup(value);
	if (host) {
		g_object_unref(annotation->host);
		annotation->host = g_object_ref(host);
		annotation->__isset_host = TRUE;
	}
	g_ptr_array_add(span->annotations, annotation);
}

void v1_binary(ZipkinSpan *span, const char *key, ZipkinAnnotationType type, const void *value, size_t size,
	ZipkinEndpoint *host)
{
	ZipkinBinaryAnnotation *binary = g_object_new(ZIPKIN_TYPE_BINARY_ANNOTATION, NULL);

	binary->key = g_strdup(key);
	binary->value = g_byte_array_append(g_byte_array_new(), value, (guint)size);
	binary->annotation_type = type;
	binary->__isset_annotation_type = TRUE;
	if (host) {
		g_object_unref(binary->host);
		binary->host = g_object_ref(host);
		binary->__isset_host = TRUE;
	}
	g_ptr_array_add(span->binary_annotations, binary);
}

void v1_tag(ZipkinSpan *span, const char *key, const char *value, ZipkinEndpoint *host)
{
	v1_binary(span, key, ZIPKIN_ANNOTATION_TYPE_STRING, value, strlen(value), host);
}

void v1_times(ZipkinSpan *span, int64_t timestamp, int64_t duration)
{
	span->timestamp = timestamp;
	span->__isset_timestamp = timestamp != 0;
	span->duration = duration;
	span->__isset_duration = duration != 0;
}

struct buffer v1_bytes(void *object)
{
	ThriftMemoryBuffer *memory = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, "buf_size", 1 << 20, NULL);
	ThriftProtocol *protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", memory, NULL);
	struct buffer bytes = {0};

	thrift_fix_type(G_OBJECT_TYPE(object));
	ck_assert_int_ge(thrift_struct_write(object, protocol, NULL), 0);
	buffer_put(&bytes, memory->buf->data, memory->buf->len);
	g_object_unref(protocol);
	g_object_unref(memory);
	return bytes;
}

void assert_text(struct buffer *buffer, const char *text)
{
	buffer_put(buffer, "", 1);
	ck_assert_str_eq((const char *)buffer->data, text);
	ck_assert_uint_eq(buffer->size, strlen(text) + 1);
	buffer_free(buffer);
}

int main(void)
{
	const GType types[] = {ZIPKIN_TYPE_SPAN, ZIPKIN_TYPE_ANNOTATION, ZIPKIN_TYPE_BINARY_ANNOTATION,
		ZIPKIN_TYPE_ENDPOINT, BLKIN_TYPE_LOG_ENTRY, THRIFT_TYPE_MEMORY_BUFFER,
		THRIFT_TYPE_BINARY_PROTOCOL};
	Suite *suite = suite_create("collect");

	/* The tests make such objects themselves; what these leak would hide what else does. */
	for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
		thrift_fix_type(types[i]);
	suite_add_tcase(suite, collect_convert_cases());
	suite_add_tcase(suite, collect_post_cases());
	suite_add_tcase(suite, collect_shown_cases());
	suite_add_tcase(suite, collect_wire_cases());
	suite_add_tcase(suite, collect_tree_cases());
	suite_add_tcase(suite, collect_text_cases());
	return run_all(srunner_create(suite));
}
