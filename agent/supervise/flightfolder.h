/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The folder of what is known about late traces: for each an answer, TRACE.jsonl for machines and TRACE.txt
 * for people, as `blkin why` prints them; TRACE is the lower half of the id, in 16 hexadecimal digits. While
 * one is being made there are a snapshot and a folder for copies, too.
 */
#ifndef SUPERVISE_FLIGHTFOLDER_H
#define SUPERVISE_FLIGHTFOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* Makes the folder @path if it is not there, with an empty one for copies in it. 0, or errno. */
int flight_folder_make(const char *path);

/* Removes what was not finished: a snapshot, copies, and answers. */
void flight_folder_clean(const char *path);

/* Whether there is an answer. */
bool flight_folder_has(const char *path, uint64_t trace_id);

/* Removes the oldest answers, with both of their files, until all take no more than @bytes. */
void flight_folder_bound(const char *path, uint64_t bytes);

#endif
