/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suspects of a queue: batches on which the server failed again and again, without refusing them. They
 * are set aside, so that the batches behind them are tried. output/server/suspects.h tries them apart from
 * the others.
 *
 * A fresh suspect is stored by the spooler at once, and comes back as a suspect when it is replayed. Only a
 * few are set aside: if the server fails on more, it is rather not the batches. Further ones wait behind all
 * others, to try the server with these, and for a place.
 */
#ifndef QUEUE_ASIDE_H
#define QUEUE_ASIDE_H

#include "queue/queue.h"

#define ASIDE_MAX 4

/* Takes a suspect; NULL if there is none, or if it has to be stored first. Give it back, or release it. */
struct entry *aside_take(struct queue *queue);

/* How many spans are set aside, and not taken. */
uint64_t aside_spans(struct queue *queue);

/* For the spooler: takes the fresh ones, to be stored; a list linked by `next`. */
struct entry *aside_take_fresh(struct queue *queue);

#endif
