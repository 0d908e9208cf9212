/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One offset for each clock.
 *
 * A trace says which clock its times are of, by a uuid (LTTng's is the boot's id), and how far that clock is
 * from the epoch. LTTng measures that anew for each user's programs, for the kernel, and for each session, by
 * reading two clocks one after the other: so what it says of one clock differs by up to some microseconds,
 * and an event of the kernel would stand before the annotation that it came after. So all traces of one clock
 * have the offset that was met first.
 *
 * But the wall clock may have stepped between two sessions, and then both offsets are right, each for its
 * own. What tells them apart is the size: LTTng's measurements are microseconds apart, and whoever sets a
 * clock (NTP, an administrator, a resume) steps it by more than a millisecond, as smaller errors are slewed,
 * which moves CLOCK_MONOTONIC alike. So an offset that is a millisecond or more away is another one.
 *
 * Who compares times, and does not care for their dates, takes one offset for each clock all the same.
 *
 * Of several that are near enough it is the one met first, whatever came later: so what is read again, after
 * a restart, too, is dated as it was, as long as the table lives; it is kept with the checkpoint.
 */
#ifndef CORE_CLOCKOFFSETS_H
#define CORE_CLOCKOFFSETS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/pack.h"

/* So many offsets are known; of more, the oldest is forgotten. */
#define CLOCK_OFFSETS 64
#define CLOCK_UUID 16 /* bytes */
/* From so much on it is a step of the wall clock. */
#define CLOCK_STEP_NS (1 * NS_PER_MS)

struct clock_offsets {
	struct clock_offset {
		uint8_t clock[CLOCK_UUID];
		int64_t offset; /* ns from the epoch to the clock's 0 */
	} known[CLOCK_OFFSETS]; /* in the order in which they were met; zero-initialised is none */
	unsigned count;
	bool one_each; /* a clock has one, however far others are from it: to compare what it told, and not to
			  date that; not saved */
};

/* The offset that a trace is to have which says that the clock @uuid has @offset; it is noted, if it is a new
 * one. */
int64_t clock_offsets_take(struct clock_offsets *offsets, const uint8_t *uuid, int64_t offset);

void clock_offsets_save(const struct clock_offsets *offsets, struct buffer *out);

/* Reads what clock_offsets_save wrote; false if it is damaged, and then the table is empty. */
bool clock_offsets_load(struct clock_offsets *offsets, struct unpacker *from);

#endif
