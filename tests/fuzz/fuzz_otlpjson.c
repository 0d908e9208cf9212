/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of OTLP in JSON, from anybody: none or all of one is taken, and goes on as it came. */
#include "otlp_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own, so that the sanitizer sees what is read behind it. */
	char *copy = malloc(size ? size : 1);
	struct otlp_seen seen = {0};
	const struct otlptraces_sink sink = {see_span, see_refused, &seen};
	bool good;

	memcpy(copy, data, size);
	good = otlptraces_read_json(copy, size, &otlp_memory, &sink);
	fuzz_hold(good || !seen.spans, "what is damaged gives no span");
	if (good)
		hold_same(&seen);
	see_free(&seen);
	free(copy);
	return 0;
}
