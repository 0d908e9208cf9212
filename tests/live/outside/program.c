/* SPDX-License-Identifier: BSD-2-Clause */
/* A program outside this project that calls everything: the span API here, the rest in unit.c. */
#include <stdio.h>

#include <blkin/blkin.h>

#include "unit.h"

static const struct blkin_endpoint here = {"192.0.2.1", 80, "outside"};
static const struct blkin_endpoint there = {NULL, 0, "elsewhere"};

static void tag(struct blkin_span *span)
{
	const size_t size = sizeof(*span);
	const struct blkin_tag tags[] = {BLKIN_TAG("text", "value"), BLKIN_TAG_INT("int", -1),
		BLKIN_TAG_INT("size", size), BLKIN_TAG_DOUBLE("double", 0.5), BLKIN_TAG_DOUBLE("whole", size),
		BLKIN_TAG_BOOL("bool", 1), BLKIN_TAG_BOOL("any", size)};

	blkin_span_tags(span, tags, sizeof(tags) / sizeof(tags[0]));
	blkin_span_tag(span, "key", "value");
	blkin_span_tag_int(span, "int", INT64_MIN);
	blkin_span_tag_uint(span, "uint", UINT64_MAX);
	blkin_span_tag_double(span, "double", 1e-300);
	blkin_span_tag_bool(span, "bool", 0);
	blkin_span_error(span, "failed");
}

static void scopes(const struct blkin_context *parent)
{
	int i;

	for (i = 0; i < 2; i++) {
		BLKIN_SPAN(outer, BLKIN_PRODUCER, "outer", &here, parent);
		BLKIN_SPAN(inner, BLKIN_CONSUMER, "inner", &here, blkin_span_context(&outer));

		blkin_span_annotate(&inner, "in scope");
		if (i)
			continue;
		blkin_span_annotate_at(&outer, blkin_now(), "at a time");
	}
}

int main(void)
{
	struct blkin_span root, call, debug, joined;

	blkin_sampling(1, 0);
	blkin_span_start(&root, BLKIN_LOCAL, "root", &here, NULL);
	tag(&root);
	blkin_span_start(&call, BLKIN_CLIENT, "call", &here, blkin_span_context(&root));
	blkin_span_remote(&call, &there);
	blkin_span_join(&joined, "call", &there, blkin_span_context(&call));
	blkin_span_finish(&joined);
	blkin_span_finish_at(&call, blkin_now());
	blkin_span_start_level(&debug, BLKIN_DEBUG, BLKIN_SERVER, "detail", NULL, blkin_span_context(&root));
	blkin_span_finish(&debug);
	scopes(blkin_span_context(&root));
	blkin_span_finish(&root);
	printf("%d %d %d %d\n", blkin_tracing(), blkin_tracing_level(BLKIN_EMERG), contexts(), classic());
	return blkin_id() == 0;
}
