/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * between SPANS: so many spans, each with the annotations "before" and "after", and a system call between
 * them that nobody else makes: getpriority(PRIO_USER, FIRST + ordinal). A tag has the ordinal.
 */
#include <stdlib.h>
#include <sys/resource.h>

#include <blkin/blkin.h>

#define FIRST 1000000000

static void record(int ordinal)
{
	static const struct blkin_endpoint here = {"127.0.0.1", 0, "between"};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "between", &here, NULL);
	blkin_span_annotate(&span, "before");
	getpriority(PRIO_USER, (id_t)(FIRST + ordinal));
	blkin_span_annotate(&span, "after");
	blkin_span_tag_int(&span, "ordinal", ordinal);
	blkin_span_finish(&span);
}

int main(int argc, char **argv)
{
	int spans = argc > 1 ? atoi(argv[1]) : 1;

	for (int i = 0; i < spans; i++)
		record(i);
	return 0;
}
