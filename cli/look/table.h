/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of `blkin top` as lines of a width: columns that do not fit are left out, the less important ones
 * first. */
#ifndef LOOK_TABLE_H
#define LOOK_TABLE_H

#include <stdbool.h>

#include <glib.h>

#include "base/buffer.h"
#include "look/ranking.h"

struct table {
	const GArray *rows; /* of struct ranked */
	guint first, count; /* those that are drawn */
	bool programs;
	enum ranking_key key; /* whose column is marked */
	int width;            /* 0: as wide as it takes */
	bool colour;
};

/* Appends a line with the columns' names, and one for each row. */
void table_draw(struct buffer *out, const struct table *table);

#endif
