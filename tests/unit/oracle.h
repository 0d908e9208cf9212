/* SPDX-License-Identifier: BSD-2-Clause */
/* The reference encoder: a span written by the code that Thrift generated from proto/zipkinCore.thrift. */
#ifndef ORACLE_H
#define ORACLE_H

#include <glib.h>

#include "core/span.h"

/* Returns the span's bytes, the caller's to unref. */
GByteArray *oracle_encode(const struct span *span);

#endif
