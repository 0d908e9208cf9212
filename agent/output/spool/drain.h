/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * When a spool will be empty, if it goes on as in the last seconds. What is stored meanwhile counts against
 * what is delivered. No I/O.
 */
#ifndef OUTPUT_SPOOL_DRAIN_H
#define OUTPUT_SPOOL_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

/* So many seconds are looked at. */
#define DRAIN_SAMPLES 20

enum drain_state {
	DRAIN_EMPTY,   /* there is nothing to deliver */
	DRAIN_STOPPED, /* it does not get less */
	DRAIN_BEGINS,  /* not known yet */
	DRAIN_KNOWN
};

struct drain {
	struct {
		int64_t at, left; /* CLOCK_MONOTONIC ns, spans */
	} sample[DRAIN_SAMPLES];
	unsigned count, next; /* how many there are; the place of the next one */
	int64_t left;         /* at the last call */
};

/* Forgets what was before. */
void drain_restart(struct drain *drain);

/*
 * Notes that @left spans wait at @now, as often as one likes. If there are more than before because the
 * collector was away for a moment (not @delivering), that says nothing of its pace: what was before is
 * forgotten.
 */
void drain_note(struct drain *drain, bool delivering, int64_t left, int64_t now);

/*
 * How things are at @now; with DRAIN_KNOWN, @seconds says how long it will take. If it is @paced, which may
 * take long for a batch, it has not stopped where nothing was delivered: only where there is more than
 * before.
 */
enum drain_state drain_look(
	const struct drain *drain, int64_t left, int64_t now, bool paced, int64_t *seconds);

#endif
