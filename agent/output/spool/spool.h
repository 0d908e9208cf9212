/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool of an output: batches on disk, in an SQLite file, while its collector does not take them.
 *
 * It is bounded in bytes of disk, the log included; when it is full, the oldest batches are deleted. What is
 * stored survives a kill -9 at any moment, and a power cut as far as `sync` says. A file that is damaged, or
 * is not a spool, is set aside: what can be read of it is saved, and the rest is counted with the counts
 * file's help. When the disk is full, read-only or broken, the calls fail; they may be tried again at any
 * time.
 *
 * Belongs to one thread, which may wait for the disk.
 */
#ifndef OUTPUT_SPOOL_SPOOL_H
#define OUTPUT_SPOOL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/ledger.h"
#include "output/spool/spooltypes.h"
#include "queue/backlog.h"

/* What it holds. */
struct spool_holds {
	int64_t batches, spans;
	uint64_t bytes; /* of disk */
	uint64_t room;  /* bytes of batches that fit before the oldest have to go */
};

struct spool;

/* Does not touch the disk yet. */
struct spool *spool_create(const struct spool_options *options);
void spool_destroy(struct spool *spool);

/*
 * Opens the file unless it is open: makes it if it is missing, repairs it if it is damaged. Returns false if
 * that cannot be done now; spool_error says why. The calls below open it themselves.
 */
bool spool_open(struct spool *spool);

/* Looks whether the files that are open are still at their paths, and whole: what is lost is counted then. */
bool spool_look(struct spool *spool);

/* Nothing that is under way comes back any more: what only memory had of it, as the file lost it, is lost;
 * returns how many spans. */
int64_t spool_end_under_way(struct spool *spool);

/* Whether something could be stored now. */
bool spool_try(struct spool *spool);

/* Why the last call failed, in one sentence; and whether the disk is full, and the file is open. */
const char *spool_error(const struct spool *spool);
bool spool_disk_is_full(const struct spool *spool);

/*
 * Stores the list of batches (by `next`) in one commit, all or none, and sets their spool_id. The oldest rows
 * are deleted, and counted, to make room; but not for a batch that its sender can send again
 * (entry_can_go_back): without room it is left out, and its spool_id is 0.
 */
bool spool_put(struct spool *spool, struct entry *list);

/* What a checkpoint knows of the file, before it is opened for the first time; and what the next one is to
 * know. */
void spool_heed(struct spool *spool, const struct stored *stored);
struct stored spool_stored(const struct spool *spool);

enum spool_read { SPOOL_READ, SPOOL_END, SPOOL_FAILED };

/*
 * Reads the oldest batch behind id @after; with SPOOL_READ, @entry is a new one, the caller's. It counts as
 * under way until it is deleted, and is not evicted meanwhile.
 */
enum spool_read spool_read(struct spool *spool, int64_t after, struct entry **entry);

/* Deletes these batches, in one commit: they were delivered. */
bool spool_delete(struct spool *spool, const int64_t *ids, unsigned count);

/* The same for batches that were under way and came back, in which @spans were left: they were given up. */
bool spool_discard(struct spool *spool, const int64_t *ids, unsigned count, int64_t spans);

/*
 * Puts what is left in a batch that was under way in the place of its rows, in one commit. It is under way no
 * more.
 */
bool spool_put_rest(struct spool *spool, struct entry *entry);

/* Keeps it: the newest are, for an administrator to look at. */
bool spool_keep_refused(struct spool *spool, struct spool_refused refused);

void spool_read_holds(const struct spool *spool, struct spool_holds *holds);

/* Returns what was lost since the last call. */
void spool_take_losses(struct spool *spool, struct spool_losses *losses);

#endif
