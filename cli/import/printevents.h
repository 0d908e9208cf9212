/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin import --print --events`: events on standard output, a line of JSON each. */
#ifndef IMPORT_PRINTEVENTS_H
#define IMPORT_PRINTEVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "queue/batch.h"

struct event_printer {
	struct buffer lines;
	uint64_t printed;
	uint64_t too_large; /* to be encoded */
	bool failed;        /* standard output takes no more, which is logged */
};

/* Prints the batch's events. False if there is no point in going on. */
bool event_printer_put(struct event_printer *printer, const struct batch *records);
void event_printer_free(struct event_printer *printer);

#endif
