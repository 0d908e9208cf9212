/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans that a program records wrongly without any trick, ten of a kind:
 *
 *     distorted later      end an hour from now
 *     distorted nameless   have the span id 0
 *     distorted large      have a tag of 1 MB, and a short one
 *     distorted broken     have a short tag that needs an event of its own: nothing is wrong
 */
#include <blkin/blkin.h>

#define COUNT 10
#define LARGE (1024 * 1024)
#define HOUR_NS UINT64_C(3600000000000)

static char large[LARGE + 1];

static void record(const char *kind)
{
	static const struct blkin_endpoint here = {"10.0.0.1", 1, "distorted"};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "request", &here, NULL);
	blkin_span_tag(&span, "short", "value");
	if (!strcmp(kind, "nameless"))
		span.record.span_id = 0;
	if (!strcmp(kind, "large"))
		blkin_span_tag(&span, "large", large);
	if (!strcmp(kind, "broken"))
		blkin_span_tag(&span, "broken", "two\nlines");
	blkin_span_finish_at(&span, strcmp(kind, "later") ? 0 : blkin_now() + HOUR_NS);
}

int main(int argc, char **argv)
{
	memset(large, 'x', LARGE);
	for (int i = 0; i < COUNT && argc == 2; i++)
		record(argv[1]);
	return argc == 2 ? 0 : 64;
}
