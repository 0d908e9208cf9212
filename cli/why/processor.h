/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: a processor, who runs on it, and in which interrupts it is. */
#ifndef WHY_PROCESSOR_H
#define WHY_PROCESSOR_H

#include <stdint.h>

#include <glib.h>

#include "import/kernelevent.h"
#include "why/tally.h"

/* Interrupts interrupt each other, but not much. */
#define NESTED_MAX 8

struct processor {
	int64_t current;  /* the thread that runs, or KERNEL_UNKNOWN */
	struct whom whom; /* the same */
	GPtrArray *here;  /* of struct thread, borrowed: those that run, or are to run, on it */
	unsigned nested;  /* interrupts that it is in, */
	struct whom interrupt[NESTED_MAX]; /* the last of which is the innermost */
};

struct processor *processor_create(void);
void processor_free(void *processor);

/* Another thread runs there: KERNEL_UNKNOWN, if it is not known which. @name may be empty. */
void processor_run(struct processor *processor, int64_t tid, struct text name);

/* An event of the thread that runs there tells its name and its process. */
void processor_name(struct processor *processor, const struct kernel_event *event);

/* An interrupt begins, or ends, as the event says. */
void processor_interrupt(struct processor *processor, const struct kernel_event *event);

/* Who does what is done there: the interrupt that it is in, or who runs. @processor may be NULL. */
struct whom processor_actor(const struct processor *processor);

#endif
