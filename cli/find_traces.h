/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds CTF traces on disk: the folders that hold a file named `metadata`. */
#ifndef FIND_TRACES_H
#define FIND_TRACES_H

#include <glib.h>

/*
 * Adds to @found (of g_free'd char *) every trace in @dir and below, in the order of their names, links not
 * followed. Returns -1 having said what is wrong: no such folder, or no trace in it.
 */
int find_traces(const char *dir, GPtrArray *found);

#endif
