/* SPDX-License-Identifier: BSD-2-Clause */
/* errorload SPANS: as many traces of one short span; of each ten one span has the tag `error`. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <blkin/blkin.h>

int main(int argc, char **argv)
{
	static const struct blkin_endpoint local = {"127.0.0.1", 80, "errors"};
	long spans = argc > 1 ? atol(argv[1]) : 0;

	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	for (long n = 0; n < spans; n++) {
		struct blkin_span span;

		blkin_span_start(&span, BLKIN_LOCAL, "try", &local, NULL);
		blkin_span_tag_int(&span, "ordinal", n);
		if (n % 10 == 0)
			blkin_span_tag(&span, "error", "failed");
		blkin_span_finish(&span);
	}
	return 0;
}
