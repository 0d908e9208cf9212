/* SPDX-License-Identifier: BSD-2-Clause */
/* Who wakes a thread, or runs in its place, as the kernel's events tell. */
#ifndef STATUS_TRACE_WHOM_H
#define STATUS_TRACE_WHOM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/text.h"

/* A number that is not known. */
#define WHOM_NO_NUMBER INT64_MIN

struct whom {
	enum whom_kind {
		WHOM_UNKNOWN,
		WHOM_THREAD,
		WHOM_IDLE,      /* nobody runs */
		WHOM_INTERRUPT, /* a device's, by its number and its handler's name */
		WHOM_SOFTIRQ,   /* by its vector */
		WHOM_TIMER,
		WHOM_OTHERS, /* those that are too many */
		WHOM_KINDS
	} kind;
	int64_t number, pid; /* the thread's, in the kernel's numbers; WHOM_NO_NUMBER if it is not known */
	char name[20];       /* "" if it is not known */
};

/* @text is cut to what a name has room for. */
void whom_name(struct whom *whom, struct text text);

/* In JSON: "thread". */
const char *whom_kind_name(enum whom_kind kind);

/* "holder (4312)", "virtio2-req.0 (interrupt 27)", "an interrupt", with the name, which may be anything, as
 * @put_name writes it. Returns false, and appends nothing, if nothing is known. */
bool whom_put(
	struct buffer *out, const struct whom *whom, void (*put_name)(struct buffer *out, const char *name));

#endif
