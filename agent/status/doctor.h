/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doctor: why nothing arrives, or not all, and what to do about it. It looks at a status, and no further:
 * what only LTTng can tell, `blkin status` has asked and brings along (struct census).
 */
#ifndef STATUS_DOCTOR_H
#define STATUS_DOCTOR_H

#include <stddef.h>

struct status;

struct finding {
	const char *code; /* for machines; stays the same */
	char what[600];
	char fix[300];
};

#define FINDINGS_MAX 12

/* Writes what it finds, what matters most first, and returns how many. */
size_t doctor_examine(const struct status *status, struct finding findings[FINDINGS_MAX]);

#endif
