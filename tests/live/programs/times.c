/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * THREADS threads record SPANS spans each. Each has an annotation that CLOCK_MONOTONIC is read before and
 * after: tags have both, in nanoseconds after the span's start, and how long after the kernel's time before
 * it the span started.
 */
#include <time.h>

#include <blkin/blkin.h>

#define THREADS 4
#define SPANS 500

static int64_t read_kernel(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void record(void)
{
	static const struct blkin_endpoint here = {"10.0.0.1", 1, "times"};
	struct blkin_span span;
	int64_t first = read_kernel(), start, before;

	blkin_span_start(&span, BLKIN_LOCAL, "timed", &here, NULL);
	start = (int64_t)span.record.start;
	before = read_kernel();
	blkin_span_annotate(&span, "now");
	blkin_span_tag_int(&span, "after", read_kernel() - start);
	blkin_span_tag_int(&span, "before", before - start);
	blkin_span_tag_int(&span, "waited", start - first);
	blkin_span_annotate(&span, "then");
	blkin_span_finish(&span);
}

static void *work(void *nothing)
{
	for (int i = 0; i < SPANS; i++)
		record();
	return nothing;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
