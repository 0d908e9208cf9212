/* SPDX-License-Identifier: BSD-2-Clause */
/* A program of 2014: it brings BlkKin's events of that time itself, and records one span of a client with
 * them. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "layout2014.h"

int main(void)
{
	static const char *const what[] = {"cs", "sent to the store", "cr"};

	lttng_ust_tracepoint(
		zipkin, keyval, "Read", "old client", 5001, "10.4.0.1", 77, 78, 77, "object", "motd");
	for (int i = 0; i < 3; i++)
		lttng_ust_tracepoint(
			zipkin, timestamp, "Read", "old client", 5001, "10.4.0.1", 77, 78, 77, what[i]);
	return 0;
}
