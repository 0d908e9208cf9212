/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans with more than fits into an event, under ids that are known before:
 *
 *     manylines TRACE COUNT RATE [SIZE]   spans 1 to COUNT of the trace, with texts of SIZE bytes in all
 * (2000)
 *
 * Each has five lists of numbers, from N to N + 39, an annotation with an attribute, a link to the span
 * before it, and texts, of which the last one is its number.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <blkin/blkin.h>
#include <blkin/details.h>
#include <blkin/given.h>

#define ITEMS 40
#define LISTS 5
#define TEXT 400

static void record(uint64_t trace, uint64_t n, size_t size)
{
	static const struct blkin_endpoint here = {"10.4.0.1", 0, "many"};
	const struct blkin_context own = {.trace_id = trace, .span_id = n, .parent_id = n > 1 ? 1 : 0},
				   before = {.trace_id = trace, .span_id = n - 1};
	const struct blkin_tag tags[] = {BLKIN_TAG_INT("attempt", (int64_t)n)};
	struct blkin_span span;
	int64_t items[ITEMS];
	char text[TEXT + 1], key[32];

	for (size_t i = 0; i < ITEMS; i++)
		items[i] = (int64_t)(n + i);
	memset(text, 'x', TEXT);
	text[TEXT] = '\0';
	blkin_span_start_given(&span, BLKIN_LOCAL, "many lines", &here, &own, 0);
	for (size_t i = 0; i < LISTS; i++) {
		snprintf(key, sizeof(key), "list %zu", i);
		blkin_span_tag_ints(&span, key, items, ITEMS);
	}
	blkin_span_annotate_with(&span, 0, "again", tags, 1);
	blkin_span_link(&span, &before, tags, 1);
	for (size_t i = 0; i * TEXT < size; i++) {
		const char *texts[] = {text};

		snprintf(key, sizeof(key), "text %zu", i);
		blkin_span_tag_texts(&span, key, texts, 1);
	}
	blkin_span_tag_int(&span, "number", (int64_t)n);
	blkin_span_finish(&span);
}

int main(int argc, char **argv)
{
	uint64_t trace, count, rate;

	if (argc < 4)
		return 64;
	trace = strtoull(argv[1], NULL, 0);
	count = strtoull(argv[2], NULL, 0);
	rate = strtoull(argv[3], NULL, 0);
	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	usleep(500000); /* as spanload.c has it */
	for (uint64_t n = 1; n <= count; n++) {
		record(trace, n, argc > 4 ? strtoull(argv[4], NULL, 0) : 2000);
		usleep((useconds_t)(1000000 / rate));
	}
	return 0;
}
