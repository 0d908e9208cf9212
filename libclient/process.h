/* SPDX-License-Identifier: BSD-2-Clause */
/* What each span says of its process. */
#ifndef PROCESS_H
#define PROCESS_H

#include <blkin/record.h>

/* The line that spans carry. */
extern struct blkin_process process;

/* Writes the line; in a child after a fork, its new pid. */
void process_prepare(void);
void process_in_child(void);

#endif
