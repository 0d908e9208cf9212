/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The flight recorder ([kernel] mode = flight): a session beside the agent's, called as it with `-flight`, in
 * which only the kernel records. Its rings keep what is newest, and nobody reads them until a snapshot is
 * taken.
 *
 * Calls block on the session daemon, so they belong in a thread that may wait.
 */
#ifndef SESSION_FLIGHTSESSION_H
#define SESSION_FLIGHTSESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "core/reason.h"

/*
 * Makes sure that the flight recorder is there and records, if the configuration wants one, and else, if it
 * is new (@anew), that there is none. @problem is what of [kernel] is not recorded, and is found out if it is
 * @anew; @changed says what somebody had changed, and stays as it is if nobody had. Tracing's lock is held.
 */
void flightsession_repair(
	const struct config *config, bool anew, struct problem *problem, const char **changed);

/* Writes what the rings have into the folder @path, which is absolute and is made. Returns whether it has, or
 * why not as a sentence in @error. */
bool flightsession_record(const struct config *config, const char *path, char *error, size_t error_size);

/* Removes it, with what its rings have. */
void flightsession_end(const struct config *config);

#endif
