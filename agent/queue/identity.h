/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span's identity: its ids, and the time of its last event, to the nanosecond. That is where it was
 * recorded: the same event read a second time has it, and no other one of that span has.
 *
 * It is the same in each format, whatever tags the span got, and however often it is made.
 */
#ifndef QUEUE_IDENTITY_H
#define QUEUE_IDENTITY_H

#include <stdint.h>

#include "queue/batch.h"

/* Appends a uint64_t for each of the batch's spans to @out. */
void identity_of_all(const struct batch *batch, struct buffer *out);

#endif
