/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans of late and failed traces, so that the page can show them where no other program does.
 *
 * All spans go through a ring of bytes, in which the latest overwrite the oldest. Those of traces that are
 * wanted, as an exemplar is of them, are copied before they are overwritten, and are kept for as long as the
 * exemplar is listed, or until others need the room.
 *
 * Any thread may call. All functions take NULL, for which nothing is kept.
 */
#ifndef STATS_TRACES_H
#define STATS_TRACES_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "queue/batch.h"

struct traces;

/* An item as it came. */
struct traced {
	uint8_t format; /* an enum batch_format of spans */
	size_t size;
	uint8_t bytes[];
};

/* For @bytes of spans, in total; NULL if that is 0. */
struct traces *traces_create(size_t bytes);
void traces_destroy(struct traces *traces);

/* Spans that came (NULL: none), with their traits; @wanted: the low 64 bits of the ids of @count traces,
 * which are wanted from now on. */
void traces_take(struct traces *traces, const struct items *spans, const uint64_t *wanted, size_t count);

/* These traces are wanted, and of all that was wanted up to now no other one is. */
void traces_keep_only(struct traces *traces, const uint64_t *listed, size_t count);

/* So much of a trace is found at most, as whoever shows it holds up others. */
#define TRACES_FOUND_MAX 4000
#define TRACES_FOUND_BYTES (4 * 1024 * 1024)

/* What there is of a trace: of struct traced, in the order in which it came, the caller's. @trace_id_high: 0
 * finds any. @missed: so many more spans of it came. */
GPtrArray *traces_find(struct traces *traces, uint64_t trace_id_high, uint64_t trace_id, uint32_t *missed);

#endif
