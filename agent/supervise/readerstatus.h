/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is shown of the reader: whether it collects, and why it does not. A problem is logged once when it
 * begins, and once when it is over; not the short time that it takes to start another reader.
 */
#ifndef SUPERVISE_READERSTATUS_H
#define SUPERVISE_READERSTATUS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/reason.h"
#include "handover/frames.h"
#include "handover/page.h"
#include "session/wellness.h"

struct reader_status {
	const struct page *page; /* the reader's */
	pthread_mutex_t lock;    /* guards what follows */
	struct supervisor_state state;
	bool daemons_well; /* the session and the consumer daemon answer when they are asked how they are */
	enum reason hangs; /* which of LTTng's daemons does not answer, REASON_NONE: all do; */
	int64_t hangs_since;
	bool consumer_gone;
	int64_t consumer_ended; /* since when there is none any more; 0: there is one */
	bool wants_kernel;      /* the configuration has the kernel recorded */
	int64_t kernel_ill;     /* since when its consumer daemon is not well; 0: it is; */
	struct problem kernel;  /* and what is said of it once that lasts */
	int64_t reason_since;
	bool reason_logged;
	bool hang_logged;
	int64_t busy;  /* since it moved last the reader has waited for nobody for so long, ns */
	int64_t ended; /* when the last reader did, since nothing was heard of another; 0: it was */
};

void reader_status_init(struct reader_status *status, const struct page *page);
void reader_status_free(struct reader_status *status);

/*
 * The reader reports. While daemons go down and come up the problem changes from try to try, so another one
 * is logged only once it has lasted.
 */
void reader_status_report(struct reader_status *status, const struct report *report);

/* What the session does not record although the configuration asks for it, which is logged when it changes.
 */
void reader_status_omissions(struct reader_status *status, const struct omissions *omissions);

/* The memory of users' buffers. */
void reader_status_buffers(struct reader_status *status, const struct user_buffers *buffers);

/* What a program has recorded wrongly. */
void reader_status_misuse(struct reader_status *status, enum misuse_kind kind, const struct misuse *misuse);

/* Whether the kernel is to be recorded, so that its consumer daemon matters. Any thread. */
void reader_status_kernel(struct reader_status *status, bool wanted);

/* How LTTng's daemons are. To be called often. */
void reader_status_daemons(struct reader_status *status, const struct daemons_health *healths);

/* The reader has ended, and @why says how; if @starts, another one does. */
void reader_status_ended(struct reader_status *status, bool starts, const char *why);

/* To be called often: the log tells of a daemon that does not answer a reader that waits for it. @busy: so
 * long, in ns, the reader has waited for nobody since it moved last. */
void reader_status_watch(struct reader_status *status, int64_t busy);

/* Any thread. */
void reader_status_read(struct reader_status *status, struct supervisor_state *copy);

#endif
