/* SPDX-License-Identifier: BSD-2-Clause */
/* What was compressed, as it was: by zlib and by zstd's streaming reader, which the agent does not use. */
#ifndef UNPACK_H
#define UNPACK_H

#include <stddef.h>

#include <glib.h>

/* The caller's; NULL if it is not one whole body of that form, and nothing behind it. */
GByteArray *unpack_none(const void *body, size_t size);
GByteArray *unpack_gzip(const void *body, size_t size);
GByteArray *unpack_zstd(const void *body, size_t size);

#endif
