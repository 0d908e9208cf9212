/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How many spans a second senders who replay may send, so that what waits on their disks stays there until
 * this output can deliver it, and each gets the same part. No I/O, no clock.
 */
#ifndef OUTPUT_GRANT_H
#define OUTPUT_GRANT_H

#include <stdbool.h>
#include <stdint.h>

/* What happened in about a second. */
struct grant_second {
	double seconds;
	double sent;     /* spans that the collector took, */
	double came;     /* those that came for it, */
	double replayed; /* and of these, from senders' disks */
	bool behind;     /* spans wait here, as the collector does not keep up */
	uint64_t senders;
};

struct grant {
	double sent, fresh; /* a second, lately */
};

/* What each sender may send a second of what it replays; 0: any number. */
uint64_t grant_step(struct grant *grant, const struct grant_second *second);

#endif
