/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory of LTTng's ring buffers, by user; and what LTTng does by itself for those who share them. */
#ifndef CORE_USERBUFFERS_H
#define CORE_USERBUFFERS_H

#include <stdbool.h>
#include <stdint.h>

/* So many users are told apart. */
#define USERBUFFERS_MAX 64

struct user_buffers {
	bool known;     /* it has been looked at */
	bool heals;     /* LTTng gets past an event whose program died in the middle of it: 2.15 and later */
	uint32_t count; /* of users that are told apart */
	bool more;      /* there are users beyond those, */
	uint64_t other_bytes; /* and this is theirs */
	bool lacking;         /* there is a user who should have some, and has none; not passed on */
	struct buffers_of {
		uint64_t user, bytes;
	} of[USERBUFFERS_MAX];
};

/* Adds a user's. */
void userbuffers_add(struct user_buffers *buffers, uint64_t user, uint64_t bytes);

/* All users'. */
uint64_t userbuffers_sum(const struct user_buffers *buffers);

/* Those of the user who has most. */
uint64_t userbuffers_most(const struct user_buffers *buffers);

#endif
