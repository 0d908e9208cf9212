/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A receipt: what became of items that came from outside, whose sender waits for an OK, at every output. Each
 * queue that gets a batch of theirs has a part in it until the batch is settled there: delivered or stored,
 * which is good, or dropped, and then the sender is to send the items again. This node's own spans that
 * waited for their trace have one, too, for which nobody waits: they are behind the position, so that a kill
 * loses them.
 *
 * Shared by count: by who hands the items over, by their batches, and by the queues' entries.
 */
#ifndef QUEUE_RECEIPT_H
#define QUEUE_RECEIPT_H

#include <stdbool.h>

#include "core/rows.h"

struct receipt;

/* @settled is called with @data when all is settled, in any thread, with a queue locked: it should only wake
 * somebody. It is called no more after receipt_silence. */
struct receipt *receipt_create(void (*settled)(void *data), void *data);
struct receipt *receipt_ref(struct receipt *receipt);

/* @receipt may be NULL. */
void receipt_unref(struct receipt *receipt);

/* All is handed over: until then nothing is settled. */
void receipt_close(struct receipt *receipt);

/* The sender has its OK already: what is dropped is lost. To be called before the items are handed over. */
void receipt_give(struct receipt *receipt);
bool receipt_is_given(const struct receipt *receipt);

/* The account's row that items with this receipt are in while they are in memory; @receipt may be NULL. */
enum account_row receipt_row(const struct receipt *receipt);

/* Nobody is to be woken any more. */
void receipt_silence(struct receipt *receipt);

/* Whether all is settled; *@good, whether all of it is safe. */
bool receipt_is_settled(struct receipt *receipt, bool *good);

/* A queue's part in it; @receipt may be NULL. */
struct receipt *receipt_take_part(struct receipt *receipt);

/* The part is over; drops the reference that receipt_take_part made. @receipt may be NULL. */
void receipt_end_part(struct receipt *receipt, bool good);

#endif
