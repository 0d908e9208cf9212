/* SPDX-License-Identifier: BSD-2-Clause */
/* A pair as a span. Within reader/pair/. */
#ifndef READER_PAIR_PAIRSPAN_H
#define READER_PAIR_PAIRSPAN_H

#include "base/siphash.h"
#include "core/span.h"
#include "reader/pair/pair.h"

/* The tag of a span whose EXIT has not come. */
#define PAIR_UNFINISHED "blkin.unfinished"
/* Of one event's fields, so many become tags. */
#define PAIR_TAGS_MAX 512

/* Memory for a span's tags. Zero-initialised, and reused for the next span. */
struct pair_memory {
	struct tag *tags; /* allocated at the first use, */
	uint16_t *slots;  /* and where many of ENTER's are found: by a hash of the key, with this secret */
	uint8_t secret[SIPHASH_KEY_SIZE];
	struct buffer keys;
};

void pair_memory_free(struct pair_memory *memory);

/*
 * The span. It borrows from both. A field of EXIT that ENTER has, too, has `exit.` in front of its name, if
 * it has another value; if not, it is left out.
 */
struct span pair_span(const struct pair *pair, struct pair_memory *memory);

#endif
