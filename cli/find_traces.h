/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds CTF traces on disk: the folders that hold a file named `metadata`. */
#ifndef FIND_TRACES_H
#define FIND_TRACES_H

#include <stdbool.h>

#include <glib.h>

/*
 * Adds to @found (of g_free'd char *) every trace in @dir and below, in the order of their names, links not
 * followed. Returns -1 if there is no such folder, or no trace in it, having said which unless it is to be
 * @quiet.
 */
int find_traces(const char *dir, GPtrArray *found, bool quiet);

/* Adds to @closed (of g_free'd char *) the folders in @dir and below that cannot be looked into, with the
 * reason: "Permission denied: PATH". */
void find_closed(const char *dir, GPtrArray *closed);

#endif
