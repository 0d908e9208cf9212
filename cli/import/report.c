/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/report.h"

#include <inttypes.h>
#include <stdio.h>

static void report_events(const struct report *report, FILE *out)
{
	const int64_t *row = report->result->rows.row;

	fprintf(out, "%" PRId64 " events read: %" PRId64 " in spans, ", row[EVENTS_READ],
		row[EVENTS_IN_SPANS]);
	if (row[EVENTS_AS_JSON] || report->to->events)
		fprintf(out, "%" PRId64 " as JSON, ", row[EVENTS_AS_JSON]);
	fprintf(out, "%" PRId64 " rejected, %" PRId64 " others ignored\n",
		row[EVENTS_REJECTED_MALFORMED] + row[EVENTS_REJECTED_ID] + row[EVENTS_REJECTED_TIME],
		row[EVENTS_IGNORED]);
	if (row[PAIRS_MALFORMED])
		fprintf(out,
			"%" PRId64
			" events of pairs (`spans` in [events]) do not say their thread, or have a time "
			"that "
			"cannot be: record them with lttng add-context --userspace --type=vtid, those of the "
			"kernel with --kernel --type=tid\n",
			row[PAIRS_MALFORMED]);
	if (row[EVENTS_LOST_RING] || row[PACKETS_LOST])
		fprintf(out, "lost when they were recorded: %" PRId64 " events, %" PRId64 " packets\n",
			row[EVENTS_LOST_RING], row[PACKETS_LOST]);
}

/* Returns whether all of them are. */
static bool report_printed(const struct report *report, FILE *out)
{
	const struct import_result *result = report->result;

	if (!report->to->events) {
		fprintf(out, "%" PRIu64 " spans printed\n", result->printed);
		return true;
	}
	fprintf(out, "%" PRIu64 " events printed", result->events_printed);
	if (result->events_too_large)
		fprintf(out, ", %" PRIu64 " larger than 1 MiB left out", result->events_too_large);
	fprintf(out, "\n");
	return !result->events_too_large;
}

/* What became of the spans, or events, at an output; returns whether all that it keeps are sent. */
static bool report_output(const struct import_result *result, size_t index)
{
	const int64_t *row = result->output[index].row;

	if (result->outputs > 1)
		printf("output %s: ", result->output[index].name);
	printf("%" PRId64 " %s: %" PRId64 " sent, ", row[SPANS_TAKEN],
		kind_name(lane_kind(result->output[index].name, NULL)), row[SPANS_SENT]);
	if (row[SPANS_SAMPLED_OUT])
		printf("%" PRId64 " sampled out, ", row[SPANS_SAMPLED_OUT]);
	printf("%" PRId64 " refused, %" PRId64 " too large, %" PRId64 " not sent\n",
		row[SPANS_DROPPED_REFUSED], row[SPANS_DROPPED_OVERSIZE], row[SPANS_QUEUED]);
	return row[SPANS_SENT] + row[SPANS_SAMPLED_OUT] == row[SPANS_TAKEN];
}

bool report_all(const struct report *report)
{
	const struct import_result *result = report->result;
	const struct lines_counts *lines = &result->lines;
	FILE *out = report->to->print ? stderr : stdout;
	bool good = true;

	if (report->traces)
		report_events(report, out);
	if (report->to->print)
		good = report_printed(report, out);
	if (report->files)
		fprintf(out, "%" PRIu64 " lines read: %" PRIu64 " spans, %" PRIu64 " that are not spans\n",
			lines->read, lines->spans, lines->bad);
	for (size_t i = 0; i < result->outputs; i++)
		good &= report_output(result, i);
	return good;
}
