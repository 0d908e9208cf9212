/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is being written. It is locked, so that another process does not take it for one that was left
 * behind. Functions that return an int return 0, or an errno.
 */
#ifndef OUTPUT_FILE_PARTFILE_H
#define OUTPUT_FILE_PARTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/file/filenames.h"

struct partfile {
	int folder; /* borrowed */
	int fd;     /* -1: there is none */
	struct filename name;
	uint64_t inode;
	int64_t size;  /* of what was written well, */
	int64_t lines; /* and the lines in that, of a file that was made here */
	bool torn;     /* more than that may be in the file */
};

/* Makes an empty one, begun @now (seconds since the epoch), whose name comes after that of @part. */
int partfile_create(struct partfile *part, int folder, int64_t now);

/* Opens one that was left behind, and cuts off half a line at its end; how much, is in @cut. EWOULDBLOCK:
 * somebody is writing it. */
int partfile_take(struct partfile *part, int folder, const struct filename *name, int64_t *cut);

/* Adds so many lines, which are on disk then if @sync, or none of them. */
int partfile_append(struct partfile *part, const void *bytes, size_t size, uint32_t lines, bool sync);

/* Whether somebody removed it, gave it another name, or put another one in its place. */
bool partfile_is_gone(const struct partfile *part);

/* Returns how many lines are missing in it, as somebody cut it; it then ends with its last whole line. */
int64_t partfile_find_cut(struct partfile *part);

/* How many lines end between these places of it. */
int64_t partfile_count_lines(const struct partfile *part, int64_t from, int64_t to);

/* Makes it a finished file, on disk, and closes it; an empty one is removed. On failure it stays open. */
int partfile_finish(struct partfile *part);

/* Closes it as it is. */
void partfile_close(struct partfile *part);

#endif
