/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The steps of the wall clock.
 *
 * LTTng takes the offset between its clock (CLOCK_MONOTONIC) and the wall clock once, when a session starts;
 * when the wall clock is set, or the machine was suspended, everything that the session records later is
 * dated wrongly. So the reader looks at both clocks as it goes, remembers at which moment the offset stepped,
 * and dates events by the offset that held when they were recorded. The table outlives the agent in its
 * checkpoint, but not the boot, after which CLOCK_MONOTONIC starts again: it is of one boot, and what earlier
 * sessions have left must be read before the first look. Less than a millisecond is no step.
 *
 * What it corrects has the same offset as traces that began behind the step: see clockoffsets.h, whose table
 * it keeps.
 */
#ifndef CORE_CLOCKSTEPS_H
#define CORE_CLOCKSTEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"
#include "core/clockoffsets.h"

#define CLOCK_STEPS 64
#define CLOCK_BOOT CLOCK_UUID /* bytes of a boot's id, which LTTng's clocks have as their uuid */

struct clock_steps {
	struct clock_step {
		int64_t since;  /* CLOCK_MONOTONIC ns */
		int64_t offset; /* from then on: wall clock minus CLOCK_MONOTONIC, ns */
	} step[CLOCK_STEPS];    /* the last of them; zero-initialised is none */
	unsigned count;
	int64_t looked;           /* last; CLOCK_MONOTONIC ns */
	uint8_t boot[CLOCK_BOOT]; /* whose table it is; zeros: that is not known */
	struct clock_offsets
		offsets; /* those of all clocks that were read, of this boot and of earlier ones */
};

/* Looks at the clocks. Returns whether the wall clock stepped since the last look; @by is by how much, ns. */
bool clock_steps_look(struct clock_steps *steps, int64_t *by);

/* The wall clock time of an event recorded at @moment (CLOCK_MONOTONIC ns), which the trace, with the one
 * offset of its clock, dates @traced. */
int64_t clock_steps_time(struct clock_steps *steps, int64_t moment, int64_t traced);

void clock_steps_save(const struct clock_steps *steps, struct buffer *out);

/* Reads what clock_steps_save wrote; false if it is damaged, and then the table is empty. */
bool clock_steps_load(struct clock_steps *steps, struct unpacker *from);

#endif
