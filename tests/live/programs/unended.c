/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Records a good span every 10 ms until it is ended, and after each hundred of them one whose text has no
 * end: no reader of the trace can tell where the next event begins.
 */
#include <unistd.h>

#include <blkin/blkin.h>

#define SIZE 64

static void record_unended(void)
{
	char piece[BLKIN_FRONT_ + SIZE];

	memset(piece, 'x', sizeof(piece));
	blkin_provider_->whole[BLKIN_INFO](piece, SIZE);
}

int main(void)
{
	static const struct blkin_endpoint here = {"10.0.0.1", 1, "unended"};

	for (unsigned number = 1;; number++) {
		struct blkin_span span;

		blkin_span_start(&span, BLKIN_LOCAL, "good", &here, NULL);
		blkin_span_finish(&span);
		if (number % 100 == 0 && blkin_tracing())
			record_unended();
		usleep(10000);
	}
}
