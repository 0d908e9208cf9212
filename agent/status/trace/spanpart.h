/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of a span's time, by what its thread did in the kernel: `blkin why` finds them, the page shows
 * them. */
#ifndef STATUS_TRACE_SPANPART_H
#define STATUS_TRACE_SPANPART_H

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

/* In JSON, "page_fault". */
const char *part_name(enum part part);

/* For people, in a table: "page faults". */
const char *part_label(enum part part);

#endif
