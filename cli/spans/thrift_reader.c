/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/thrift_reader.h"

#include <stdint.h>
#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/transport/thrift_transport.h>

struct bytes_transport {
	ThriftTransport parent;
	const uint8_t *data; /* borrowed */
	size_t left;
};

struct bytes_transport_class {
	ThriftTransportClass parent;
};

typedef struct bytes_transport BytesTransport;
typedef struct bytes_transport_class BytesTransportClass;

GType bytes_transport_get_type(void);

G_DEFINE_TYPE(BytesTransport, bytes_transport, THRIFT_TYPE_TRANSPORT)

static gint32 bytes_read(ThriftTransport *transport, gpointer out, guint32 size, GError **error)
{
	BytesTransport *bytes = (BytesTransport *)transport;

	if (size > bytes->left) {
		g_set_error_literal(
			error, THRIFT_TRANSPORT_ERROR, THRIFT_TRANSPORT_ERROR_RECEIVE, "no more bytes");
		return -1;
	}
	if (size)
		memcpy(out, bytes->data, size);
	bytes->data += size;
	bytes->left -= size;
	return (gint32)size;
}

static gboolean bytes_nothing(ThriftTransport *transport, GError **error)
{
	(void)transport;
	(void)error;
	return TRUE;
}

/* The lengths have been checked; Thrift's own accounts would need a configuration object for each read. */
static gboolean bytes_have(ThriftTransport *transport, glong size, GError **error)
{
	(void)transport;
	(void)size;
	(void)error;
	return TRUE;
}

static void bytes_transport_class_init(BytesTransportClass *class)
{
	class->parent.read = bytes_read;
	class->parent.read_all = bytes_read;
	class->parent.read_end = bytes_nothing;
	class->parent.open = bytes_nothing;
	class->parent.close = bytes_nothing;
	class->parent.checkReadBytesAvailable = bytes_have;
	class->parent.updateKnownMessageSize = bytes_have;
	class->parent.resetConsumedMessageSize = bytes_have;
	class->parent.countConsumedMessageBytes = bytes_have;
}

static void bytes_transport_init(BytesTransport *bytes)
{
	(void)bytes;
}

static GQuark finalizer_quark(void)
{
	return g_quark_from_static_string("blkin-finalizer");
}

/* What the type had, and then what GObject has. */
static void finalize_all(GObject *object)
{
	GObjectClass *base = g_type_class_peek(G_TYPE_OBJECT);
	void (*own)(GObject *) =
		(void (*)(GObject *))g_type_get_qdata(G_OBJECT_TYPE(object), finalizer_quark());

	own(object);
	base->finalize(object);
}

void thrift_fix_type(GType type)
{
	GObjectClass *class;

	if (g_type_get_qdata(type, finalizer_quark()))
		return;
	class = g_type_class_ref(type); /* for good: types are not unloaded */
	g_type_set_qdata(type, finalizer_quark(), (gpointer) class->finalize);
	class->finalize = finalize_all;
}

void *thrift_read_struct(GType type, const void *data, size_t size)
{
	BytesTransport *bytes = g_object_new(bytes_transport_get_type(), NULL);
	ThriftProtocol *protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", bytes, NULL);
	ThriftStruct *object = g_object_new(type, NULL);
	GError *error = NULL;

	thrift_fix_type(type);
	thrift_fix_type(THRIFT_TYPE_BINARY_PROTOCOL);
	thrift_fix_type(bytes_transport_get_type());
	bytes->data = data;
	bytes->left = size;
	if (thrift_struct_read(object, protocol, &error) < 0) {
		g_object_unref(object);
		object = NULL;
	}
	g_clear_error(&error);
	g_object_unref(protocol);
	g_object_unref(bytes);
	return object;
}
