/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What is known of users whose traces cannot be read as the others' are. It belongs to the thread that reads.
 *
 * Suspects are those of whose traces readers have died, as the agent told at the start. For a while they are
 * left out; then each is read again, alone and after all others.
 */
#ifndef READER_USERS_H
#define READER_USERS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct user {
	uint64_t id;
	bool suspect;
	int64_t waits_until; /* CLOCK_MONOTONIC ns: a suspect is left out until then */
	/* in the session at hand */
	int64_t unopened; /* since then its trace could not be opened; 0: it could */
	bool left_out;    /* packets of it were */
};

/* A list of struct user; @suspects: of struct suspect (handover/frames.h). */
GPtrArray *users_create(const GArray *suspects);

/* This one; it is added if it is not there. */
struct user *users_get(GPtrArray *users, uint64_t id);

/* Whether any of them is so. */
bool users_any(const GPtrArray *users, bool (*is)(const struct user *user));
bool user_is_suspect(const struct user *user);
bool user_waits(const struct user *user);
bool user_is_left_out(const struct user *user);

/* Its trace cannot be opened; returns whether it may be in a moment: lttng-relayd has the first packets
 * before it has all the metadata, and live reading would not send them again. */
bool user_is_young(struct user *user);

/* All that is on disk was read: who was not left out can be read. */
void users_all_read(const GPtrArray *users);

/* Another session is at hand. */
void users_forget_session(const GPtrArray *users);

#endif
