/* SPDX-License-Identifier: BSD-2-Clause */
/* What uplink.c, whose loop and thread this is, and work.c, the thread's work, share. */
#ifndef OUTPUT_FILE_INNER_H
#define OUTPUT_FILE_INNER_H

#include <pthread.h>

#include "output/file/filewriter.h"
#include "output/file/lines.h"
#include "output/uplink/health.h"
#include "output/uplink/uplinktype.h"

/* What was said beside the health. */
struct filenews {
	bool told_good, told_left;
	uint64_t removed;      /* files that were counted, */
	uint64_t removed_told; /* and logged */
	int64_t removed_at;    /* when, CLOCK_MONOTONIC ns; 0: never */
	int64_t lost, lost_at; /* the same of lines that were in a file which somebody removed */
};

struct fileuplink {
	struct uplink uplink;
	struct queue *queue;            /* a reference: the thread may outlive the output */
	const struct output_config *is; /* the same */
	enum batch_format format;
	char *label;
	pthread_t thread;
	/* the loop's */
	void (*drained)(void *data);
	void *drained_data;
	/* the thread's */
	struct filewriter writer;
	struct filelines lines;
	struct buffer identities; /* of the batch at hand */
	unsigned failures;
	int64_t failed_at, wait_ns; /* CLOCK_MONOTONIC ns; 0: it works */
	struct filenews said;
	int64_t looked_at;    /* for the file, CLOCK_MONOTONIC ns */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	struct event *news; /* there may be nothing left to write; NULL: nobody asks */
	struct health health;
	int64_t lost, lost_at; /* lines that somebody removed, the last time; CLOCK_MONOTONIC ns */
	int64_t busy_since;    /* the thread is at work since then, CLOCK_MONOTONIC ns; 0: it waits */
	bool begun, woken, hurry, ending, over, abandoned;
};

/* Writes what waits, until the end is due or nothing can be written. Only in the thread. */
void filework(struct fileuplink *files);

/* Counts the files that were removed since the last call. */
void filework_tell_removed(struct fileuplink *files);

/* Counts what was lost since the last call, of what had been sent. Returns whether something was. */
bool filework_tell_lost(struct fileuplink *files);

#endif
