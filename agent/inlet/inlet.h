/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The inlet: programs and other agents hand over spans, by one of the protocols of inputs.h, and these go to
 * every output as this node's own do.
 *
 * It has a thread, which may wait for room in the queues. A call is answered with OK once its spans are safe:
 * delivered or on disk at each output, and counted in the checkpoint; or already when they are in the queues,
 * by configuration. While they cannot be safe, the answer is TRY_LATER. Senders are strangers: what they send
 * is bounded for each of them and for all, and none of them holds up the others.
 */
#ifndef INLET_INLET_H
#define INLET_INLET_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"
#include "net/listen.h"
#include "queue/outlets.h"
#include "stats/statistics.h"

struct inlet;
struct protocol; /* inner.h */

struct inlet_options {
	struct traces *traces;  /* that the spans go through, too; borrowed, */
	struct namer *namer[2]; /* as are these: what comes from this node is counted; by whether messages
				   come with it */
	/* Spans were handed over, to be shown to who watches them. In the inlet's thread. */
	void (*show)(void *data, const struct items *spans);
	/* Writes the ledger down. In the inlet's thread. */
	void (*record)(void *data);
	/* Nothing more is handed over, after inlet_stop. In the inlet's thread, or in the caller's. */
	void (*stopped)(void *data);
	void *data;
};

/* Listens at @address, unless it is ""; one that cannot be had is tried again. There may be so many
 * @connections. One count of @outlets is taken over. NULL, and it is logged, if its thread cannot be had. */
struct inlet *inlet_create(const struct config *config, unsigned connections, const struct protocol *protocol,
	const char *address, struct outlets *outlets, const struct inlet_options *options);

/* Whether others of ours may listen at its port, too: while inputs move (net/listen.h). */
void inlet_share(struct inlet *inlet, bool on);

/* Its socket is among those @staying. */
void inlet_stay(struct inlet *inlet, struct listen_staying *staying);

/* Listens at another address, or path ("": none any more), shares its port until inlet_share says no, and is
 * among those @staying from then on. -1, having logged why, if that fails; nothing has changed then. */
int inlet_move(struct inlet *inlet, const char *address, struct listen_staying *staying);

/* The same, to where it was, after that of another one failed: what cannot be had now is tried again. */
void inlet_move_back(struct inlet *inlet, const char *address);

/* Takes the other values, and one count of @outlets. */
void inlet_configure(
	struct inlet *inlet, const struct config *config, unsigned connections, struct outlets *outlets);

/* Takes no more calls. What waits for its answer goes on waiting. */
void inlet_stop(struct inlet *inlet);

/* Answers what can be answered, and frees it; the outputs have ended. */
void inlet_destroy(struct inlet *inlet);

struct inlet_state {
	char address[280];            /* "": it is off */
	char error[256];              /* why it does not listen although it should; "" if it does */
	unsigned connections;         /* now, */
	unsigned largest;             /* of who has the most of them, */
	unsigned most;                /* and at most */
	int64_t crowded;              /* when there was no room for one more; CLOCK_MONOTONIC; 0: never; */
	unsigned crowded_connections; /* how many there were then, */
	char holder[64];              /* and who had the most of them: */
	unsigned holder_connections;
	uint64_t waiting_calls; /* for their answer, */
	uint64_t bytes, limit;  /* that their messages take, and may take */
	bool putting_off;       /* the last call was told to try later */
	int64_t looped;      /* when one was of items that had been here before; CLOCK_MONOTONIC; 0: never */
	char loop_peer[64];  /* by whom */
	int64_t again;       /* when some came that are taken again and again; CLOCK_MONOTONIC; 0: never; */
	char again_peer[64]; /* by whom */
};

void inlet_read_state(struct inlet *inlet, struct inlet_state *state);

#endif
