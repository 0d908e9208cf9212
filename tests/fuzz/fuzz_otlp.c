/* SPDX-License-Identifier: BSD-2-Clause */
/* Requests of OTLP in Protocol Buffers, from anybody: none or all of one is taken, and goes on as it came. */
#include "otlp_rules.h"

#include "encode/otlplogs.h"

/* What a record becomes is taken apart again. */
static void hold_record(void *data, const uint8_t *payload, size_t size)
{
	struct otlpitem item;

	(void)data;
	fuzz_hold(otlplogs_split(payload, size, &item), "a record is a request of its own");
}

/* The same bytes as a request of logs; and as a message that says it is one. */
static void hold_logs(const uint8_t *data, size_t size)
{
	static struct buffer room;
	struct otlpcheck_found found;
	struct otlpitem item;

	if (otlplogs_check(data, size, &found))
		otlplogs_read(data, size, &room, hold_record, NULL);
	if (otlplogs_split(data, size, &item))
		fuzz_hold(item.process_size + item.scope_size + item.span_size < size, "it borrows");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of its own, so that the sanitizer sees what is read behind it. */
	uint8_t *copy = malloc(size ? size : 1);
	struct otlp_seen seen = {0};
	const struct otlptraces_sink sink = {see_span, see_refused, &seen};
	bool good;

	memcpy(copy, data, size);
	good = otlptraces_read(copy, size, &otlp_memory, &sink);
	fuzz_hold(good || !seen.spans, "what is damaged gives no span");
	if (good)
		hold_same(&seen);
	hold_logs(copy, size);
	see_free(&seen);
	free(copy);
	return 0;
}
