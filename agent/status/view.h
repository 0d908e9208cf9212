/* SPDX-License-Identifier: BSD-2-Clause */
/* What the page shows of the statistics: which window, which rows, in which order; as its address says. */
#ifndef STATUS_VIEW_H
#define STATUS_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "stats/monitor.h"

enum view_key {
	VIEW_STATE, /* what is above its limits first, then by the share of the time */
	VIEW_SERVICE,
	VIEW_SPAN,
	VIEW_RATE,
	VIEW_MEAN,
	VIEW_P50,
	VIEW_P99,
	VIEW_MAX,
	VIEW_ERRORS,
	VIEW_KEYS
};
extern const char *const view_keys[VIEW_KEYS];

/* So many rows, unless more are asked for. */
#define VIEW_ROWS 200

struct view {
	unsigned window; /* an enum window, or WINDOW_ALL */
	enum view_key key;
	bool reverse;
	uint32_t rows;
	char *filter;         /* words, separated by spaces; "": all */
	char *service, *span; /* the series whose histogram is open; NULL: none */
};

/* Reads an address's query; NULL: it has none. What is not understood is as if it were not there. */
void view_read(struct view *view, const char *query, unsigned window);
void view_clear(struct view *view);

/* Reads `minutes`; false if it is there, and is none. @window stays as it is if it is not there. */
bool view_window(const char *query, unsigned *window);

/* "1", "10", "60" or "all" */
const char *view_window_name(unsigned window);

/* Appends the query of such a view, for an attribute. */
void view_put(struct buffer *out, const struct view *view);

/* A row. Names are borrowed. */
struct view_row {
	uint32_t number;
	const char *service, *span; /* NULL: of all that have no names of their own */
	struct figures figures;
	bool limited;
	unsigned exceeded; /* as of monitor_exceeded */
};

/* The rows in their order, of struct view_row; all that match, whatever @view->rows says. @total: of all. */
GArray *view_select(const struct view *view, struct monitor *monitor, uint32_t *total);

#endif
