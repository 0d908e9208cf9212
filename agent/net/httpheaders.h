/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers that an administrator adds to each request, as a token or a tenant, from a file: `Name: value` on a
 * line of its own; empty lines and those that begin with '#' count for nothing.
 */
#ifndef NET_HTTPHEADERS_H
#define NET_HTTPHEADERS_H

#include <stdbool.h>

#include "base/buffer.h"

/*
 * Reads the file, and puts its headers into @headers in the place of what is there, as they stand in a
 * request. False if that cannot be done, with one sentence in @why, of @size bytes.
 */
bool httpheaders_read(const char *path, struct buffer *headers, char *why, size_t size);

#endif
