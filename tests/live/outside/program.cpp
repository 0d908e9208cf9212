// SPDX-License-Identifier: BSD-2-Clause
// A C++ program outside this project: the class here, the calls of C in unit.c or more.cpp.
#include <cstdio>
#include <string>

#include <blkin/blkin.h>
#include <blkin/span.hpp>

#include "unit.h"

static const blkin_endpoint here = {"192.0.2.1", 80, "outside"};

static void serve(const blkin_context *received)
{
	blkin::Span span = blkin::Span::join("call", &here, received);

	span.annotate("text").annotate(std::string("text"));
	if (span)
		span.error().finish();
}

int main()
{
	const std::string text("value");
	const blkin_tag tags[] = {BLKIN_TAG("text", "value"), BLKIN_TAG_INT("int", -1),
		BLKIN_TAG_INT("size", text.size()), BLKIN_TAG_DOUBLE("double", 0.5),
		BLKIN_TAG_DOUBLE("whole", text.size()), BLKIN_TAG_BOOL("bool", true),
		BLKIN_TAG_BOOL("any", text.size())};
	blkin::Span root(BLKIN_LOCAL, "root", &here);

	root.tag("char", 'c').tag("short", short(1)).tag("int", -1).tag("unsigned", 1u).tag("long", 1L);
	root.tag("size", sizeof(root)).tag("float", 0.5f).tag("double", 0.5).tag("bool", true);
	root.tag("text", "value").tag("string", std::string("value"));
	blkin_span_tags(root.get(), tags, sizeof(tags) / sizeof(tags[0]));
	{
		blkin::Span child("child", &here, root);
		blkin::Span call(BLKIN_NOTICE, BLKIN_CLIENT, "call", &here, child.context());

		call.remote(&here);
		serve(call.context());
	}
	std::printf(
		"%d %d %d %d\n", blkin_tracing(), blkin_tracing_level(BLKIN_EMERG), contexts(), classic());
	return blkin_id() == 0;
}
