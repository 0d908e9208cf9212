/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent and its canary say to each other: a number of 64 bits each time, and a byte in return. */
#ifndef SUPERVISE_BEAT_H
#define SUPERVISE_BEAT_H

/* The canary's end of the socket, which keeps messages apart. */
#define CANARY_SOCKET 3

/* Its answer. */
enum canary_answer {
	CANARY_REGISTERED = 1, /* with a session daemon, */
	CANARY_RECORDED = 2    /* and some session has the event */
};

#endif
