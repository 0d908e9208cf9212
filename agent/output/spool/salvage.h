/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Saves what can be read of a damaged spool into a new file: row by row, by id, so that one bad page does not
 * hide what is behind it. Only rows whose checksums are right are copied.
 */
#ifndef OUTPUT_SPOOL_SALVAGE_H
#define OUTPUT_SPOOL_SALVAGE_H

#include "output/spool/spoolcounts.h"

/*
 * Builds a new file beside @path with what is good at @path, which may be unreadable; @wanted, what should be
 * there, limits where it looks (all 0: unknown). spoolfile_adopt then renames it. Returns SQLite's code; an
 * error is one of the new file.
 */
int salvage_build(const char *path, const struct spool_counts *wanted);

#endif
