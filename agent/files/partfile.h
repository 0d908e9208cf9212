/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file that is being written. It is locked, so that another process does not take it for one that was left
 * behind. Functions that return an int return 0, or an errno.
 */
#ifndef FILES_PARTFILE_H
#define FILES_PARTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "files/filenames.h"

struct partfile {
	int folder; /* borrowed */
	int fd;     /* -1: there is none */
	struct filename name;
	uint64_t inode;
	int64_t size; /* of what was written well */
	bool torn;    /* more than that may be in the file */
};

/* Makes an empty one, begun @now (seconds since the epoch), whose name comes after that of @part. */
int partfile_create(struct partfile *part, int folder, int64_t now);

/* Opens one that was left behind, and cuts off half a line at its end; how much, is in @cut. EWOULDBLOCK:
 * somebody is writing it. */
int partfile_take(struct partfile *part, int folder, const struct filename *name, int64_t *cut);

/* Adds the bytes, which are on disk then if @sync, or none of them. */
int partfile_append(struct partfile *part, const void *bytes, size_t size, bool sync);

/* Whether somebody removed it, or gave it another name. */
bool partfile_is_gone(const struct partfile *part);

/* Makes it a finished file, on disk, and closes it; an empty one is removed. On failure it stays open. */
int partfile_finish(struct partfile *part);

/* Closes it as it is. */
void partfile_close(struct partfile *part);

#endif
