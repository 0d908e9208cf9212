/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes ten of each wrong event; built once for each provider (meson.build). Prints nothing. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "wrong_types.h"

#define RECORD(provider, event, number) lttng_ust_tracepoint(provider, event, number, "text")

int main(void)
{
	for (int i = 1; i <= 10; i++) {
		RECORD(WRONG_PROVIDER, WRONG_EVENT, i);
#ifdef WRONG_MORE
		RECORD(WRONG_PROVIDER, span_err, (uint64_t)i);
		RECORD(WRONG_PROVIDER, span_loud, (uint64_t)i);
		lttng_ust_tracepoint(WRONG_PROVIDER, span2, (uint64_t)i);
		RECORD(WRONG_PROVIDER, span2_err, (uint64_t)i);
		lttng_ust_tracepoint(WRONG_PROVIDER, span2_crit, "0 0 0 0 0 no ids");
#endif
	}
	return 0;
}
