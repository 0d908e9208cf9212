/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How evenly spans are sent to a server that was busy a moment ago, fresh ones and those from disk. What came
 * while the server was left alone is not sent at once when the rest is over: where few nodes share a server,
 * that alone would make it busy again, and again.
 *
 * The rate is never below what comes in, and does not fall when the server is busy again: one that puts off a
 * call now and then, whatever it is sent, gets all of it. The more waits, the higher it is.
 *
 * No I/O, no clock.
 */
#ifndef OUTPUT_SERVER_EVENPACE_H
#define OUTPUT_SERVER_EVENPACE_H

#include <stdbool.h>
#include <stdint.h>

struct evenpace {
	double rate;     /* spans a second; 0: any number */
	double credit;   /* spans that may be sent now; a call is sent as a whole, and may leave a debt */
	int64_t now;     /* when the credit was reckoned, CLOCK_MONOTONIC ns */
	int64_t busy_at; /* when the server was busy the last time; 0: never */
	bool over;       /* for good */
};

/* The server was busy at @now. */
void evenpace_busy(struct evenpace *pace, int64_t now);

/* Whether that was so lately. */
bool evenpace_is_on(const struct evenpace *pace, int64_t now);

/*
 * How long to wait at @now, ns, while so many spans come in a second (from anywhere: @come), and so many
 * fresh ones wait; 0: one more call may be sent. Not to be called while the server rests.
 */
int64_t evenpace_wait(struct evenpace *pace, double come, uint64_t waiting, int64_t now);

/* How many spans a call may have; UINT32_MAX: any number. */
uint32_t evenpace_most(const struct evenpace *pace);

/* So many are sent. */
void evenpace_spend(struct evenpace *pace, uint32_t spans);

/* There is no time for that any more. */
void evenpace_end(struct evenpace *pace);

#endif
