/* SPDX-License-Identifier: BSD-2-Clause */
/* A plugin that records a span each time it is loaded. */
#include <blkin/blkin.h>

void edges_plugin(void);

void edges_plugin(void)
{
	const struct blkin_endpoint here = {"10.0.0.1", 6800, "plugin"};

	BLKIN_SPAN(span, BLKIN_LOCAL, "in plugin", &here, NULL);
	blkin_span_annotate(&span, "loaded");
}
