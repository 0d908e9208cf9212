/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: the parts of a span's time, and which of them a wait is. */
#ifndef WHY_PART_H
#define WHY_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"

enum part {
	PART_CPU,         /* the thread ran */
	PART_INTERRUPTED, /* it would have, but its processor had to do with an interrupt */
	PART_RUNNABLE,    /* it waited for a processor */
	PART_DISK,
	PART_LOCK,
	PART_NETWORK, /* sockets, pipes, polling */
	PART_SLEEP,
	PART_FAULT, /* memory was to be read from somewhere, or to be found */
	PART_OTHER,
	PART_UNKNOWN,
	PARTS
};

/* In JSON, and in sentences: "a lock". */
const char *part_name(enum part part);
const char *part_words(enum part part);

/* What is known of a wait. */
struct circumstances {
	int64_t state;     /* the kernel's, of the thread that went away */
	struct text call;  /* the system call that it is in; data is NULL: in none that is recorded */
	bool fault;        /* a page fault was the last that it did, */
	bool outside;      /* or it was in no system call at all */
	bool disk;         /* a request to the disk was completed meanwhile */
	bool disk_unknown; /* that is not recorded */
};

/* Whether a thread that goes away in this state could go on, and waits for a processor only. */
bool part_is_preempted(int64_t state);

enum part part_of_wait(const struct circumstances *circumstances);

#endif
