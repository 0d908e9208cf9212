/* SPDX-License-Identifier: BSD-2-Clause */
/* Files of spans as outputs of `type = file` write them: a line is a span, a JSON object of Zipkin's version
 * 2, or a request of OTLP. */
#ifndef IMPORT_LINES_H
#define IMPORT_LINES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/ledger.h"
#include "queue/batch.h"

struct lines_counts {
	uint64_t read;
	uint64_t spans; /* in them */
	uint64_t bad;   /* that are no spans, and were said to be none */
};

/* Where the spans go: as struct pipeline_sink in agent/reader/assemble/pipeline.h. */
struct lines_sink {
	void (*hand)(void *data, struct ledger *change, const struct items *spans, bool at_once);
	void *data;
	atomic_bool *stop;   /* reads no further */
	atomic_ulong *steps; /* is counted up with each line */
};

/* Reads all the files; false, having said why, if one of them cannot be read. */
bool lines_read(const GPtrArray *files, const struct lines_sink *sink, struct lines_counts *counts);

#endif
