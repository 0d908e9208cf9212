/* SPDX-License-Identifier: BSD-2-Clause */
/* What the queue's tests share: one queue, filled by a fanout of its own; and batches to push by hand. */
#ifndef QUEUE_RIG_H
#define QUEUE_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <check.h>
#include <glib.h>

#include "core/ledger.h"
#include "queue/fanout.h"
#include "queue/queue.h"

extern struct account *account;
extern struct queue *queue;
extern struct fanout *fanout;
extern int wakes; /* how often the queue woke its uplink */

/* A queue of @queue_bytes, and a fanout that makes batches of @spans or @bytes for it, or 100 ns old. */
void make_queue(uint32_t spans, size_t bytes, size_t queue_bytes, bool wait);

/* The same for a queue that has more limits. */
void make_queue_of(const struct queue_limits *limits, uint32_t spans, size_t bytes);

/* Both gone, and nothing left in the account's gauge. */
void end_queue(void);

/* Amounts of the queue's account, and of another. */
int64_t row(enum account_row which);
int64_t row_of(struct account *of, enum account_row which);
int64_t row_of_node(enum ledger_row which);

/* Adds a span of @size bytes whose event time tells it apart; pushes full batches. */
void add(int64_t number, size_t size);
void add_to(struct fanout *to, int64_t number, size_t size);

void flush(int64_t now, bool force);

/* Takes the next batch, which has to be of the spans @first and on. */
void assert_next(int64_t first, uint32_t spans);
void assert_next_of(struct queue *of, int64_t first, uint32_t spans);

/* Pushes a batch of @spans spans of @size bytes past the fanout, having entered them as taken and queued. */
void push_to(struct queue *to, int64_t first, uint32_t spans, size_t size);

/* Takes one, which there has to be, and enters it as sent. */
void send_next(struct queue *of);

/* Everything that was taken is in some row. */
void assert_balance(struct account *of);

TCase *queue_encoding(void);
TCase *queue_limits(void);
TCase *queue_fanout(void);
TCase *queue_keep(void);
TCase *queue_outlets(void);
TCase *queue_receipts(void);
TCase *queue_retag(void);
TCase *queue_shares(void);
TCase *queue_undecided(void);
TCase *queue_wanted(void);

#endif
