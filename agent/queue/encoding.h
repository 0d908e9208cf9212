/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an output takes out of its queue becomes what its wire sends, with the output's tags; the queue and
 * the spool keep what they have. Items that are in the wire's format already, as they came from another
 * agent, or wait in a spool of an older version, go as they are.
 */
#ifndef QUEUE_ENCODING_H
#define QUEUE_ENCODING_H

#include <stdbool.h>

#include "queue/queue.h"

/*
 * Makes an entry that was taken be as its queue's rules have it (retag.h), and encodes it: entry_wire. Items
 * that cannot be read, as the spool may hold those of a newer version, are refused; one that is too large for
 * the output is dropped. If none is left, the entry is released, and this is false.
 */
bool encode_entry(struct queue *queue, struct entry *entry, enum batch_format format);

/* The batch's items in @format with @tags (config/tags.h; NULL: none), one for one, the caller's; one that
 * cannot be encoded is empty. */
struct batch *encode_batch(const struct batch *batch, enum batch_format format, const char *tags);

#endif
