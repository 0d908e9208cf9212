/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/heading.h"

#include <inttypes.h>

#include "base/clock.h"
#include "look/fit.h"
#include "printable.h"

static void put_line(struct buffer *out, struct buffer *line, int width)
{
	buffer_put(line, "", 1);
	fit_put(out, (const char *)line->data, width ? width : INT_MAX);
	buffer_printf(out, "\n");
	buffer_free(line);
}

/* A plural's letter. */
static const char *s(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void put_sums(struct buffer *out, const struct snapshot *snapshot, int width)
{
	uint64_t spans = 0, errors = 0;
	struct buffer line = {0};

	for (guint i = 0; i < snapshot->series->len; i++) {
		spans += g_array_index(snapshot->series, struct series, i).spans;
		errors += g_array_index(snapshot->series, struct series, i).errors;
	}
	buffer_printf(&line, "%" PRIu64 " span%s in ", spans, s(spans));
	printable_put_time(&line, snapshot->age / 1000);
	buffer_printf(&line, ", %.1f/s, %" PRIu64 " with an error, %u name%s, %u program%s",
		snapshot->age > 0 ? (double)spans * 1e9 / (double)snapshot->age : 0.0, errors,
		snapshot->series->len, s(snapshot->series->len), snapshot->programs->len,
		s(snapshot->programs->len));
	put_line(out, &line, width);
}

static void put_losses(struct buffer *out, const struct ledger *now, const struct ledger *before, int width)
{
	static const struct {
		enum ledger_row row;
		const char *words;
	} losses[] = {
		{EVENTS_LOST_RING, "events lost in ring buffers"},
		{PACKETS_LOST, "packets lost in the relay"},
		{PACKETS_LOST_UNREADABLE, "packets malformed"},
		{PACKETS_LOST_STUCK, "ring buffers held up"},
		{EVENTS_REJECTED_MALFORMED, "events malformed"},
		{EVENTS_REJECTED_ID, "events without an id"},
		{EVENTS_REJECTED_TIME, "events with an impossible time"},
	};
	struct buffer line = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(losses); i++) {
		int64_t count = now->row[losses[i].row] - (before ? before->row[losses[i].row] : 0);

		if (count > 0)
			buffer_printf(&line, "%s%" PRId64 " %s", line.size ? ", " : "not in here: ", count,
				losses[i].words);
	}
	if (!line.size)
		buffer_printf(&line, "nothing lost");
	put_line(out, &line, width);
}

void heading_put(
	struct buffer *out, const struct snapshot *snapshot, const struct snapshot *before, int width)
{
	put_sums(out, snapshot, width);
	put_losses(out, &snapshot->rows, before ? &before->rows : NULL, width);
}
