/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The canary: a program of the agent's own that records an event every few seconds, which is to come back
 * through LTTng and the reader as others' do. While it does, what programs record arrives; when none has for
 * ten seconds and CANARY_TURNS, that is known, also on a node where no program records anything at the
 * moment.
 *
 * The program (canary.c) is traced as any other, and has the ring buffers of the agent's user. Whatever
 * becomes of it, it does not harm the agent, which only writes numbers to it, and does not wait.
 */
#ifndef SUPERVISE_CANARY_H
#define SUPERVISE_CANARY_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

struct canary;
struct page;

/* So many turns of the live timer an event may be away beside all else: one to its packet, and one to what
 * tells that nothing older comes. */
#define CANARY_TURNS 2

/* How it is. */
enum canary_mood {
	CANARY_OFF,        /* the configuration wants none */
	CANARY_STARTS,     /* there was no time yet, or no session */
	CANARY_MISSING,    /* it cannot be had: @error says why */
	CANARY_UNRECORDED, /* it runs, but no session records its event */
	CANARY_LATE,       /* an event has not come back for long */
	CANARY_WELL
};

/* Where what is recorded stays, as far as one can tell. */
enum canary_stage { STAGE_SESSION_DAEMON, STAGE_CONSUMER, STAGE_RELAY, STAGE_READER };

struct canary_state {
	enum canary_mood mood;
	bool registered; /* it is one of the programs that the session daemon knows */
	int64_t lag;   /* of the last event that came back, or that of one that has been away for longer, ns;
			  -1: none was recorded yet */
	int64_t came;  /* when the last one did, CLOCK_MONOTONIC ns; 0: none has */
	int64_t since; /* of CANARY_LATE and CANARY_UNRECORDED: since when; CLOCK_MONOTONIC ns */
	enum canary_stage stage; /* of CANARY_LATE */
	char error[256];
};

/* @page is borrowed. */
struct canary *canary_create(const struct config *config, struct page *page);

/* Whether there is a session for it to be recorded into. */
enum canary_session {
	CANARY_SESSION_NONE,    /* it is gone: a new one is better made without it, as what comes of programs
				   that register meanwhile may not be readable live at first */
	CANARY_SESSION_UNKNOWN, /* it is not read at the moment, or was just made */
	CANARY_SESSION_READ
};

/* To be called often, in one thread: starts it once there is a session, and goes on. */
void canary_tick(struct canary *canary, enum canary_session session);

/* The same thread: whether an event has not come back for long, and where it stays. */
bool canary_is_late(const struct canary *canary);
void canary_blame(struct canary *canary, enum canary_stage stage);

/* Any thread. */
void canary_read(struct canary *canary, struct canary_state *state);

/* Ends it. */
void canary_destroy(struct canary *canary);

#endif
