/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: of which machine and boot a trace is, as its metadata says. */
#ifndef WHY_ORIGIN_H
#define WHY_ORIGIN_H

#include <stdbool.h>

/* What is not known is empty, or false. */
struct origin {
	bool kernel;    /* it is the kernel's */
	char host[65];  /* the node's name */
	char clock[37]; /* the uuid of its clock: each boot has its own */
};

/* Reads what the trace in @folder says of itself; what cannot be read is not known. */
struct origin origin_read(const char *folder);

#endif
