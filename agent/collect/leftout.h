/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Users of whose traces readers have died, as the agent told at the start. For a while they are left out;
 * then each is read again, alone and after all others. It belongs to the thread that reads.
 */
#ifndef COLLECT_LEFTOUT_H
#define COLLECT_LEFTOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct leftout;

/* @suspects: of struct suspect (handover/frames.h); its count is taken over. */
struct leftout *leftout_create(GArray *suspects);
void leftout_destroy(struct leftout *leftout);

/* Whether there is no such user. */
bool leftout_empty(const struct leftout *leftout);

/* Whether the user is left out now; whether anybody is; whether he was, so that he is to be read alone. */
bool leftout_has(const struct leftout *leftout, uint64_t user);
bool leftout_any(const struct leftout *leftout);
bool leftout_suspects(const struct leftout *leftout, uint64_t user);

/* His trace could be read; returns whether he was a suspect, and no longer is. */
bool leftout_clear(struct leftout *leftout, uint64_t user);

#endif
