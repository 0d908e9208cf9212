/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds on disk what can be imported: CTF traces, which are folders with a file `metadata`, and files of
 * spans. */
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

/*
 * Adds @path to @found (as above) if it is a file of spans by its name, or those that are in and below it if
 * it is a folder, links to folders not followed. Returns whether there are any.
 */
bool find_lines(const char *path, GPtrArray *found);

/* Logs which folders in @dir and below cannot be looked into, each with the reason; returns whether there are
 * any. */
bool find_closed(const char *dir);

#endif
