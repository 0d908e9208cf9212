/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder's side of the agent: of a late span's trace it asks the reader for a snapshot of what
 * the kernel did (session/flightsession.h), has `blkin why` find out where the time went, in a process of its
 * own, and keeps the answer below the state directory (flightfolder.h). One at a time, a few a minute.
 *
 * It belongs to the supervisor's thread.
 */
#ifndef SUPERVISE_FLIGHT_H
#define SUPERVISE_FLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "config/config.h"
#include "queue/batch.h"
#include "stats/statistics.h"

struct flight;

/* Why a late trace was not kept: who is to do something about it. */
enum flight_fault {
	FLIGHT_FAULT_FOLDER,   /* it cannot be made */
	FLIGHT_FAULT_ROOM,     /* its disk is full */
	FLIGHT_FAULT_SNAPSHOT, /* LTTng */
	FLIGHT_FAULT_PROGRAM,  /* there is no `blkin` */
	FLIGHT_FAULT_ANSWER    /* `blkin why` */
};

/* The last one, unless one was kept since then. */
struct flight_failure {
	int64_t at; /* CLOCK_MONOTONIC ns; 0: there is none */
	enum flight_fault fault;
	uint64_t trace_id;
	char why[512]; /* a sentence without its end */
};

/* What an agent before this one has left unfinished is removed. */
struct flight *flight_create(const struct config *config);

/* Ends what it does, and removes what is not finished. */
void flight_destroy(struct flight *flight);

/* Another configuration holds, which is also @text, for the process. Any thread. */
void flight_configure(struct flight *flight, const struct config *config, const struct buffer *text);

/* Looks for late ones among spans that were counted, after statistics_take, for whoever holds the statistics.
 */
void flight_see(struct flight *flight, const struct namer *namer, const struct items *spans);

/* Goes on with what is under way; to be called again and again. Returns the number of a snapshot that the
 * reader is to be asked for; 0: none. @ready: the reader can be asked. */
uint64_t flight_tick(struct flight *flight, bool ready);

/* Any thread. */
void flight_read_failure(struct flight *flight, struct flight_failure *failure);

/* The reader has taken the snapshot of this number, or could not, and said why. */
void flight_snapped(struct flight *flight, uint64_t number, const char *error);

#endif
