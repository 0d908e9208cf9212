/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How large a share of the traces makes so many spans a second, of what comes. It gets smaller within
 * seconds when more comes, and larger again when that was over for a minute, as each change cuts the traces
 * that are under way. No I/O, no clock.
 */
#ifndef OUTPUT_BUDGET_H
#define OUTPUT_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds that are averaged, and for which the largest of these means is remembered. */
#define BUDGET_MEAN 5
#define BUDGET_PEAK 60

/* What came in about a second. */
struct budget_second {
	double seconds;
	double came;   /* spans, */
	double kept;   /* of which so many are of traces that are kept, */
	double told;   /* and so many come from senders who keep a share, too, of which they told; */
	double before; /* these were so many there */
};

struct budget {
	double part;                 /* that is kept: 0 to 1 */
	double whole[BUDGET_PEAK];   /* spans of each second, if nobody left any out; a ring, */
	double seconds[BUDGET_PEAK]; /* how long these were, */
	double means[BUDGET_PEAK];   /* and the mean rates up to each */
	unsigned next;
	unsigned known; /* so many seconds since something came, up to the time of a mean */
};

/* Begins with all traces. */
void budget_init(struct budget *budget);

/* A second more has passed, and @rate spans/s (not 0) are to be kept. */
void budget_step(struct budget *budget, double rate, const struct budget_second *second);

/* Whether it has seen for long enough what comes: senders who keep a share go on with that until then. */
bool budget_knows(const struct budget *budget);

#endif
