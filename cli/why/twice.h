/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin why`: events that are there twice, as in a folder and its copy, or of two sessions that recorded
 * at a time. One of the same processor and nanosecond that says the same is the same one. In bounded memory.
 */
#ifndef WHY_TWICE_H
#define WHY_TWICE_H

#include <stdbool.h>

#include "import/kernelevent.h"

struct twice;

struct twice *twice_create(void);
void twice_destroy(struct twice *twice);

/* Whether the event, of those in order of time, is one that was taken already. */
bool twice_has(struct twice *twice, const struct kernel_event *event);

#endif
