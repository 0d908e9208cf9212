/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans get the tags that an output's rules leave of theirs: before its queue and its spool; and once more as
 * they are sent, if they were made under other rules.
 */
#ifndef QUEUE_RETAG_H
#define QUEUE_RETAG_H

#include "encode/tagedit.h"
#include "queue/batch.h"
#include "queue/queue.h"

/*
 * The same items, one for one, as the rules have them, the caller's; one that is no span becomes empty. NULL:
 * they are so already. Adds to @counts.
 */
struct batch *retag(const struct batch *items, const struct tagrules *rules, struct tagedit_counts *counts);

/*
 * Makes an entry that was taken be as its queue's rules have it. Items that cannot be read are refused; if
 * none is left, the entry is released, and this is false.
 */
bool retag_entry(struct queue *queue, struct entry *entry);

#endif
