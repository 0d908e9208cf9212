/* SPDX-License-Identifier: BSD-2-Clause */
/* What the log and the account say of an output's files, beside their health. */
#ifndef UPLINK_FILENEWS_H
#define UPLINK_FILENEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/ledger.h"
#include "files/filewriter.h"

struct filenews {
	bool told_good, told_left;
	uint64_t removed;      /* files that were counted, */
	uint64_t removed_told; /* and logged */
	int64_t removed_at;    /* when, CLOCK_MONOTONIC ns; 0: never */
	int64_t lost, lost_at; /* the same of lines that were in a file which somebody removed */
};

/* Files can be written, of which the log calls the output @label. */
void filenews_good(struct filenews *news, const char *label, const struct filewriter *writer);

/* Counts the files that were removed since the last call. */
void filenews_removed(
	struct filenews *news, const char *label, const struct filewriter *writer, struct account *account);

/* Counts what was lost since the last call, of what had been sent. Returns whether something was. */
bool filenews_lost(
	struct filenews *news, const char *label, const struct filewriter *writer, struct account *account);

#endif
