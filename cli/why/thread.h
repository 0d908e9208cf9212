/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: a thread, what it does now, and the spans that are told of each piece of its time. */
#ifndef WHY_THREAD_H
#define WHY_THREAD_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "why/tally.h"

enum state { STATE_UNKNOWN, STATE_RUNNING, STATE_RUNNABLE, STATE_WAITING };

struct thread {
	int64_t tid;
	GArray *spans;     /* what is wanted, by their starts */
	guint next;        /* the first that has not begun */
	GPtrArray *active; /* of these those that have begun and not ended, borrowed */
	enum state state;
	int64_t since; /* all before it was told to the spans */
	int64_t cpu;   /* where it runs, or is to run */
	/* what it is in */
	struct text call;
	uint64_t call_number;
	bool fault, outside; /* of any system call that is recorded */
	bool blind;          /* it is not recorded when threads run */
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

/* The time since the last piece was @part; @whom as of struct piece, NULL: not known. */
void thread_close_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom);

#endif
