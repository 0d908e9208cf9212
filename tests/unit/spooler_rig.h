/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spooler's tests share: a queue with a spooler at it, and what a collector would do with them. */
#ifndef SPOOLER_RIG_H
#define SPOOLER_RIG_H

#include "output/spool/spooler.h"
#include "queue/queue.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)
#define SPANS 100 /* a batch */
#define QUEUE (4 * MIB)

extern struct queue *queue;
extern struct account *account;
extern struct spooler *spooler;

void make_queue(void);

/* A queue with a spooler in rig_folder; and both gone. */
void start(uint64_t max, uint64_t share, uint64_t floor);

/* From now on what is replayed comes in batches of so many spans at most; 0: as it was stored, as it is at
 * first. */
void merge(uint32_t spans);
void stop(void);

/* A row of the account, all of which adds up. */
int64_t row(enum account_row which);
void assert_balance(void);

/* Pushes batches of numbered spans. */
void push(int batches, size_t size);

/* The collector took it; adds its spans to @seen, unless that is NULL: none may be in it before. */
void sent(struct entry *entry, GHashTable *seen);

/* Takes and acknowledges until @condition(), for some seconds at most; returns the spans that came from disk.
 */
int64_t take_until(bool (*condition)(void), GHashTable *seen);
void wait_until(bool (*condition)(void));

/* The next batch; and gives back the rest of one, behind its first @count spans, which were `sent`. */
struct entry *take_one(void);
void give_back_rest(struct entry *entry, uint32_t count, GHashTable *seen);

/* Which spans arrived: an empty set, the caller's; and that these did, and no others. */
GHashTable *make_seen(void);
void assert_seen(GHashTable *seen, int64_t from, int64_t to);

/* Conditions. */
bool all_stored(void);
bool all_sent(void);
bool is_ok(void);
bool is_failing(void);
bool is_empty(void);

TCase *spooler_replay_cases(void);
TCase *spooler_discard_cases(void);

#endif
