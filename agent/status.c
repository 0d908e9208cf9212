/* SPDX-License-Identifier: BSD-2-Clause */
#include "status.h"

#include <inttypes.h>
#include <unistd.h>

#include <glib.h>

#include "clock.h"
#include "json.h"

void status_read(struct status *status, const struct status_source *source)
{
	ledger_read(&status->rows, &status->latency);
	collector_read_state(source->collector, &status->collector);
	uplink_read_state(source->uplink, &status->uplink);
	status->queue_bytes = batch_queue_bytes(source->queue);
	status->queue_limit = source->queue_limit;
	status->started = source->started;
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
		.dropped = row[SPANS_DROPPED_QUEUE_FULL] + row[SPANS_DROPPED_REFUSED] +
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
	write_loss(out, row[EVENTS_REJECTED_MALFORMED],
		"events rejected: malformed (what program writes them?)");
	write_loss(out, row[EVENTS_REJECTED_ID], "events rejected: trace or span id 0");
	write_loss(out, row[EVENTS_REJECTED_TIME], "events rejected: impossible times");
	write_loss(out, row[SPANS_DROPPED_QUEUE_FULL],
		"spans dropped: the collector was away too long (raise `queue-size`)");
	write_loss(
		out, row[SPANS_DROPPED_REFUSED], "spans dropped: the collector refused them (see the log)");
	write_loss(out, row[SPANS_DROPPED_OVERSIZE], "spans dropped: larger than `batch-size` in [output]");
	if (out->size == before)
		buffer_printf(out, "  nothing\n");
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
		buffer_printf(out, "collecting from LTTng session `%s`", status->collector.session);
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

void status_write_text(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;
	int64_t now = clock_monotonic();

	buffer_printf(out, "blkin-agent %s, pid %d, up ", BLKIN_VERSION, (int)getpid());
	write_time(out, clock_wall() - status->started);
	buffer_printf(out, "\n\ncollecting  %s", status->collector.collecting ? "yes" : "NO");
	if (status->collector.collecting)
		buffer_printf(out, ", from LTTng session `%s`", status->collector.session);
	buffer_printf(out, ", since ");
	write_time(out, now - status->collector.since);
	if (status->collector.error[0])
		buffer_printf(out, "\n  %s", status->collector.error);
	buffer_printf(out,
		"\n  events    %" PRId64 " read: %" PRId64 " in spans, %" PRId64 " rejected, %" PRId64
		" ignored\n",
		row[EVENTS_READ], row[EVENTS_IN_SPANS], add_up(row).rejected, row[EVENTS_IGNORED]);
	buffer_printf(
		out, "delivering  %s, to %s\n", status->uplink.up ? "yes" : "NO", status->uplink.server);
	if (status->uplink.error[0])
		buffer_printf(out, "  %s\n", status->uplink.error);
	buffer_printf(out,
		"  spans     %" PRId64 ": %" PRId64 " sent, %" PRId64 " pending, %" PRId64 " queued, %" PRId64
		" dropped\n",
		row[SPANS_MADE], row[SPANS_SENT], row[SPANS_PENDING], row[SPANS_QUEUED], add_up(row).dropped);
	buffer_printf(
		out, "  queue     %zu of %zu KiB\n", status->queue_bytes / 1024, status->queue_limit / 1024);
	write_latency(out, &status->latency);
	write_losses(out, row);
}

static void write_row(struct buffer *out, const char *key, int64_t value)
{
	json_key(out, key);
	json_int(out, value);
}

static void write_events(struct buffer *out, const int64_t *row)
{
	json_key(out, "events");
	json_open(out, '{');
	write_row(out, "read", row[EVENTS_READ]);
	write_row(out, "in_spans", row[EVENTS_IN_SPANS]);
	write_row(out, "json", row[EVENTS_AS_JSON]);
	write_row(out, "ignored", row[EVENTS_IGNORED]);
	json_key(out, "rejected");
	json_open(out, '{');
	write_row(out, "malformed", row[EVENTS_REJECTED_MALFORMED]);
	write_row(out, "id", row[EVENTS_REJECTED_ID]);
	write_row(out, "time", row[EVENTS_REJECTED_TIME]);
	json_close(out, '}');
	json_key(out, "lost");
	json_open(out, '{');
	write_row(out, "ring", row[EVENTS_LOST_RING]);
	write_row(out, "packets", row[PACKETS_LOST]);
	json_close(out, '}');
	json_close(out, '}');
}

static void write_spans(struct buffer *out, const int64_t *row)
{
	json_key(out, "spans");
	json_open(out, '{');
	write_row(out, "made", row[SPANS_MADE]);
	write_row(out, "pending", row[SPANS_PENDING]);
	write_row(out, "queued", row[SPANS_QUEUED]);
	write_row(out, "spooled", row[SPANS_SPOOLED]);
	write_row(out, "sent", row[SPANS_SENT]);
	write_row(out, "sent_again", row[SPANS_SENT_AGAIN]);
	write_row(out, "cut_short", row[SPANS_CUT_SHORT]);
	json_key(out, "dropped");
	json_open(out, '{');
	write_row(out, "queue_full", row[SPANS_DROPPED_QUEUE_FULL]);
	write_row(out, "refused", row[SPANS_DROPPED_REFUSED]);
	write_row(out, "oversize", row[SPANS_DROPPED_OVERSIZE]);
	write_row(out, "shutdown", row[SPANS_DROPPED_SHUTDOWN]);
	json_close(out, '}');
	json_close(out, '}');
}

static void write_servers(struct buffer *out, const struct uplink_state *uplink)
{
	json_key(out, "servers");
	json_open(out, '[');
	for (uint32_t i = 0; i < uplink->server_count; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];

		json_open(out, '{');
		json_key(out, "server");
		json_text(out, server->server);
		json_key(out, "serving");
		json_bool(out, server->serving);
		json_key(out, "up");
		json_bool(out, server->up);
		json_key(out, "error");
		json_text(out, server->error);
		json_close(out, '}');
	}
	json_close(out, ']');
}

void status_write_json(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;

	json_open(out, '{');
	json_key(out, "version");
	json_text(out, BLKIN_VERSION);
	write_row(out, "pid", getpid());
	json_key(out, "started");
	json_double(out, (double)status->started / 1e9);
	json_key(out, "collecting");
	json_bool(out, status->collector.collecting);
	json_key(out, "session");
	json_text(out, status->collector.session);
	json_key(out, "session_error");
	json_text(out, status->collector.error);
	write_row(out, "sessions_created", row[SESSIONS_CREATED]);
	json_key(out, "server");
	json_text(out, status->uplink.server);
	json_key(out, "output");
	json_text(out, status->uplink.type);
	write_servers(out, &status->uplink);
	json_key(out, "delivering");
	json_bool(out, status->uplink.up);
	json_key(out, "output_error");
	json_text(out, status->uplink.error);
	write_row(out, "queue_bytes", (int64_t)status->queue_bytes);
	write_row(out, "strings_repaired", row[STRINGS_REPAIRED]);
	write_events(out, row);
	write_spans(out, row);
	json_close(out, '}');
	buffer_printf(out, "\n");
}
