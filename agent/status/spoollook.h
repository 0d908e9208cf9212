/* SPDX-License-Identifier: BSD-2-Clause */
/* The list of spools on disk, read by a short-lived thread, so that a disk that hangs holds up nobody. */
#ifndef STATUS_SPOOLLOOK_H
#define STATUS_SPOOLLOOK_H

#include <glib.h>

struct spoollook;

/* The folder's name is copied. */
struct spoollook *spoollook_create(const char *directory);

/* Begins a look, unless one is under way. */
void spoollook_begin(struct spoollook *look);

/* What the latest look that is over found (spoollist.h); g_ptr_array_unref. NULL: nothing yet, or it failed.
 */
GPtrArray *spoollook_read(struct spoollook *look);

/* Waits for no look that is under way. */
void spoollook_destroy(struct spoollook *look);

#endif
