/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spool's tests share: a folder, batches whose spans have numbers, and what a spool returns. */
#ifndef SPOOL_RIG_H
#define SPOOL_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <check.h>
#include <glib.h>

#include "output/spool/spool.h"

/*
 * A folder of the test program's own, in memory if possible, which is removed at its end. Where the system
 * allows it, it is on a mount that ends with the process, so a test that is killed leaves nothing behind.
 */
extern char *rig_folder;
void rig_make_folder(void);
void rig_remove_folder(void);

/* Gives this process mounts of its own. Returns false if the system does not allow that. */
bool rig_own_mounts(void);

/* Mounts a disk of this size over the test's folder. Returns false if the system does not allow that. */
bool rig_mount_disk(const char *options);

/* Fills it with the file at @path. */
void rig_fill_disk(const char *path);

/* Empties it, for the next test. */
void rig_clear(void);

char *rig_path(const char *folder, const char *name);
void rig_copy(const char *from, const char *to); /* removes @to if @from is missing */

/* A batch whose spans number @first and on, of about @size bytes each. */
struct entry *rig_entry(int64_t first, uint32_t count, size_t size);

/* The default output's files. */
#define RIG_SPOOL "spool.db"
#define RIG_TALLY "spool.tally"

/* Of the default output's spool. */
struct spool_options rig_options(const char *folder, uint64_t max);

/* Opens a spool of @max bytes in @folder, which must work. */
struct spool *rig_open(const char *folder, uint64_t max);

/* Stores @batches of @count spans each, numbered on from @first, one commit each. */
void rig_fill(struct spool *spool, int64_t first, unsigned batches, uint32_t count, size_t size);

/* Reads the batch behind @entry, or the first if that is NULL; if there is one, it takes @entry's place. */
enum spool_read rig_next(struct spool *spool, struct entry **entry);

/*
 * Reads and deletes all there is, checking that every span is what it was; returns how many spans came, and
 * adds their numbers to @seen (of gint64, as keys), unless it is NULL: none may be in it before.
 */
int64_t rig_drain(struct spool *spool, GHashTable *seen);

/*
 * How far it is to the next place to damage, of places that are @step apart: about every twentieth is taken,
 * at random but the same in each run; with BLKIN_DAMAGE=all in the environment, every one.
 */
size_t rig_stride(size_t step);

int64_t rig_corrupt(struct spool *spool); /* spans lost to damage since the last look */

extern Suite *spool_damage_suite(void);
extern Suite *spool_disk_suite(void);
extern Suite *spool_outputs_suite(void);
extern Suite *spool_replace_suite(void);
extern Suite *spool_upgrade_suite(void);

#endif
