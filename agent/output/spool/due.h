/* SPDX-License-Identifier: BSD-2-Clause */
/* When batches that wait in a queue are to be stored. No I/O. */
#ifndef OUTPUT_SPOOL_DUE_H
#define OUTPUT_SPOOL_DUE_H

#include <stddef.h>
#include <stdint.h>

#include "queue/backlog.h"

/*
 * Bytes of batches that should be stored at @now, when the last ones were at @stored_at. While the collector
 * is away, batches are stored as soon as there are many of them, or when they have waited for a while: so the
 * queue has room when the disk is slow.
 */
size_t due_bytes(const struct backlog *backlog, int64_t stored_at, int64_t now);

/* When some may be due though nothing happens; INT64_MAX: never. */
int64_t due_at(const struct backlog *backlog, int64_t stored_at);

#endif
