/* SPDX-License-Identifier: BSD-2-Clause */
/* Spoils the metadata of its user, then logs an event every 50 ms until it is ended. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "spoiler.h"

#include <unistd.h>

int main(void)
{
	for (int number = 0;; number++) {
		lttng_ust_tracepoint(blkin, span, number);
		usleep(50000);
	}
}
