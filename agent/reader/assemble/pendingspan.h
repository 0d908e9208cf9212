/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns a span in assembly into one that can be encoded. */
#ifndef READER_ASSEMBLE_PENDINGSPAN_H
#define READER_ASSEMBLE_PENDINGSPAN_H

#include "reader/assemble/pending.h"

/* Memory for a span's annotations and tags. Zero-initialised, and reused for the next span. */
struct pending_span_memory {
	struct buffer annotations, tags;
	struct buffer others; /* annotations, while a server's half is moved */
};

void pending_span_memory_free(struct pending_span_memory *memory);

/* Sets the annotations and tags of @span, which borrows them from @pending and @memory. */
void pending_span_lines(const struct pending *pending, struct pending_span_memory *memory, struct span *span);

/*
 * The span made of classic annotations; or of pieces whose span never came, with unknown duration. It borrows
 * from @pending and @memory.
 */
struct span pending_span(const struct pending *pending, struct pending_span_memory *memory);

/*
 * If client and server of one service used the same span id: moves the server's half from @span to @half,
 * which becomes a separate span. Otherwise returns false. The annotations are those in @memory.
 */
bool pending_span_split(struct span *span, struct pending_span_memory *memory, struct span *half);

#endif
