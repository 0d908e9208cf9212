/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin import --around`: an event, as the agent encodes it in JSON, read back as far as it is shown. */
#ifndef IMPORT_AROUNDEVENT_H
#define IMPORT_AROUNDEVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "import/aroundspans.h"

struct around_event {
	int64_t time; /* ns since the epoch */
	char *json;
	char *text; /* for people: "sched_switch  prev_tid=7 next_tid=0, CPU 1" */
};

void around_event_free(void *event);

/* Reads what is needed to find out whose it is; false if it is no event. */
bool around_event_read(const char *json, size_t size, struct around_moment *moment);

/* All of it; around_event_free is due. */
struct around_event *around_event_make(const char *json, size_t size, int64_t time);

#endif
