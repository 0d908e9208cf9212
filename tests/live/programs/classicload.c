/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A load of classic annotations, in spans that overlap: at each moment many are open.
 *
 *     classicload SPANS OPEN RATE
 *
 * Records SPANS spans, of which OPEN are open at a time, each of: the tag `ordinal`, cs, step 1 to step 4,
 * cr. RATE annotations a second. Prints how many events it logged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define STEPS 7

static const struct blkin_endpoint here = {"10.2.0.1", 7100, "classic load"};

/* The step-th event of a span. */
static void annotate(struct blkin_trace *span, long ordinal, int step)
{
	char text[16];

	if (step == 0) {
		blkin_init_new_trace(span, "operation", &here);
		BLKIN_KEYVAL_INTEGER(span, NULL, "ordinal", ordinal);
	} else if (step == 1 || step == STEPS - 1) {
		BLKIN_TIMESTAMP(span, NULL, step == 1 ? "cs" : "cr");
	} else {
		snprintf(text, sizeof(text), "step %d", step - 1);
		BLKIN_TIMESTAMP(span, NULL, text);
	}
}

int main(int argc, char **argv)
{
	long spans = argc == 4 ? atol(argv[1]) : 0, open = argc == 4 ? atol(argv[2]) : 0, events = 0;
	uint64_t rate = argc == 4 ? strtoull(argv[3], NULL, 10) : 0, begun, due, now;
	struct blkin_trace *trace = calloc((size_t)(spans > 0 ? spans : 1), sizeof(*trace));

	if (spans < 1 || open < STEPS || !rate || !trace)
		return 64;
	blkin_init();
	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	begun = blkin_now();
	/* in round n, each span is at the step that its distance from n says; the steps are open / STEPS
	 * rounds apart */
	for (long round = 0; round < spans + open; round++) {
		for (int step = 0; step < STEPS; step++) {
			long ordinal = round - step * (open / STEPS);

			if (ordinal < 0 || ordinal >= spans)
				continue;
			annotate(&trace[ordinal], ordinal, step);
			due = begun + (uint64_t)++events * 1000000000 / rate;
			now = blkin_now();
			if (due > now + 1000000)
				usleep((useconds_t)((due - now) / 1000));
		}
	}
	printf("%ld\n", events);
	free(trace);
	return 0;
}
