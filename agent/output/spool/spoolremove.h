/* SPDX-License-Identifier: BSD-2-Clause */
/* Removes a spool that no output delivers any more. */
#ifndef OUTPUT_SPOOL_SPOOLREMOVE_H
#define OUTPUT_SPOOL_SPOOLREMOVE_H

#include <stddef.h>

enum spoolremove { SPOOL_REMOVED, SPOOL_IN_USE, SPOOL_STAYS };

/*
 * Removes the files of the spool of @output in @directory, but for those that were set aside. SPOOL_IN_USE:
 * an agent has it. SPOOL_STAYS: it could not be removed, and @why says why.
 */
enum spoolremove spoolremove(const char *directory, const char *output, char *why, size_t size);

#endif
