/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How fast spans are sent to a server that was busy a moment ago: all of them, fresh or from disk. What came
 * while the server was left alone is not sent at once when the rest is over: where few nodes share a server,
 * that alone would make it busy again, and again. The rate begins with more than what usually comes, grows
 * while it holds spans back, the faster the longer that lasts, and falls by a part each time that the server
 * is busy; some seconds after the last time there is none.
 *
 * No I/O, no clock.
 */
#ifndef OUTPUT_SERVER_BUSYPACE_H
#define OUTPUT_SERVER_BUSYPACE_H

#include <stdbool.h>
#include <stdint.h>

struct busypace {
	double usual;    /* fresh spans a second, as known from when the server took them; 0: not known */
	double begun;    /* what that was when the rate began */
	double rate;     /* spans a second */
	double credit;   /* spans that may be sent now; a call is sent as a whole, and may leave a debt */
	double held;     /* seconds in which it held spans back since the server was busy */
	int64_t good_at; /* when the server took something, CLOCK_MONOTONIC ns; 0: never */
	int64_t now;     /* when the credit was reckoned, */
	int64_t since;   /* and from when on the server was not busy */
	bool on;         /* there is a rate */
	bool rests;      /* the server was busy, and nothing was to be sent since */
	bool took;       /* it took something since it was busy */
	bool holds;      /* spans are held back */
};

/* The server took spans at @now, when so many fresh ones @usual come in a second; 0: that is not known. */
void busypace_good(struct busypace *pace, double usual, int64_t now);

/* It was too busy for any, or ended the connection; @replayed spans a second come from disk from now on. */
void busypace_busy(struct busypace *pace, double replayed, int64_t now);

/* How long to wait at @now, ns; 0: one more call may be sent. Not to be called while the server rests. */
int64_t busypace_wait(struct busypace *pace, int64_t now);

/* There is nothing to send, so nothing is held back. */
void busypace_idle(struct busypace *pace);

/* How many spans a call may have; UINT32_MAX: as many as it likes. */
uint32_t busypace_most(const struct busypace *pace);

/* So many spans are sent. */
void busypace_spend(struct busypace *pace, uint32_t spans);

/* There is no rate any more, until the server is busy again. */
void busypace_end(struct busypace *pace);

#endif
