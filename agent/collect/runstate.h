/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The collector's state, shared between its thread and the others: whether it collects, why it does not, and
 * whether it is to stop. A problem is logged once when it begins, and once when it is over.
 */
#ifndef COLLECT_RUNSTATE_H
#define COLLECT_RUNSTATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Why nothing is collected, or not all. */
enum collector_reason {
	REASON_NONE,
	REASON_STARTING,
	REASON_NO_SESSION_DAEMON,
	REASON_NO_PERMISSION, /* to talk to the session daemon */
	REASON_SESSION_DAEMON_HANGS,
	REASON_NO_RELAY, /* daemon answers */
	REASON_RELAY_HANGS,
	REASON_RELAY_DISK_FULL,
	REASON_RELAY_STALLS,        /* it does not send what it has */
	REASON_RELAY_HOLDS_SESSION, /* it still has a session that is gone */
	REASON_FOREIGN_SESSION,     /* the session is somebody else's, or another agent reads it */
	REASON_SESSION_LOST,        /* it ended, and a new one is about to be made */
	REASON_UNREADABLE,          /* babeltrace2 cannot read the session */
	REASON_LEFT_OUT,            /* nor what some user's programs record */
	REASON_FILES_UNREADABLE,    /* the relay's files, for now, or no scratch folder can be written */
	REASON_LTTNG_FAILED         /* in another way */
};

/* One of them, as a sentence. */
struct problem {
	enum collector_reason reason;
	char text[512];
};

void problem_set(struct problem *problem, enum collector_reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* LTTng's daemons, as they are called. */
enum lttng_daemon { DAEMON_NONE, DAEMON_SESSION, DAEMON_RELAY };

/* As others see it. */
struct collector_state {
	bool collecting;
	int64_t since;                /* that it is, or is not; CLOCK_MONOTONIC ns */
	char session[256];            /* the session's name while collecting */
	enum collector_reason reason; /* why it is not, or only in part; REASON_NONE if it is, */
	char error[512];              /* and that as a sentence; "" if it is, or is starting */
};

struct runstate {
	_Atomic int64_t moved;
	_Atomic enum lttng_daemon called; /* which has not come back yet, since the thread moved */
	pthread_mutex_t lock;             /* guards what follows */
	pthread_cond_t stop;
	int64_t stop_deadline; /* 0: run on */
	struct collector_state state;
	int64_t reason_since;
	bool reason_logged;
};

void runstate_init(struct runstate *state);
void runstate_free(struct runstate *state);

/* The collector's thread. */

/* Whether it is to stop. To be called often, as it also shows that the thread moves. */
bool runstate_stopping(struct runstate *state);

/* The latest time for it to stop, CLOCK_MONOTONIC ns; 0: it is not to stop. */
int64_t runstate_deadline(struct runstate *state);

/* A call into @daemon, which may hang, begins. It ends with the next runstate_stopping or runstate_deadline.
 */
void runstate_calls(struct runstate *state, enum lttng_daemon daemon);

/* Sleeps, until it is asked to stop. */
void runstate_pause(struct runstate *state, int64_t ns);

/*
 * Nothing is collected. While daemons go down and come up the problem changes from try to try, so another one
 * is logged only once it has lasted.
 */
void runstate_waits(struct runstate *state, enum collector_reason reason, const char *error);

/* @session is read. It is not @new if another run of the agent made it, or if it was read all the time. */
void runstate_collects(struct runstate *state, const char *session, bool new);

/* It is read, but something is wrong, which the status shows. */
void runstate_collects_in_part(
	struct runstate *state, const char *session, enum collector_reason reason, const char *error);

/* Other threads. */

void runstate_request_stop(struct runstate *state, int64_t timeout_ns);

/* Whether the thread waits for a daemon: then it does not hang by itself, up to a bound. */
bool runstate_is_calling(const struct runstate *state);

void runstate_read(struct runstate *state, struct collector_state *copy);

#endif
