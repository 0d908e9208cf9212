/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves what can be read of a damaged spool's file into a new one: row by row, by id, so that one bad page
 * does not hide what is behind it. Only rows whose checksums are right are taken over.
 */
#ifndef SPOOL_SALVAGE_H
#define SPOOL_SALVAGE_H

#include "spool/tally.h"

/*
 * Builds a new file beside @path with what is good at @path, which may be unreadable; @wanted, what ought to
 * be there, limits where it looks (all 0: unknown). spoolfile_adopt gives it its name. Returns a code of
 * SQLite's; an error is one of the new file.
 */
int salvage_build(const char *path, const struct tally *wanted);

#endif
