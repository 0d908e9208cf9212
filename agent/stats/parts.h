/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Parts of histograms, an octave each, in a room of a fixed size that all series share. A part has an
 * exemplar too: a late span of that octave, whose trace can be looked up.
 *
 * One thread counts, any may read: statistics.h.
 */
#ifndef STATS_PARTS_H
#define STATS_PARTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "queue/keep.h"
#include "stats/histogram.h"

/* A span to show for its octave. */
struct exemplar {
	uint64_t trace_id_high, trace_id;
	uint64_t duration; /* ns */
	int64_t time;      /* ns since the epoch; 0: there is none */
};

/* The parts of one histogram. Zero-initialised, it is empty. */
struct octaves {
	_Atomic bool cut;                         /* there was no part left for some */
	_Atomic uint16_t part[HISTOGRAM_OCTAVES]; /* 0: none yet */
};

struct parts;

struct parts *parts_create(void);
void parts_destroy(struct parts *parts);

/* Exemplars are from now on of this time, ns since the epoch; each octave takes one of them. */
void parts_begin_turn(struct parts *parts, int64_t time);

/* Counts a duration that is not 0; the span may become an exemplar if @shown takes it. */
void parts_count(struct parts *parts, struct octaves *of, const struct trait *trait, const struct keep *shown);

/* Appends its buckets to an empty @histogram. */
void parts_read(const struct parts *parts, const struct octaves *of, struct histogram *histogram);

/* Each octave's exemplar, HISTOGRAM_OCTAVES of them. */
void parts_read_exemplars(const struct parts *parts, const struct octaves *of, struct exemplar *exemplars);

#endif
