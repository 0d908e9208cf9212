/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of `blkin top`: the statistics of series or of programs, filtered, and in an order. */
#ifndef LOOK_RANKING_H
#define LOOK_RANKING_H

#include <stdbool.h>

#include <glib.h>

#include "stats/figures.h"

enum ranking_key {
	RANKING_SHARE,
	RANKING_RATE,
	RANKING_MEAN,
	RANKING_P50,
	RANKING_P99,
	RANKING_MAX,
	RANKING_ERRORS,
	RANKING_COUNT,
	RANKING_NAME,
	RANKING_KEYS
};

/* The words for --sort: "share" and so on. */
extern const char *const ranking_keys[RANKING_KEYS + 1];

struct ranking {
	bool programs;      /* instead of series */
	const char *filter; /* a row has each of these words in its names, in any case; "": all do */
	enum ranking_key key;
	bool reverse;
};

/* Names are printable. */
struct ranked {
	char *group, *name; /* service and span; or program, and pid with user */
	struct figures figures;
};

/* Returns an array of struct ranked, which frees them. */
GArray *ranking_make(const struct ranking *ranking, const struct snapshot *snapshot);

#endif
