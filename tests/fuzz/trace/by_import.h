/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces through `blkin import`. */
#ifndef TRACE_BY_IMPORT_H
#define TRACE_BY_IMPORT_H

#include <stdbool.h>

/* Imports what is below a folder, all of which must be sent if @whole. Returns what the command said, to be
 * freed. */
char *import_folder(const char *folder, bool whole);

#endif
