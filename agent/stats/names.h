/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's names: each span's service, name and program as numbers, so that the agent counts spans
 * without reading them. A number is a place in a table of what was seen lately; whenever something new gets
 * a place, its words go ahead of the span that has it. The table is all that there is: it never grows.
 */
#ifndef STATS_NAMES_H
#define STATS_NAMES_H

#include <stdint.h>

#include "base/buffer.h"
#include "core/span.h"

/* Places for pairs of a service and a span's name, of which there are some for each that the statistics have
 * room for; and for programs. */
#define NAMES_SERIES 32768
#define NAMES_PROGRAMS 4096
/* So many bytes of each text are told. */
#define NAMES_TEXT_MAX 128

/* A span's. */
struct named {
	uint32_t series, program;
};

/* Words that go before span number @at, packed: at, kind, place, then the texts, or name, pid and user. */
enum names_kind { NAMES_OF_SERIES, NAMES_OF_PROGRAM };

struct names;

struct names *names_create(void);
void names_destroy(struct names *names);

/* Hashes of what a span is looked up by. */
struct name_keys {
	uint64_t series, program;
};

/* The span's; the processor fetches their places meanwhile, as of many names they are not in its cache. */
struct name_keys names_keys(const struct names *names, const struct span *span);

/* The span's numbers; the words of those that are new are appended to @words. @at: its number. */
struct named names_of(struct names *names, const struct span *span, const struct name_keys *keys, uint32_t at,
	struct buffer *words);

#endif
