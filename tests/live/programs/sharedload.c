/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * sharedload front|back TRACES: this service's half of so many traces, whose ids follow from their numbers,
 * so that another node can record the other half. Two spans of each trace: of ten traces one fails at the
 * front, and of seven one is slow at the back; a slow span takes 20 ms, any other 1 ms.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define MS UINT64_C(1000000)

static void record(
	enum blkin_kind kind, const struct blkin_endpoint *local, uint64_t trace, bool failed, bool slow)
{
	/* any number that is odd spreads the ids, and makes each of them once */
	struct blkin_context parent = {.trace_id = trace * UINT64_C(0x9e3779b97f4a7c15), .span_id = trace};
	uint64_t start, took = slow ? 20 * MS : MS;
	struct blkin_span span;

	blkin_span_start(&span, kind, "work", local, &parent);
	/* its end is made up, and must not lie in the future */
	start = span.recording ? span.record.start -= took : 0;
	blkin_span_tag_int(&span, "trace", (int64_t)trace);
	if (failed)
		blkin_span_tag(&span, "error", "failed");
	blkin_span_finish_at(&span, start + took);
}

int main(int argc, char **argv)
{
	bool front = argc > 1 && !strcmp(argv[1], "front");
	const struct blkin_endpoint local = {"127.0.0.1", 80, front ? "front" : "back"};
	uint64_t traces = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;

	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	for (uint64_t n = 1; n <= traces; n++) {
		record(front ? BLKIN_CLIENT : BLKIN_SERVER, &local, n, front && n % 10 == 0, false);
		record(BLKIN_LOCAL, &local, n, false, !front && n % 7 == 0);
		if (n % 100 == 0)
			usleep(5000);
	}
	return 0;
}
