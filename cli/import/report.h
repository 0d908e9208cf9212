/* SPDX-License-Identifier: BSD-2-Clause */
/* What `blkin import` says at its end: on standard output, or, if that has what is printed, on standard
 * error. */
#ifndef IMPORT_REPORT_H
#define IMPORT_REPORT_H

#include <stdbool.h>

#include "import/send.h"

struct report {
	const struct import_result *result;
	const struct send_to *to;
	bool traces, files; /* some were named */
};

/* Returns whether all that is to be kept was sent, or printed. */
bool report_all(const struct report *report);

#endif
