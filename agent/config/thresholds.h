/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * [thresholds]: how long spans may take, and how many may fail. A line is for the spans whose service and
 * name match its globs:
 *
 *     osd.?/write = 20ms, p99 50ms, errors 1%
 *
 * Each limit is that of the last line that matches and has one; `none` takes away those of the lines before.
 */
#ifndef CONFIG_THRESHOLDS_H
#define CONFIG_THRESHOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"

/* So many lines in all. */
#define THRESHOLDS_MAX 1000

/* What has a limit, in the order in which a line is printed. */
enum limit { LIMIT_MEAN, LIMIT_P99, LIMIT_ERRORS, LIMITS };

/* "mean", "p99", "errors" */
extern const char *const limit_names[LIMITS];

/* A negative one is none: there may be a limit of 0. */
struct limits {
	double of[LIMITS]; /* ns, ns, and a share of the spans: 0 to 1 */
};

#define LIMITS_NONE ((struct limits){{-1, -1, -1}})

/* A line. */
struct threshold {
	char *pattern, *value; /* as they stand in a file */
	GPatternSpec *service, *span;
	bool none; /* takes away what was set before */
	struct limits limits;
	struct config_origin origin;
};

/* A list of struct threshold *; it owns them. */
GPtrArray *thresholds_create(void);

/*
 * Appends a line, in place of one with the same pattern in another file. Returns 0, or -1 with @error saying
 * what is wrong: a sentence without its end.
 */
int thresholds_add(GPtrArray *list, const char *pattern, const char *value,
	const struct config_origin *origin, char *error, size_t size);

GPtrArray *thresholds_copy(const GPtrArray *list);
bool thresholds_equal(const GPtrArray *one, const GPtrArray *other);

/* The limits of the spans of that service and name. */
struct limits thresholds_find(const GPtrArray *list, const char *service, const char *span);

/* Whether there is any limit. */
bool limits_any(const struct limits *limits);

#endif
