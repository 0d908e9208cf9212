/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin why`: what the threads of some spans did, by the kernel's events in order of time.
 *
 * Each thread runs, waits for a processor, or waits for something; from one event to the next it is a piece
 * of the time of all its spans that are open. What the events do not tell is unknown: what was before the
 * first one of a thread, what is behind the last event of all, and what cannot be, as of a thread that goes
 * away where it had not come, or that has recorded something while it does not run, because events are
 * missing. Whatever the events say, their memory is bounded, by the spans, and by MACHINE_CPUS_MAX
 * processors.
 */
#ifndef WHY_MACHINE_H
#define WHY_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "import/kernelevent.h"
#include "why/tally.h"

#define MACHINE_CPUS_MAX 8192

struct machine;

/* @recorded: whether there are events of each kind; @all_calls: each system call is recorded. */
struct machine *machine_create(const bool recorded[KERNEL_KINDS], bool all_calls);
void machine_destroy(struct machine *machine);

/* The time from @start to @end of the thread with this number, the kernel's, goes to @tally, which outlives
 * the machine. To be called before the first event. */
void machine_want(struct machine *machine, int64_t tid, int64_t start, int64_t end, struct tally *tally);

/* The thread recorded something at this time, so it ran: if the events say otherwise, some are missing. To be
 * called behind machine_want. */
void machine_prove(struct machine *machine, int64_t tid, int64_t time);

/* Whether the events that were taken contradict that. */
bool machine_is_wrong(const struct machine *machine);

/* The events are read again: what @wrong, which has ended and which is borrowed, contradicts is unknown, from
 * the last event before that told where the thread was up to the next one. To be called before the first
 * event. */
void machine_correct(struct machine *machine, const struct machine *wrong);

/* Takes the next event; one that seems to be before the last one is taken to be of its time. */
void machine_take(struct machine *machine, const struct kernel_event *event);

/* Some events are missing here, and will be @until then: nothing is known of any thread, or processor, until
 * its next event, and up to then only who runs. */
void machine_doubt(struct machine *machine, int64_t until);

/* There are no more events. */
void machine_end(struct machine *machine);

#endif
