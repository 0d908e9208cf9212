/* SPDX-License-Identifier: BSD-2-Clause */
/* The supervisor as its parts share it: its thread (supervisor.c), what comes from the reader
 * (receive.c), and one reader after the other (succession.c).
 */
#ifndef SUPERVISE_INNER_H
#define SUPERVISE_INNER_H

#include <pthread.h>
#include <stdatomic.h>

#include "handover/channel.h"
#include "session/wellness.h"
#include "supervise/canary.h"
#include "supervise/child.h"
#include "supervise/crashsuspects.h"
#include "supervise/flight.h"
#include "supervise/readerstatus.h"
#include "supervise/supervisor.h"

struct supervisor {
	struct supervisor_options options;
	bool user, own_relay, keeps; /* of the configuration */
	pthread_t thread;
	int wake; /* an eventfd: something was asked for */
	_Atomic int64_t moved;
	struct page *page;
	int page_fd;
	struct reader_status status;
	struct crash_suspects *suspects;

	pthread_mutex_t lock; /* guards what is asked for */
	struct buffer config; /* as text */
	struct settings settings;
	uint64_t reader_memory; /* bytes that a reader may take */
	bool configured;        /* the settings are new */
	bool renew;             /* and need another reader */
	int64_t stop_deadline;  /* 0: run on */
	bool finish;            /* the outputs have delivered what they can */

	/* the thread's */
	struct child child;
	struct wellness *wellness; /* of LTTng's daemons */
	struct canary *canary;
	struct flight *flight;
	struct channel channel;
	bool greeted;               /* the reader has said hello, and has its orders */
	bool misspoke;              /* it has sent what is no frame */
	bool stop_told;             /* to this reader */
	bool leave_told, left;      /* it is to make room for the next one, and does */
	bool save;                  /* it asks for the checkpoint to be written */
	bool start_told;            /* the log has why none can be started */
	struct batch spans, events; /* that are handed over */
	struct buffer traits;       /* of the spans */
	bool ended;                 /* nothing more will be read */
	bool finished;              /* the reader has said its last word: */
	bool nothing_left;          /* nothing is left to be read */
	int64_t start_next;         /* reader, not before; CLOCK_MONOTONIC ns, as below */
	unsigned failures;          /* readers in a row that ended soon */
	int64_t logged;             /* when a reader's end was logged, */
	unsigned unlogged;          /* and how many ends were not since then */
	int64_t heard;              /* when something came from the reader last; */
	bool streaming;             /* more is about to */
	int64_t checked;            /* when the reader was watched last */
};

/* requests.c */

/* The latest time for a stop, CLOCK_MONOTONIC ns; 0: none is asked for. */
int64_t requests_deadline(struct supervisor *supervisor);

/* Tells the reader what was asked for since the last time. */
void requests_tell(struct supervisor *supervisor);

/* receive.c */

/* Takes what the reader has sent; false if that is not as it should be. */
bool receive_frames(struct supervisor *supervisor);

/* succession.c */

/* Starts a reader; if it cannot be, it is tried again later. */
void succession_start(struct supervisor *supervisor);

/* The reader is gone before its time, or is to go, within @patience_ns by itself. */
void succession_end(struct supervisor *supervisor, int64_t patience_ns);

#endif
