/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spool's tests share: a folder, batches whose spans tell who they are, and what comes out of a
 * spool. */
#ifndef SPOOL_RIG_H
#define SPOOL_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <check.h>
#include <glib.h>

#include "spool/spool.h"

/*
 * A folder of the test program's own, in memory where there is such a disk; removed at its end. It is on a
 * disk that goes with the process, so that nothing is left of one that is killed, where the system allows
 * mounts of one's own.
 */
extern char *rig_folder;
void rig_make_folder(void);
void rig_remove_folder(void);

/* Lets mounts come and go with this process. Returns false where that cannot be had. */
bool rig_own_mounts(void);

/* Empties it, for the next test. */
void rig_clear(void);

char *rig_path(const char *folder, const char *name);
void rig_copy(const char *from, const char *to); /* what is not there is not there afterwards */

/* A batch whose spans number @first and on, of about @size bytes each; NULL-terminated by `next`. */
struct batch *rig_batch(int64_t first, uint32_t count, size_t size);
void rig_free(struct batch *batch);

/* Opens a spool of @max bytes in @folder, which must work. */
struct spool *rig_open(const char *folder, uint64_t max);

/* Stores @batches of @count spans each, numbered on from @first, one commit each. */
void rig_fill(struct spool *spool, int64_t first, unsigned batches, uint32_t count, size_t size);

/*
 * Reads and deletes all there is, checking that every span is what it was; returns how many spans came, and
 * adds their numbers to @seen (of gint64, as keys), unless it is NULL: none may be in it before.
 */
int64_t rig_drain(struct spool *spool, GHashTable *seen);

/*
 * Of places that are @step apart, how far to go to the next that is tried: some twentieth of them, at random,
 * but the same in each run; with BLKIN_DAMAGE=all in the environment to each.
 */
size_t rig_stride(size_t step);

int64_t rig_corrupt(struct spool *spool); /* spans lost to damage since the last look */

extern Suite *spool_damage_suite(void);
extern Suite *spool_disk_suite(void);
extern Suite *spool_replace_suite(void);

#endif
