/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The doctor: why nothing arrives, or not all, and what to do about it. It looks at a status, and no further:
 * what only a look at the node's programs can tell, `blkin status` adds (cli/state/findings.h).
 */
#ifndef STATUS_DOCTOR_H
#define STATUS_DOCTOR_H

#include "status/facts.h"
#include "status/finding.h"

/* Writes what it finds into @findings, whatever was there. */
void doctor_examine(const struct status *status, struct findings *findings);

/* Whether it is known which of LTTng's daemons holds what is recorded: doctorsession.c. */
bool doctor_daemon_is_named(enum reason reason);

/* Whether the session is lost again and again, and so most of what is recorded: doctorsession.c. */
bool doctor_session_is_unsteady(const struct status *status);

/* Whether the agent's own event stays away, and so nothing may be arriving; and for how long it may, ns:
 * doctorcanary.c. */
bool doctor_canary_is_lost(const struct status *status);
int64_t doctor_canary_limit(const struct status *status);

/* Whether programs that start now are not registered: doctorprograms.c. */
bool doctor_registration_is_held(const struct status *status);

#endif
