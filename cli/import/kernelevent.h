/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: what an event of the kernel says of threads, processors and interrupts, read from its
 * record. */
#ifndef IMPORT_KERNELEVENT_H
#define IMPORT_KERNELEVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/text.h"

/* A number that the event does not have. */
#define KERNEL_UNKNOWN INT64_MIN

enum kernel_kind {
	KERNEL_ANOTHER, /* only where it happened matters */
	KERNEL_SWITCH,
	KERNEL_WAKING, /* in the waker's context */
	KERNEL_WAKEUP, /* that it is ready now, perhaps from another processor */
	KERNEL_MIGRATE,
	KERNEL_CALL_ENTRY,
	KERNEL_CALL_EXIT,
	KERNEL_FAULT,       /* a page fault begins */
	KERNEL_FAULT_ENTRY, /* the same, of which the end is recorded, too */
	KERNEL_FAULT_EXIT,
	KERNEL_BLOCK_COMPLETE,
	KERNEL_IRQ_ENTRY,
	KERNEL_IRQ_EXIT,
	KERNEL_SOFTIRQ_ENTRY,
	KERNEL_SOFTIRQ_EXIT,
	KERNEL_TIMER_ENTRY, /* an interrupt that is no device's */
	KERNEL_TIMER_EXIT,
	KERNEL_KINDS
};

/* Texts are borrowed from the record; of size 0 if the event has none. */
struct kernel_event {
	enum kernel_kind kind;
	int64_t time; /* ns since the epoch */
	int64_t cpu;
	int64_t pid, tid;      /* whom it happened to, in the kernel's numbers, */
	int64_t vpid, vtid;    /* and in those that the program sees */
	struct text program;   /* and the thread's name */
	struct text host;      /* where */
	int64_t prev, next;    /* a switch's threads, */
	int64_t prev_state;    /* and why the first goes: 0: it need not */
	struct text next_name; /* a switch's */
	int64_t other;         /* the thread that is woken, or moves */
	int64_t target;        /* the processor that it is to run on */
	int64_t number;        /* an interrupt's; a softirq's vector */
	struct text name;      /* a system call's, or an interrupt handler's */
};

/* False if it is no event of the kernel, or has no time. */
bool kernel_event_read(struct kernel_event *event, const uint8_t *record, size_t size);

#endif
