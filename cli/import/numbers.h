/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin why` and `blkin import --around`: by which number the kernel knows a thread of which the
 * program's own numbers are known: in a container they differ. The kernel's events tell both. In bounded
 * memory.
 */
#ifndef IMPORT_NUMBERS_H
#define IMPORT_NUMBERS_H

#include "import/kernelevent.h"

/* A process or a thread that is not known. */
#define NUMBER_UNKNOWN (-1)
/* It may be one of several. */
#define NUMBER_AMBIGUOUS INT64_MIN

struct numbers;

struct numbers *numbers_create(void);
void numbers_destroy(struct numbers *numbers);

void numbers_learn(struct numbers *numbers, const struct kernel_event *event);

/* The kernel's number of the thread @tid of process @pid (NUMBER_UNKNOWN: of any); @tid, if nothing was
 * learnt of it. */
int64_t numbers_find(const struct numbers *numbers, int64_t pid, int64_t tid);

#endif
