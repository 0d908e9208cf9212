/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whether spans are collected, and why not: for machines as a code, which goes with the sentence that says it
 * from where it is found to the doctor's advice.
 */
#ifndef CORE_REASON_H
#define CORE_REASON_H

#include <stdbool.h>
#include <stdint.h>

#include "core/misuse.h"
#include "core/userbuffers.h"

/* Why nothing is collected, or not all. */
enum reason {
	REASON_NONE,
	REASON_STARTING,
	REASON_NO_SESSION_DAEMON,
	REASON_NO_PERMISSION, /* to talk to the session daemon */
	REASON_SESSION_DAEMON_HANGS,
	REASON_SESSION_DAEMON_WAITS, /* it is well itself, and does not come to an end */
	REASON_CONSUMER_HANGS,       /* the consumer daemon does not answer; it is stopped, say */
	REASON_CONSUMER_STILL,       /* it answers, but passes on nothing */
	REASON_CONSUMER_GONE,        /* it has ended, and the session daemon starts no other */
	REASON_NO_RELAY,             /* daemon answers */
	REASON_RELAY_HANGS,
	REASON_RELAY_DISK_FULL,
	REASON_RELAY_STALLS,        /* it does not send what it has */
	REASON_STREAM_STUCK,        /* a program was killed, or is stopped, in the middle of an event */
	REASON_RELAY_HOLDS_SESSION, /* it still has a session that is gone */
	REASON_FOREIGN_SESSION,     /* the session is somebody else's, or another agent reads it */
	REASON_SESSION_LOST,        /* it ended, and a new one is about to be made */
	REASON_UNREADABLE,          /* babeltrace2 cannot read the session */
	REASON_LEFT_OUT,            /* nor what some user's programs record */
	REASON_FILES_UNREADABLE,    /* the relay's files, for now, or no scratch folder can be written */
	REASON_LTTNG_FAILED,        /* in another way */
	REASON_READER_ENDED,        /* the reader's process did, and another one starts */
	REASON_NO_READER,           /* it cannot be started */
	/* of what is recorded beside spans: these do not keep those from being collected */
	REASON_EVENTS_FAILED,   /* LTTng refuses some of [events] */
	REASON_EVENTS_FILTER,   /* or its filter */
	REASON_EVENTS_CONTEXT,  /* a context cannot be had */
	REASON_KERNEL_MISSING,  /* there is no kernel tracer */
	REASON_KERNEL_DENIED,   /* the session daemon is not root's */
	REASON_KERNEL_FAILED,   /* LTTng refuses some of [kernel] */
	REASON_KERNEL_CONSUMER, /* the consumer daemon of the kernel has ended, or does not answer */
	REASONS
};

/* One of them, as a sentence. */
struct problem {
	enum reason reason;
	char text[512];
};

/* The same, whoever finds it out. */
#define PROBLEM_KERNEL_CONSUMER_GONE                                                                         \
	"the kernel is not recorded: its lttng-consumerd has ended, and lttng-sessiond starts no other "     \
	"until "                                                                                             \
	"it is restarted"
#define PROBLEM_KERNEL_CONSUMER_SILENT "the kernel is not recorded: its lttng-consumerd does not answer"

void problem_set(struct problem *problem, enum reason reason, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* What of [events] and of [kernel] is not recorded; REASON_NONE: all is, or nothing is asked for. */
struct omissions {
	struct problem events, kernel;
};

/* LTTng's daemons, as they are called. */
enum lttng_daemon { DAEMON_NONE, DAEMON_SESSION, DAEMON_RELAY };

/* Collection as others see it. */
struct supervisor_state {
	bool collecting;
	int64_t since;      /* that it is, or is not; CLOCK_MONOTONIC ns */
	char session[256];  /* the session's name while collecting */
	enum reason reason; /* why it is not, or only in part; REASON_NONE if it is, */
	char error[512];    /* and that as a sentence; "" if it is, or is starting */
	struct omissions omissions;
	struct user_buffers buffers;
	struct misuse_state misuses[MISUSES]; /* what programs have recorded wrongly */
};

#endif
