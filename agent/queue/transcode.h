/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Batches in another format: for an output whose format was changed while batches of before wait, in memory
 * or on disk, or until the reader encodes for it.
 */
#ifndef QUEUE_TRANSCODE_H
#define QUEUE_TRANSCODE_H

#include "queue/batch.h"

/* The same items in @format, one for one, the caller's; NULL if one of them cannot be read. */
struct batch *transcode(const struct batch *batch, enum batch_format format);

#endif
