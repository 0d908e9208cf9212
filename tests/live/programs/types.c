/* SPDX-License-Identifier: BSD-2-Clause */
/* Two spans with tags of every type: in the first they have room, in the second they have not. */
#include <blkin/blkin.h>

#include <math.h>

static void put_tags(struct blkin_span *span)
{
	blkin_span_tag(span, "#text", "5");
	blkin_span_tag_int(span, "int", INT64_MIN);
	blkin_span_tag_uint(span, "uint", 7);
	blkin_span_tag_uint(span, "huge", UINT64_MAX);
	blkin_span_tag_double(span, "double", 0.1);
	blkin_span_tag_double(span, "unknown", (double)NAN);
	blkin_span_tag_double(span, "endless", -(double)INFINITY);
	blkin_span_tag_bool(span, "bool", 0);
	blkin_span_tag_int(span, "=\n", 3);
}

int main(void)
{
	const struct blkin_endpoint here = {"10.0.0.1", (int16_t)50000, "types"};
	struct blkin_span span;
	char filler[BLKIN_SPAN_TEXT - 1];

	memset(filler, 'x', sizeof(filler) - 1);
	filler[sizeof(filler) - 1] = '\0';
	blkin_span_start(&span, BLKIN_LOCAL, "with room", &here, NULL);
	put_tags(&span);
	blkin_span_error(&span, NULL);
	blkin_span_finish(&span);
	blkin_span_start(&span, BLKIN_LOCAL, "without", &here, NULL);
	blkin_span_tag(&span, "filler", filler + 8);
	put_tags(&span);
	blkin_span_error(&span, "disk is full");
	blkin_span_finish(&span);
	return 0;
}
