/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Exemplars: for each part of a histogram, an octave of a series, a late span whose trace can be looked up.
 *
 * One thread writes, any may read: statistics.h.
 */
#ifndef STATS_EXEMPLARS_H
#define STATS_EXEMPLARS_H

#include <stddef.h>
#include <stdint.h>

#include "queue/keep.h"

struct exemplar {
	uint64_t trace_id_high, trace_id;
	uint64_t duration; /* ns */
	int64_t time;      /* ns since the epoch; 0: there is none */
};

struct exemplars;

/* Room for one of each of @count parts. */
struct exemplars *exemplars_create(uint32_t count);
void exemplars_destroy(struct exemplars *exemplars);

/* From now on they are of spans that @keep takes. Any thread. */
void exemplars_choose(struct exemplars *exemplars, const struct keep *keep);

/* A part takes no more than one in that time: whoever scrapes does so every few seconds. */
#define EXEMPLARS_NS (100 * INT64_C(1000000))

/* From now on they are of the moment @time, ns since the epoch; nothing has been taken since. */
void exemplars_set_time(struct exemplars *exemplars, int64_t time);

/* An exemplar that is soon followed by another one of its part is not worth that its trace is kept. */
#define EXEMPLARS_RARE_NS (2000 * INT64_C(1000000))

/* The low 64 bits of the ids of the traces that became exemplars since then, of parts that had none for so
 * long; @count of them; borrowed. */
const uint64_t *exemplars_taken(const struct exemplars *exemplars, size_t *count);

/* A span of that part will be offered soon. */
void exemplars_fetch(const struct exemplars *exemplars, uint32_t part);

/* A span of that part was counted. */
void exemplars_offer(struct exemplars *exemplars, uint32_t part, const struct trait *trait);

/* The part is another series' from now on. */
void exemplars_forget(struct exemplars *exemplars, uint32_t part);

/* Any thread */
struct exemplar exemplars_read(const struct exemplars *exemplars, uint32_t part);

#endif
