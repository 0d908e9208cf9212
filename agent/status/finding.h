/* SPDX-License-Identifier: BSD-2-Clause */
/* What the doctor finds: problems, each with what to do about it, the most important first. */
#ifndef STATUS_FINDING_H
#define STATUS_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct inlet_state;
struct problem;
struct status;

struct finding {
	const char *code;  /* for machines; stays the same */
	const char *about; /* what is examined: doctor_examine has the words; for machines, too */
	char what[800];
	char fix[400];
};

/* There is room for some of each output; further ones are left out. */
#define FINDINGS_MAX 40

struct findings {
	struct finding list[FINDINGS_MAX];
	size_t count;
	const char *about; /* of the next ones */
};

/* Adds one; @code is a constant, @fix is copied. */
void finding_add(struct findings *findings, const char *code, const char *fix, const char *what, ...)
	__attribute__((format(printf, 4, 5)));

/*
 * That there is none to collect from. @events: [events] is for programs of others, too. @before: there were
 * some, which may have done all that they had to; nobody else can tell.
 */
void finding_add_no_program(struct findings *findings, bool events, bool before);

/* Writes them as a list of JSON. */
void findings_write_json(struct buffer *out, const struct findings *findings);

/* Why the session is not read, or not all of it; what is not recorded; and whom the reader leaves out:
 * doctorsession.c. */
void findings_add_session(struct findings *findings, const struct status *status);
void findings_add_unsteady(struct findings *findings, const struct status *status);
void findings_add_left_out(struct findings *findings, const struct status *status);
void findings_add_session_socket(struct findings *findings, const struct status *status);
void findings_add_omission(
	struct findings *findings, const struct status *status, const struct problem *problem);

/* Why no event comes although the session is read: doctorquiet.c. */
void findings_add_programs(struct findings *findings, const struct status *status);
/* what makes programs that are there record less */
void findings_add_choice(struct findings *findings, const struct status *status);

/* Looks at the outputs and their spools: doctoroutput.c. */
void findings_add_outputs(struct findings *findings, const struct status *status);

/* Whether what the agent itself records comes back: doctorcanary.c. */
void findings_add_canary(struct findings *findings, const struct status *status);

/* That programs wait to be registered, and what they record wrongly: doctorprograms.c. */
void findings_add_registering(struct findings *findings, const struct status *status);
void findings_add_misuses(struct findings *findings, const struct status *status);

/* Looks at an input, whose key in [input] is @key: doctorinput.c. */
void findings_add_input(struct findings *findings, const struct inlet_state *input, const char *key);

/* What is not kept of late traces: doctorflight.c. */
void findings_add_flight(struct findings *findings, const struct status *status);

/* What is being lost: doctorlosses.c. */
void findings_add_losses(struct findings *findings, const struct status *status);

/* What somebody has used up that all users of the node share: doctorroom.c. */
void findings_add_room(struct findings *findings, const struct status *status);

#endif
