/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes traces with ids of 128 bits, of two spans each, with many tags: each takes about 420 bytes.
 *
 *     wide TRACES TAGS
 */
#include <stdio.h>
#include <stdlib.h>

#include <blkin/blkin.h>

#define HIGH UINT64_C(0xfedcba9876543210)

static const struct blkin_endpoint here = {"10.0.0.1", 6800, "wide"};

static void put_tags(struct blkin_span *span, int tags)
{
	char key[16], value[400];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < tags; i++) {
		snprintf(key, sizeof(key), "tag %d", i);
		blkin_span_tag(span, key, value);
	}
}

static void make_trace(uint64_t number, int tags)
{
	struct blkin_context caller = {.trace_id_high = HIGH, .trace_id = number, .span_id = number};

	for (int i = 0; i < 2; i++) {
		BLKIN_SPAN(span, BLKIN_LOCAL, "wide", &here, &caller);
		put_tags(&span, tags);
	}
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: wide TRACES TAGS\n");
		return 64;
	}
	for (int i = 0; i < atoi(argv[1]); i++)
		make_trace((uint64_t)i + 1, atoi(argv[2]));
	return 0;
}
