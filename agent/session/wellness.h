/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LTTng's daemons asked whether they are well, on the sockets that they have for that: the session daemon,
 * and its consumer daemons, which take what programs and the kernel record out of the ring buffers. One that
 * is stopped or hangs does not answer. Nothing here waits, and no answer is believed beyond that it came.
 *
 * It belongs to one thread.
 */
#ifndef SESSION_WELLNESS_H
#define SESSION_WELLNESS_H

#include <stdbool.h>
#include <stdint.h>

struct wellness;

/* How it is with one of them. */
struct daemon_health {
	int64_t silent; /* it was asked, and has not answered since; CLOCK_MONOTONIC ns; 0: it has */
	bool gone;      /* it was there, and is not any more */
	bool ended;     /* the same, and there is no other; said of programs' consumer daemon only */
};

struct daemons_health {
	struct daemon_health session, consumer; /* of programs, */
	struct daemon_health kernel;            /* and of the kernel */
};

/* @tracing_group as in the configuration: whose daemons they are. */
struct wellness *wellness_create(const char *tracing_group);

/* To be called several times a second: asks now and then, and takes answers. */
void wellness_look(struct wellness *wellness);

void wellness_read(const struct wellness *wellness, struct daemons_health *healths);

void wellness_destroy(struct wellness *wellness);

/* Whether all that are there answer now, or soon: or else a call that changes a session waits for them. Of
 * the kernel's that is so if a session has what the kernel records, or is to have it: @kernel. Waits for a
 * second at most. */
bool wellness_all_answer(const char *tracing_group, bool kernel);

/* The same for the kernel's consumer daemon alone. */
bool wellness_kernel_answers(const char *tracing_group);

#endif
