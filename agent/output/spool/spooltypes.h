/* SPDX-License-Identifier: BSD-2-Clause */
/* What the spool's files say to each other about. */
#ifndef OUTPUT_SPOOL_SPOOLTYPES_H
#define OUTPUT_SPOOL_SPOOLTYPES_H

#include <stdbool.h>
#include <stdint.h>

struct spool_options {
	const char *directory; /* borrowed for the spool's life */
	const char *name;      /* of the output whose spool it is: spoolname.h; borrowed the same */
	uint64_t max_bytes;    /* of disk */
	bool sync_full;        /* each commit waits until it is on disk */
};

/* Spans lost since the last spool_take_losses. */
struct spool_losses {
	int64_t evicted;   /* the oldest, deleted to make room */
	int64_t corrupt;   /* missing from the file, or damaged in it */
	int64_t discarded; /* given up: sweep.h */
	bool unknown;      /* nothing says what the file should hold: more may be lost */
	bool removed;      /* somebody removed, replaced or cut the open files: `corrupt` is of that */
};

/* How many are kept; of each, the first REFUSED_SPAN_BYTES. */
#define SPOOL_REFUSED_MAX 100

/* A span that the collector refused. The newest are kept, for an administrator to look at. */
struct spool_refused {
	int64_t event_time;
	const char *words;
	const uint8_t *span;
	uint32_t size;
};

#endif
