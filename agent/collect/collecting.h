/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether the collector collects, why it does not, and whether it is to stop: what its thread tells the
 * others, and they tell it. What is wrong is logged once when it begins, and once when it is over.
 */
#ifndef COLLECT_COLLECTING_H
#define COLLECT_COLLECTING_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct collector_state {
	bool collecting;
	int64_t since;     /* that it is, or is not; CLOCK_MONOTONIC ns */
	char session[256]; /* the session's name while collecting */
	char error[512];   /* why it is not, or only in part; "" if it is */
};

struct collecting {
	_Atomic int64_t moved;
	_Atomic(const char *) asked; /* the daemon that it waits for since it moved; NULL: none */
	pthread_mutex_t lock;        /* guards what follows */
	pthread_cond_t stop;
	int64_t stop_deadline; /* 0: run on */
	struct collector_state state;
	int64_t reason_since;
	bool reason_logged;
};

void collecting_init(struct collecting *collecting);
void collecting_free(struct collecting *collecting);

/* The thread's side. */

/* Whether it is to stop; to be asked often, as it also tells that the thread moves. */
bool collecting_stopping(struct collecting *collecting);

/* Calls @daemon, which may hang: until the next time that it tells that it moves. @daemon is a constant. */
void collecting_asks(struct collecting *collecting, const char *daemon);

/* Until when, at most, it may take to stop; CLOCK_MONOTONIC ns. */
int64_t collecting_deadline(struct collecting *collecting);

/* Sleeps, but not on when it is asked to stop. */
void collecting_pause(struct collecting *collecting, int64_t ns);

/*
 * It does not collect, because of @error. While daemons go down and come up the reason changes from try to
 * try, so another one is logged only once it has lasted.
 */
void collecting_waits(struct collecting *collecting, const char *error);

/* It does, from @session; which is not @new if another run of the agent made it, or
 * if it went on all the time. */
void collecting_begins(struct collecting *collecting, const char *session, bool new);

/* It does, but not as it should: because of @error, which the status shows. */
void collecting_lacks(struct collecting *collecting, const char *session, const char *error);

/* The others'. */

void collecting_stop(struct collecting *collecting, int64_t timeout_ns);

/* Whether it waits for a daemon, and so, however long, up to a bound, does not hang by itself. */
bool collecting_is_asking(const struct collecting *collecting);
void collecting_read(struct collecting *collecting, struct collector_state *state);

#endif
