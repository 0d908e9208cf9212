/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The statistics at one moment, by value: to be sent to who asked, added to those of another node, or to be
 * told apart from those of an earlier moment.
 */
#ifndef STATS_SNAPSHOT_H
#define STATS_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "base/pack.h"
#include "core/ledger.h"
#include "stats/histogram.h"

/* Times are ns. The series of all that has no room for a name of its own has NULL for both. */
struct series {
	char *service, *name;
	uint64_t spans, errors;
	uint64_t timed; /* spans whose duration is known; the rest is of these: */
	uint64_t sum, max;
	bool fine; /* the histogram is within HISTOGRAM_ERROR; otherwise there was no room: a factor of 3 */
	struct histogram histogram;
};

/* A program has no histogram that could tell its maximum since an earlier moment. */
#define SNAPSHOT_MAX_UNKNOWN UINT64_MAX

/* The sum of the programs that are not listed has NULL for a name. */
struct program {
	char *name;    /* "": not known */
	uint32_t pid;  /* as it sees itself; 0: not known */
	uint32_t user; /* UINT32_MAX: not known */
	uint64_t spans, errors, timed, sum, max;
};

struct snapshot {
	int64_t began; /* when the first counting began, ns since the epoch: it tells agents apart */
	int64_t age;   /* of the counts, ns */
	struct ledger rows;
	uint64_t unnamed; /* pairs of service and name that were seen and have no series; not each once */
	GArray *series;   /* of struct series, owned */
	GArray *programs; /* of struct program, owned */
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_clear(struct snapshot *snapshot);

/*
 * Makes @now what came about since @before, which is of the same agent: series and programs without any are
 * left out. The maximum is exact if it is new, and otherwise within HISTOGRAM_ERROR; a program's is not known
 * then.
 */
void snapshot_subtract(struct snapshot *now, const struct snapshot *before);

void snapshot_pack(struct buffer *out, const struct snapshot *snapshot);

/* Reads one; false, and it is empty, if it is none. */
bool snapshot_unpack(struct unpacker *from, struct snapshot *snapshot);

#endif
