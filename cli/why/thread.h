/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: a thread, what it does now, and the spans that are told of each piece of its time. */
#ifndef WHY_THREAD_H
#define WHY_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "why/tally.h"

enum state { STATE_UNKNOWN, STATE_RUNNING, STATE_RUNNABLE, STATE_WAITING };

/* A time of which the events are wrong: some are missing. */
struct doubt {
	int64_t from, to; /* ns since the epoch; INT64_MAX: no event has said anything since */
};

struct thread {
	int64_t tid;
	GArray *spans;     /* what is wanted, by their starts */
	guint next;        /* the first that has not begun */
	GPtrArray *active; /* of these those that have begun and not ended, borrowed */
	enum state state;
	int64_t since;  /* all before it was told to the spans, or is queued */
	int64_t cpu;    /* where it runs, or is thought to be queued */
	GArray *queued; /* struct piece: since when it is there, not told yet, as it may be elsewhere */
	bool woken;     /* it is to run because it was woken: it cannot be again */
	bool placed;    /* it is known to be queued there, and not only to have been there before */
	/* what it is in */
	struct text call;
	uint64_t call_number;
	bool fault;    /* a page fault was the last that it did, */
	bool in_fault; /* or it is in one */
	bool outside;  /* of any system call that is recorded */
	bool blind;    /* it is not recorded when threads run */
	/* what its programs prove: */
	GArray *proofs;      /* int64_t: when it ran */
	guint proof;         /* the first that is not settled */
	int64_t known;       /* when the last event was that says where it is */
	GArray *doubts;      /* struct doubt, in order of time */
	const GArray *given; /* those of another reading, borrowed; NULL: it is the first one */
	guint doubt;         /* of these the first that is not over */
	/* of a wait: */
	int64_t reason;       /* the kernel's prev_state */
	uint64_t completions; /* those of before */
	struct whom waker;    /* told before the thread has gone away, or unknown */
};

/* @blind: it is not recorded when threads run. */
struct thread *thread_create(int64_t tid, bool blind);
void thread_free(void *thread);

/* The time from @start to @end goes to @tally. To be called before the first piece, and then thread_sort. */
void thread_want(struct thread *thread, int64_t start, int64_t end, struct tally *tally);
void thread_sort(struct thread *thread);

/* It ran at this time, whatever the events say. To be called as thread_want is. */
void thread_prove(struct thread *thread, int64_t time);

/* An event at this time, to which the last piece has been closed, says where the thread is. */
void thread_know(struct thread *thread, int64_t time);

/* What is thought of it since then is wrong. */
void thread_doubt(struct thread *thread);

/* There are no more events: where it does not run, it ran later all the same if that is proved. */
void thread_end(struct thread *thread);

/* The time since the last piece it was to run, where @whom ran; NULL: not known. To be settled. */
void thread_queue_piece(struct thread *thread, int64_t time, const struct whom *whom);

/* Tells the pieces before: whether it was @there. */
void thread_settle_queued(struct thread *thread, bool there);

/* The time since the last piece was @part; where it was queued before, and was not settled, is not known.
 * @whom as of struct piece, NULL: not known. */
void thread_close_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom);

#endif
