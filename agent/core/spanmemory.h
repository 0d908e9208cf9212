/* SPDX-License-Identifier: BSD-2-Clause */
/* Where those who read spans put what a span has several of, and texts without their escapes. One owner at a
 * time. */
#ifndef CORE_SPANMEMORY_H
#define CORE_SPANMEMORY_H

#include "base/buffer.h"
#include "core/span.h"

/* Zero it first. A span that was read borrows from it until the next one is. */
struct span_memory {
	struct buffer annotations, tags; /* of struct annotation, of struct tag */
	struct buffer texts;
	struct buffer more; /* struct span_more, and what it has */
	uint32_t left_out;  /* so many tags were there that a span has no place for */
};

static inline void span_memory_clear(struct span_memory *memory)
{
	memory->annotations.size = memory->tags.size = memory->texts.size = memory->more.size = 0;
	memory->left_out = 0;
}

static inline void span_memory_free(struct span_memory *memory)
{
	buffer_free(&memory->annotations);
	buffer_free(&memory->tags);
	buffer_free(&memory->texts);
	buffer_free(&memory->more);
}

#endif
