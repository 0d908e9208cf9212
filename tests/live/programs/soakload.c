/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A steady load for tests/live/test_soak.py: classic spans of six annotations each, whose trace id and span
 * id are their number, from FIRST.
 *
 *     soakload RATE FIRST
 *
 * RATE is in spans a second. It ends on SIGTERM, having finished the span at hand, and prints how many it
 * recorded.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <blkin/blkin.h>

static const struct blkin_endpoint here = {"10.7.0.1", 6800, "soak"};
static volatile sig_atomic_t over;

static void end(int number)
{
	(void)number;
	over = 1;
}

static void record(uint64_t number)
{
	struct blkin_trace_info ids = {(int64_t)number, (int64_t)number, 0};
	struct blkin_trace trace;

	blkin_init_new_trace(&trace, "request", &here);
	blkin_set_trace_info(&trace, &ids);
	BLKIN_TIMESTAMP(&trace, NULL, "sr");
	BLKIN_KEYVAL_STRING(&trace, NULL, "object", "rbd_data.10226b8b4567.000000000000042a");
	BLKIN_KEYVAL_INTEGER(&trace, NULL, "bytes", 4194304);
	BLKIN_TIMESTAMP(&trace, NULL, "queued");
	BLKIN_TIMESTAMP(&trace, NULL, "committed");
	BLKIN_TIMESTAMP(&trace, NULL, "ss");
}

int main(int argc, char **argv)
{
	uint64_t rate = argc == 3 ? strtoull(argv[1], NULL, 10) : 0, done = 0, begun;
	uint64_t first = rate ? strtoull(argv[2], NULL, 10) : 0;

	if (!first)
		return EX_USAGE;
	signal(SIGTERM, end);
	for (int i = 0; i < 200 && !(blkin_tracing() && BLKIN_CLASSIC_ON_(timestamp)); i++)
		usleep(50000);
	begun = blkin_now();
	while (!over) {
		uint64_t due = (blkin_now() - begun) / 1000 * rate / 1000000;

		while (done < due && !over)
			record(first + done++);
		usleep(1000);
	}
	printf("%" PRIu64 "\n", done);
	return EXIT_SUCCESS;
}
