/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Logs events with a sequence of so many elements, ten a second, until it is ended.
 *
 *     sequences whatever|span ELEMENTS
 *
 * Of these names the agent's session records `span`.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "sequences.h"

int main(int argc, char **argv)
{
	uint32_t count = argc == 3 ? (uint32_t)atol(argv[2]) : 0;
	uint8_t *bytes = calloc(1, count + 1);

	if (!count || !bytes)
		return 64;
	for (;;) {
		if (strcmp(argv[1], "span") == 0)
			lttng_ust_tracepoint(blkin, span, bytes, count);
		else
			lttng_ust_tracepoint(blkin, whatever, bytes, count);
		usleep(100000);
	}
}
