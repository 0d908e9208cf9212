/* SPDX-License-Identifier: BSD-2-Clause */
/* From a span in assembly to one that can be encoded. */
#ifndef ASSEMBLE_PENDINGSPAN_H
#define ASSEMBLE_PENDINGSPAN_H

#include "assemble/pending.h"

/* What a span's annotations and tags are laid out in. Zero-initialised, and used again from span to span. */
struct pending_span_memory {
	struct buffer annotations, tags;
};

void pending_span_memory_free(struct pending_span_memory *memory);

/* Gives @span the annotations and tags that are pending; it borrows them from @pending and @memory. */
void pending_span_lines(const struct pending *pending, struct pending_span_memory *memory, struct span *span);

/*
 * The span that is made of classic annotations; or of pieces whose span never came, and so of unknown
 * duration. It borrows from @pending and @memory.
 */
struct span pending_span(const struct pending *pending, struct pending_span_memory *memory);

/*
 * Where client and server of one service came together under one span id: makes @half the server's half,
 * which goes in a log entry of its own, as an entry carries one span only, and takes it out of @span.
 * Otherwise returns false. The annotations are those in @memory.
 */
bool pending_span_split(struct span *span, struct pending_span_memory *memory, struct span *half);

#endif
