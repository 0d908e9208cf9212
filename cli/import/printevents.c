/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/printevents.h"

#include "queue/encoding.h"
#include "write_out.h"

bool event_printer_put(struct event_printer *printer, const struct batch *records)
{
	struct batch *events = encode_batch(records, BATCH_EVENT_JSON, NULL);
	const uint8_t *at = events->spans.data;
	uint64_t count = 0;

	printer->lines.size = 0;
	for (uint32_t i = 0; i < events->count; i++) {
		uint32_t size = batch_sizes(events)[i];

		if (size) {
			buffer_put(&printer->lines, at, size);
			buffer_put(&printer->lines, "\n", 1);
		}
		count += size > 0;
		at += size;
	}
	printer->too_large += events->count - count;
	batch_unref(events);
	if (!write_out(printer->lines.data, printer->lines.size, &printer->failed))
		return false;
	printer->printed += count;
	return true;
}

void event_printer_free(struct event_printer *printer)
{
	buffer_free(&printer->lines);
}
