/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast spans from disk are sent to one server beside the fresh ones: as fast as it takes them. The rate
 * begins low, grows by the second while they are taken, and falls by a part when the server is busy, so that
 * many nodes with a backlog share what the server has left, and none of them drowns it. What is paced is
 * sending: what the server put off is paid for again.
 *
 * No I/O, no clock.
 */
#ifndef OUTPUT_SERVER_SENDPACE_H
#define OUTPUT_SERVER_SENDPACE_H

#include <stdbool.h>
#include <stdint.h>

struct sendpace {
	double usual;  /* fresh spans a second, averaged over about ten seconds */
	double floor;  /* as [spool]'s replay-floor: what small nodes begin with, and grow by, are parts of it
			*/
	double rate;   /* spans a second */
	bool begun;    /* some were sent: until then the rate is what it begins with */
	double credit; /* spans that may be sent now; a call is sent as a whole, and may leave a debt */
	uint64_t fresh;
	int64_t now;        /* when the credit was reckoned, CLOCK_MONOTONIC ns */
	int64_t looked;     /* when what is usual was */
	int64_t until;      /* nothing before */
	int64_t busy_at;    /* when the rate fell; 0: never */
	int64_t limited_at; /* it held spans back since then; 0: it did not since it last grew */
};

/* @fresh spans have come in all, at @now. */
void sendpace_look(struct sendpace *pace, int64_t now, uint64_t fresh, uint64_t floor);

/* The server was away, and what it can take is not known any more: begins anew, after a random delay. */
void sendpace_restart(struct sendpace *pace, int64_t now);

/* How long to wait at @now; 0: one more call may be sent. */
int64_t sendpace_wait(struct sendpace *pace, int64_t now);

/* So many spans are sent. */
void sendpace_spend(struct sendpace *pace, uint32_t spans);

/* Nothing is owed: it was the batch that the server failed on, and not the pace. */
void sendpace_forgive(struct sendpace *pace);

/* It takes no more than so many a second, as it says. */
void sendpace_grant(struct sendpace *pace, uint64_t spans);

/* The server took spans, from disk or not, */
void sendpace_good(struct sendpace *pace, int64_t now);
/* or was too busy for any, or ended the connection. */
void sendpace_busy(struct sendpace *pace, int64_t now);

#endif
