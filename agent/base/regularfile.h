/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Files of the agent's own in a folder that somebody else may have written into. What has such a name may be
 * a pipe, which is waited for without an end when it is opened, or a device: neither is used.
 */
#ifndef BASE_REGULARFILE_H
#define BASE_REGULARFILE_H

#include <sys/types.h>

#include "base/buffer.h"

/* As open(), with O_CLOEXEC and O_NOFOLLOW, and never waits. -1 with errno; regularfile_error names it. */
int regularfile_open(const char *path, int flags, mode_t mode);

/* Appends all of the file; 0, or -1 with errno. */
int regularfile_read(const char *path, struct buffer *text);

/* Appends the first @most bytes of the file, or all that it has; the same. */
int regularfile_read_first(const char *path, size_t most, struct buffer *text);

/* A clause, for the errno of these. */
const char *regularfile_error(int error);

#endif
