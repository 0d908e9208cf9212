/* SPDX-License-Identifier: BSD-2-Clause */
#include "thriftfix.h"

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
