/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records a good span every 10 ms until it is ended, and after each hundred of them an event whose text has
 * no end: no reader of the trace can tell where the next event begins.
 */
#include <string.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include <lttng/tracepoint.h>

static inline size_t unended_size(size_t *sizes, void *data, const char *text, size_t bytes)
{
	(void)data;
	(void)text;
	sizes[0] = bytes;
	return bytes;
}

#include "unended.h"

#define SIZE 64

int main(void)
{
	static const struct blkin_endpoint here = {"10.0.0.1", 1, "unended"};
	char text[SIZE];

	memset(text, 'x', SIZE);
	for (unsigned number = 1;; number++) {
		struct blkin_span span;

		blkin_span_start(&span, BLKIN_LOCAL, "good", &here, NULL);
		blkin_span_finish(&span);
		if (number % 100 == 0)
			lttng_ust_tracepoint(zipkin, keyval, text, (size_t)SIZE);
		usleep(10000);
	}
}
