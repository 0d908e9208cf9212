/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: which part of a span's time a wait is. */
#ifndef WHY_PART_H
#define WHY_PART_H

#include <stdbool.h>
#include <stdint.h>

#include "core/text.h"
#include "status/trace/spanpart.h"

/* In sentences: "waiting for a lock". */
const char *part_words(enum part part);

/* What is known of a wait. */
struct circumstances {
	int64_t state;     /* the kernel's, of the thread that went away */
	struct text call;  /* the system call that it is in; data is NULL: in none that is recorded */
	bool fault;        /* a page fault was the last that it did, */
	bool in_fault;     /* or it is in one, */
	bool outside;      /* or it was in no system call at all */
	bool disk;         /* a request to the disk was completed meanwhile */
	bool disk_unknown; /* that is not recorded */
};

/* Whether a thread that goes away in this state could go on, and waits for a processor only. */
bool part_is_preempted(int64_t state);

enum part part_of_wait(const struct circumstances *circumstances);

#endif
