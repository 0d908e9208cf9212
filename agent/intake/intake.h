/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The intake: programs and other agents hand over messages by Scribe's Log(), and spans among them go to every
 * output as this node's own do.
 *
 * It has a thread, which may wait for room in the queues. A call is answered with OK once its spans are safe:
 * delivered or on disk at each output, and counted in the books; or already when they are in the queues, by
 * configuration. While they cannot be safe, the answer is TRY_LATER. Senders are strangers: what they send is
 * bounded for each of them and for all, and none of them holds up the others.
 */
#ifndef INTAKE_INTAKE_H
#define INTAKE_INTAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "queue/outlets.h"

struct intake;

struct intake_options {
	/* Asks for the ledger to be written down; intake_recorded(@number) says that it was. In the intake's
	 * thread. */
	void (*record)(void *data, uint64_t number);
	/* Nothing more is handed over, after intake_stop. In the intake's thread, or in the caller's. */
	void (*stopped)(void *data);
	void *data;
};

/* Listens if the configuration says so; an address that cannot be had is tried again. One count of @outlets is
 * taken over. NULL, and it is logged, if its thread cannot be had. */
struct intake *intake_create(
	const struct config *config, struct outlets *outlets, const struct intake_options *options);

/* Listens at another address ("": none any more). -1, having logged why, if that fails; nothing has changed then. */
int intake_move(struct intake *intake, const char *address);

/* Takes the other values, and one count of @outlets. */
void intake_configure(struct intake *intake, const struct config *config, struct outlets *outlets);

/* What was asked for by this number is written down. Any thread. */
void intake_recorded(struct intake *intake, uint64_t number);

/* Takes no more calls. What waits for its answer goes on waiting. */
void intake_stop(struct intake *intake);

/* Answers what can be answered, and frees it; the outputs have ended. */
void intake_destroy(struct intake *intake);

struct intake_state {
	char address[280];      /* "": it is off */
	char error[256];        /* why it does not listen although it should; "" if it does */
	unsigned connections;   /* now, */
	uint64_t waiting_calls; /* for their answer, */
	uint64_t bytes, limit;  /* that their messages take, and may take */
	bool putting_off;       /* the last call was told to try later */
	int64_t looped;         /* when one was that came from this agent itself; CLOCK_MONOTONIC; 0: never */
	char loop_peer[64];     /* by whom */
};

void intake_read_state(struct intake *intake, struct intake_state *state);

#endif
