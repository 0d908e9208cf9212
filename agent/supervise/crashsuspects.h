/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose fault it is that readers die, and what the next one has to do about it.
 *
 * A reader that dies while it reads live, or many traces together, names nobody; the next one reads each
 * user's trace alone, from files, and live again once that is done. If readers die of live reading again, it
 * is left for longer and longer. A user of whose trace two readers have died is left out, for longer and
 * longer; then he is tried again, alone.
 */
#ifndef SUPERVISE_CRASHSUSPECTS_H
#define SUPERVISE_CRASHSUSPECTS_H

#include <stdbool.h>
#include <stdint.h>

#include "handover/frames.h"

struct crash_suspects;

struct crash_suspects *crash_suspects_create(void);
void crash_suspects_destroy(struct crash_suspects *suspects);

/* How it died. */
enum death {
	DEATH_PLAIN,
	DEATH_HUNG,     /* in a call to LTTng's relay daemon */
	DEATH_TOO_LARGE /* it took more memory than it may have */
};

/* A reader has died of what it read: of the trace of @user, which it read alone, or, if that is NULL, of an
 * unknown one; @live: it read live. */
void crash_suspects_died(struct crash_suspects *suspects, const uint64_t *user, bool live, enum death death);

/* A trace cannot be read, although the reader survives it. */
void crash_suspects_unreadable(struct crash_suspects *suspects, const struct unreadable *unreadable);

/* The user's trace could be read. */
void crash_suspects_well(struct crash_suspects *suspects, uint64_t user);

/* What the next reader has to know. The list is to be unreffed. */
void crash_suspects_order(const struct crash_suspects *suspects, struct orders *orders);

/* Who is left out now: the first @max of them, and how many they are. Any thread. */
unsigned crash_suspects_left_out(struct crash_suspects *suspects, uint64_t *users, unsigned max);

/* Whether one of these is left out, or live reading is, as it took more memory than the reader may have. Any
 * thread. */
bool crash_suspects_too_large(struct crash_suspects *suspects);

#endif
