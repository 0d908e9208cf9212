/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes ten of the wrong event; built once for each (meson.build). Prints nothing. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "wrong_types.h"

#define RECORD(provider, event, number) lttng_ust_tracepoint(provider, event, number, "text")

int main(void)
{
	for (int i = 0; i < 10; i++)
		RECORD(WRONG_PROVIDER, WRONG_EVENT, i);
	return 0;
}
