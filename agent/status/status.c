/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/status.h"

#include <inttypes.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "status/doctor.h"

void status_read(struct status *status, const struct status_source *source)
{
	memset(&status->census, 0, sizeof(status->census));
	status->config = source->config;
	status->reload = source->reload;
	ledger_read(&status->rows, &status->latency);
	collector_read_state(source->collector, &status->collector);
	uplink_read_state(source->uplink, &status->uplink);
	spooler_read_state(source->spooler, &status->spool);
	status->queue_bytes = batch_queue_bytes(source->queue);
	status->queue_limit = source->queue_limit;
	status->started = source->started;
	activity_read(source->activity, &status->activity);
	status->progress = collector_progress(source->collector);
}

/* The rows as they add up, for both forms. */
struct sums {
	int64_t rejected, dropped;
};

static struct sums add_up(const int64_t *row)
{
	struct sums sums = {
		.rejected =
			row[EVENTS_REJECTED_MALFORMED] + row[EVENTS_REJECTED_ID] + row[EVENTS_REJECTED_TIME],
		.dropped = row[SPANS_DROPPED_SPOOL_FULL] + row[SPANS_DROPPED_SPOOL_CORRUPT] +
			   row[SPANS_DROPPED_QUEUE_FULL] + row[SPANS_DROPPED_REFUSED] +
			   row[SPANS_DROPPED_OVERSIZE] + row[SPANS_DROPPED_SHUTDOWN],
	};

	return sums;
}

/* The upper bound of the histogram's bucket that holds the share @q of all spans; 0 if there are none. */
static double quantile(const struct ledger_latency *latency, double q)
{
	uint64_t total = 0, below = 0;

	for (int i = 0; i <= LEDGER_BUCKETS; i++)
		total += latency->bucket[i];
	for (int i = 0; total && i < LEDGER_BUCKETS; i++) {
		below += latency->bucket[i];
		if ((double)below >= q * (double)total)
			return ledger_bucket_seconds[i];
	}
	return total ? G_MAXDOUBLE : 0;
}

static void write_time(struct buffer *out, int64_t ns)
{
	int64_t seconds = ns / NS_PER_SECOND;

	if (seconds < 120)
		buffer_printf(out, "%" PRId64 " s", seconds);
	else if (seconds < 2 * 3600)
		buffer_printf(out, "%" PRId64 " min", seconds / 60);
	else if (seconds < 48 * 3600)
		buffer_printf(out, "%" PRId64 " h", seconds / 3600);
	else
		buffer_printf(out, "%" PRId64 " days", seconds / 86400);
}

static void write_latency(struct buffer *out, const struct ledger_latency *latency)
{
	double half = quantile(latency, 0.5), most = quantile(latency, 0.99);

	if (half <= 0)
		return;
	if (most > 1e6)
		buffer_printf(out, "  latency   half of the spans within %g s\n", half);
	else
		buffer_printf(
			out, "  latency   half of the spans within %g s, 99 %% within %g s\n", half, most);
}

static void write_spool(struct buffer *out, const struct spooler_state *spool)
{
	if (!spool->max_bytes)
		return;
	buffer_printf(out, "  spool     %" PRIu64 " of %" PRIu64 " KiB\n", spool->bytes / 1024,
		spool->max_bytes / 1024);
	if (spool->error[0])
		buffer_printf(out, "  %s\n", spool->error);
}

/* A line of the losses, if there are any. */
static void write_loss(struct buffer *out, int64_t count, const char *what)
{
	if (count)
		buffer_printf(out, "  %12" PRId64 "  %s\n", count, what);
}

static void write_losses(struct buffer *out, const int64_t *row)
{
	size_t before;

	buffer_printf(out, "lost\n");
	before = out->size;
	write_loss(
		out, row[EVENTS_LOST_RING], "events: a ring buffer was full (raise `memory` in [session])");
	write_loss(out, row[PACKETS_LOST], "packets: the agent read too slowly (raise `disk` in [session])");
	write_loss(out, row[SESSIONS_LOST],
		"sessions: ended by others, with what was in their buffers (see the log)");
	write_loss(out, row[EVENTS_REJECTED_MALFORMED],
		"events rejected: malformed (what program writes them?)");
	write_loss(out, row[EVENTS_REJECTED_ID], "events rejected: trace or span id 0");
	write_loss(out, row[EVENTS_REJECTED_TIME], "events rejected: impossible times");
	write_loss(out, row[SPANS_DROPPED_QUEUE_FULL],
		"spans dropped: the collector was away too long (raise `queue-size`)");
	write_loss(out, row[SPANS_DROPPED_SPOOL_FULL],
		"spans dropped: the collector was away too long (raise `max-size` in [spool])");
	write_loss(out, row[SPANS_DROPPED_SPOOL_CORRUPT],
		"spans dropped: the spool's file was damaged or cut short (see the log)");
	write_loss(
		out, row[SPANS_DROPPED_REFUSED], "spans dropped: the collector refused them (see the log)");
	write_loss(out, row[SPANS_DROPPED_OVERSIZE], "spans dropped: larger than `batch-size` in [output]");
	if (out->size == before)
		buffer_printf(out, "  nothing\n");
}

/* How many programs there are to collect from, if that is known. */
static void write_programs(struct buffer *out, const struct status *status)
{
	const struct census *census = &status->census;
	int programs = census->known ? census->programs : status->activity.programs;

	if (programs < 0)
		return;
	buffer_printf(out, " from %d program%s", programs, programs == 1 ? "" : "s");
	if (census->known && census->blkin != programs)
		buffer_printf(out, ", %d of them with blkin", census->blkin);
}

/* Words from outside, on a line that others take apart. */
static void write_plain(struct buffer *out, const char *text)
{
	size_t begin = out->size;

	buffer_printf(out, "%s", text);
	for (size_t i = begin; i < out->size; i++)
		if (out->data[i] < 0x20 || out->data[i] == 0x7f)
			out->data[i] = '?';
}

void status_write_line(struct buffer *out, const struct status *status)
{
	if (status->collector.collecting) {
		buffer_printf(out, "collecting");
		write_programs(out, status);
	} else {
		buffer_printf(out, "NOT collecting: ");
		write_plain(out, status->collector.error[0] ? status->collector.error : "starting");
	}
	if (status->uplink.up) {
		buffer_printf(out, "; delivering to %s", status->uplink.server);
	} else {
		buffer_printf(out, "; NOT delivering to %s: ", status->uplink.server);
		write_plain(out, status->uplink.error[0] ? status->uplink.error : "not connected yet");
	}
}

/* Words from outside, on a line of their own. */
static void write_said(struct buffer *out, const char *text)
{
	buffer_printf(out, "  ");
	write_plain(out, text);
	buffer_printf(out, "\n");
}

static void write_session(struct buffer *out, const struct status *status, int64_t now)
{
	if (!status->collector.collecting)
		return;
	buffer_printf(out, "  session   `%s`, ", status->collector.session);
	if (status->activity.last_event) {
		buffer_printf(out, "last event ");
		write_time(out, now - status->activity.last_event);
		buffer_printf(out, " ago\n");
	} else {
		buffer_printf(out, "no event yet\n");
	}
}

static void write_findings(struct buffer *out, const struct status *status)
{
	struct finding findings[FINDINGS_MAX];
	size_t count = doctor_examine(status, findings);

	buffer_printf(out, "to do\n");
	for (size_t i = 0; i < count; i++) {
		write_said(out, findings[i].what);
		buffer_printf(out, "    -> ");
		write_plain(out, findings[i].fix);
		buffer_printf(out, "\n");
	}
	if (count == 0)
		buffer_printf(out, "  nothing\n");
}

void status_write_text(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;
	int64_t now = clock_monotonic();

	buffer_printf(out, "blkin-agent %s, pid %d, up ", BLKIN_VERSION, (int)getpid());
	write_time(out, clock_wall() - status->started);
	buffer_printf(out, "\n\ncollecting  %s", status->collector.collecting ? "yes" : "NO");
	if (status->collector.collecting) {
		buffer_printf(out, ",");
		write_programs(out, status);
	}
	buffer_printf(out, ", since ");
	write_time(out, now - status->collector.since);
	buffer_printf(out, "\n");
	if (status->collector.error[0])
		write_said(out, status->collector.error);
	write_session(out, status, now);
	buffer_printf(out,
		"  events    %" PRId64 " read: %" PRId64 " in spans, %" PRId64 " rejected, %" PRId64
		" ignored\n",
		row[EVENTS_READ], row[EVENTS_IN_SPANS], add_up(row).rejected, row[EVENTS_IGNORED]);
	buffer_printf(
		out, "delivering  %s, to %s\n", status->uplink.up ? "yes" : "NO", status->uplink.server);
	if (status->uplink.error[0])
		write_said(out, status->uplink.error);
	buffer_printf(out,
		"  spans     %" PRId64 ": %" PRId64 " sent, %" PRId64 " pending, %" PRId64 " queued, %" PRId64
		" spooled, %" PRId64 " dropped\n",
		row[SPANS_MADE] + row[SPANS_RECOVERED], row[SPANS_SENT], row[SPANS_PENDING],
		row[SPANS_QUEUED], row[SPANS_SPOOLED], add_up(row).dropped);
	buffer_printf(
		out, "  queue     %zu of %zu KiB\n", status->queue_bytes / 1024, status->queue_limit / 1024);
	write_spool(out, &status->spool);
	write_latency(out, &status->latency);
	write_losses(out, row);
	write_findings(out, status);
}
