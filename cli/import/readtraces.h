/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For what looks at one trace or span in recorded traces (`blkin import --around`, `blkin why`): reads them
 * to their ends, in a guarded child, and keeps the spans that are looked for.
 */
#ifndef IMPORT_READTRACES_H
#define IMPORT_READTRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "import/guard.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/intake.h"

/* What is made of the traces, and for whom. */
struct traces_wanted {
	bool events;               /* the events of other tracepoints, too */
	struct pipeline_sink sink; /* is handed all that is made, in the order of time */
	/* Is told of each event of a span, with @data, as intake_options.seen is; NULL: nobody is. */
	void (*seen)(void *data, const struct event *event, int64_t tid, int64_t cpu);
	void *data;
};

/*
 * Reads the @traces (folders) to their ends; each step is counted in the @guard. False if one cannot be read:
 * @error (of @error_size) says why, what came before the damage was handed on, and memory is lost, as
 * babeltrace2 leaks what it failed with.
 */
bool traces_read(const struct config *config, const GPtrArray *traces, const struct traces_wanted *wanted,
	struct guard *guard, char *error, size_t error_size);

/*
 * Adds to @whole (which owns them: of struct span2) those of the spans that were @made and are of the trace
 * @id, or, if @by_span, are the span @id. At most AROUND_SPANS_MAX are kept: returns how many more there
 * were.
 */
uint64_t traces_keep_spans(GPtrArray *whole, const struct items *made, uint64_t id, bool by_span);

#endif
