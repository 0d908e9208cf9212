/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Histograms of durations whose buckets are a sixteenth of a power of two wide: whatever is asked of one is
 * within HISTOGRAM_ERROR of the exact answer, for any spread of the values. All have the same buckets, so two
 * of them add up, and differ, bucket by bucket: those of other nodes, or of two moments, too.
 */
#ifndef STATS_HISTOGRAM_H
#define STATS_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

/* Half of a bucket's width, as a share of its values: 1/32. */
#define HISTOGRAM_ERROR 0.03125

/* Values below 16 have a bucket each; from there on, each octave has 16. Larger values are in the last one:
 * 26 days, in ns. */
#define HISTOGRAM_STEPS 16
#define HISTOGRAM_OCTAVES 48
#define HISTOGRAM_BUCKETS (HISTOGRAM_OCTAVES * HISTOGRAM_STEPS)

static inline unsigned histogram_bucket(uint64_t value)
{
	unsigned shift, bucket;

	if (value < HISTOGRAM_STEPS)
		return (unsigned)value;
	shift = 59 - (unsigned)__builtin_clzll(value);
	bucket = (shift + 1) * HISTOGRAM_STEPS + ((value >> shift) & (HISTOGRAM_STEPS - 1));
	return bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1;
}

/* The least value of a bucket, and the one in the middle, which stands for all of them. */
uint64_t histogram_least(unsigned bucket);
double histogram_middle(unsigned bucket);

/* The buckets that are not empty, in their order. Zero-initialised it is empty; histogram_clear ends it. */
struct histogram {
	struct histogram_count {
		uint32_t bucket;
		uint64_t count;
	} * counts;
	uint32_t used, room;
};

void histogram_clear(struct histogram *histogram);

/* Appends a bucket that is behind all that are there. */
void histogram_append(struct histogram *histogram, uint32_t bucket, uint64_t count);

/* Adds the counts of another one; takes away those of the same one at an earlier moment. */
void histogram_merge(struct histogram *into, const struct histogram *more);
void histogram_subtract(struct histogram *from, const struct histogram *before);

uint64_t histogram_total(const struct histogram *histogram);

/* The value that a share of @quantile of all values do not exceed; 0 if there are none. */
double histogram_quantile(const struct histogram *histogram, double quantile);

#endif
