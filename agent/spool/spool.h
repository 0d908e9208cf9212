/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spool: batches on disk, in an SQLite file, while the collector does not take them.
 *
 * It is bounded in bytes of disk, log and all; the oldest batches go when it is full. What is stored survives
 * a kill -9 at any moment, and a power cut as far as `sync` says. A file that is damaged, or is no spool, is
 * set aside, what can be read of it is saved, and the rest counted, by the tally. A disk that is full,
 * read-only or broken makes the calls fail; they may be tried again at any time.
 *
 * Belongs to one thread, which may wait for the disk.
 */
#ifndef SPOOL_SPOOL_H
#define SPOOL_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "queue/backlog.h"

struct spool_options {
	const char *directory; /* borrowed for the spool's life */
	uint64_t max_bytes;    /* of disk */
	bool sync_full;        /* each commit waits until it is on disk */
};

/* What it holds. */
struct spool_holds {
	int64_t batches, spans;
	uint64_t bytes; /* of disk */
};

/* Spans that are gone since the last look. */
struct spool_losses {
	int64_t evicted; /* the oldest, to make room */
	int64_t corrupt; /* what the file no longer has, or has damaged */
	bool unknown;    /* nothing told what ought to be there: more may be gone */
};

struct spool;

/* Does not touch the disk yet. */
struct spool *spool_create(const struct spool_options *options);
void spool_destroy(struct spool *spool);

/*
 * Opens the file, or makes it, or saves what can be saved of it; nothing if it is open. False if that cannot
 * be done now; spool_error says why. The calls below do it by themselves.
 */
bool spool_open(struct spool *spool);

/* Whether something can be stored, though there is nothing to store. */
bool spool_try(struct spool *spool);

/* In one sentence, why the last call failed. */
const char *spool_error(const struct spool *spool);

/* Stores the list of batches (by `next`) in one commit, all or none. */
bool spool_put(struct spool *spool, const struct batch *list);

enum spool_read { SPOOL_READ, SPOOL_END, SPOOL_FAILED };

/*
 * Reads the oldest batch behind id @after into @batch, whose buffers are the caller's to free. It is not
 * evicted any more: it is taken to be under way until it is deleted.
 */
enum spool_read spool_read(struct spool *spool, int64_t after, struct batch *batch);

/* Deletes these batches, in one commit: they were delivered. */
bool spool_delete(struct spool *spool, const int64_t *ids, unsigned count);

/* A span that the collector refused, kept to be looked at: the newest of them, within bounds. */
struct spool_refused {
	int64_t event_time;
	const char *words;
	const uint8_t *span;
	uint32_t size;
};

bool spool_keep_refused(struct spool *spool, const struct spool_refused *refused, unsigned count);

/* So many are kept at most, of each REFUSED_SPAN_BYTES. */
#define SPOOL_REFUSED_MAX 100

void spool_read_holds(const struct spool *spool, struct spool_holds *holds);

/* Tells what was lost, and forgets it. */
void spool_take_losses(struct spool *spool, struct spool_losses *losses);

#endif
