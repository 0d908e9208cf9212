/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records spans with all that the header can say, one of each kind, always the same but for ids and times: to
 * see that they are read alike, whatever the layout of their events. tests/fixtures/trace-0.1 is what it
 * recorded with a provider of before 0.2.
 */
#include <stdio.h>
#include <unistd.h>

#include <blkin/blkin.h>

static const struct blkin_endpoint here = {"10.5.0.1", 6800, "layouts"},
				   far = {"2001:db8::5", 443, "far away"};

static void finish(struct blkin_span *span)
{
	blkin_span_tag(span, "key", "value");
	blkin_span_annotate(span, "note");
	blkin_span_finish(span);
}

static void record_names(void)
{
	static char longest[3001], middle[101];
	const char *const names[] = {"read", "", "a\nb", "\n", "na\xffme",
		"sixty-four bytes, so it is not copied when the "
		"span starts ....",
		middle, longest, "12 34", NULL};
	struct blkin_span span;

	memset(longest, 'x', sizeof(longest) - 1);
	memset(middle, 'm', sizeof(middle) - 1);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		blkin_span_start(&span, BLKIN_LOCAL, names[i], &here, NULL);
		finish(&span);
	}
}

static void record_kinds(void)
{
	const struct blkin_context parent = {0x0123456789abcdef, 0xfedcba9876543210, 0xa, 0xb, 1, 0, 0};
	struct blkin_span span;

	for (int kind = BLKIN_LOCAL; kind <= BLKIN_CONSUMER; kind++) {
		blkin_span_start(&span, (enum blkin_kind)kind, "kinds", &here, &parent);
		blkin_span_remote(&span, &far);
		finish(&span);
	}
	blkin_span_join(&span, "join", &here, &parent);
	finish(&span);
	blkin_span_start(&span, BLKIN_LOCAL, "nowhere", NULL, NULL);
	finish(&span);
}

static void record_levels(void)
{
	struct blkin_span span;

	for (int level = BLKIN_EMERG; level <= BLKIN_DEBUG; level++) {
		blkin_span_start_level(&span, (enum blkin_level)level, BLKIN_LOCAL, "levels", &here, NULL);
		finish(&span);
	}
}

static void record_lines(void)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "lines", &here, NULL);
	while (blkin_now() < span.record.start + 9000)
		;
	blkin_span_annotate_at(&span, span.record.start - 7000, "before");
	blkin_span_annotate_at(&span, span.record.start + 7000, "two\nlines");
	blkin_span_tag(&span, "two\nlines", "of\ntext");
	blkin_span_tag(&span, "#i", "a mark");
	blkin_span_tag_int(&span, "int", -42);
	blkin_span_tag_double(&span, "double", 0.25);
	blkin_span_tag_bool(&span, "bool", 1);
	blkin_span_finish_at(&span, span.record.start + 9000);
}

int main(void)
{
	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	record_names();
	record_kinds();
	record_levels();
	record_lines();
	return 0;
}
