/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/metrics.h"

#include <inttypes.h>

#include <glib.h>

#include "core/ledger.h"

/* A sample of a row; samples of one metric stand together, the first brings its type and help. */
static const struct metric {
	const char *name, *type, *help, *labels; /* NULL: the output's */
	enum ledger_row row;
} metrics[] = {
	{"blkin_agent_events_read_total", "counter", "Events read from the session.", "", EVENTS_READ},
	{"blkin_agent_events_lost_total", "counter", "Events that LTTng discarded before they could be read.",
		"{where=\"ring\"}", EVENTS_LOST_RING},
	{"blkin_agent_packets_lost_total", "counter",
		"Packets overwritten at the relay before they were read; LTTng does not tell how many events "
		"were in them.",
		"", PACKETS_LOST},
	{"blkin_agent_events_in_spans_total", "counter", "Events that became part of a span.", "",
		EVENTS_IN_SPANS},
	{"blkin_agent_events_json_total", "counter", "Events passed on as JSON.", "", EVENTS_AS_JSON},
	{"blkin_agent_events_rejected_total", "counter", "Events that are not what a program should write.",
		"{reason=\"malformed\"}", EVENTS_REJECTED_MALFORMED},
	{"blkin_agent_events_rejected_total", NULL, NULL, "{reason=\"id\"}", EVENTS_REJECTED_ID},
	{"blkin_agent_events_rejected_total", NULL, NULL, "{reason=\"time\"}", EVENTS_REJECTED_TIME},
	{"blkin_agent_events_ignored_total", "counter", "Events that are not of a span.", "", EVENTS_IGNORED},
	{"blkin_agent_events_read_again_total", "counter",
		"Events read a second time, as the agent that read them first was killed.", "",
		EVENTS_READ_AGAIN},
	{"blkin_agent_spans_total", "counter", "Spans begun.", "", SPANS_MADE},
	{"blkin_agent_spans_recovered_total", "counter", "Spans found in the spool when the agent started.",
		"", SPANS_RECOVERED},
	{"blkin_agent_spans", "gauge", "Spans that are under way in the agent.", "{state=\"pending\"}",
		SPANS_PENDING},
	{"blkin_agent_spans", NULL, NULL, "{state=\"queued\"}", SPANS_QUEUED},
	{"blkin_agent_spans", NULL, NULL, "{state=\"spooled\"}", SPANS_SPOOLED},
	{"blkin_agent_spans_sent_total", "counter", "Spans that the collector acknowledged.", NULL,
		SPANS_SENT},
	{"blkin_agent_spans_dropped_total", "counter", "Spans that are not delivered.",
		"{reason=\"queue_full\"}", SPANS_DROPPED_QUEUE_FULL},
	{"blkin_agent_spans_dropped_total", NULL, NULL, "{reason=\"refused\"}", SPANS_DROPPED_REFUSED},
	{"blkin_agent_spans_dropped_total", NULL, NULL, "{reason=\"oversize\"}", SPANS_DROPPED_OVERSIZE},
	{"blkin_agent_spans_dropped_total", NULL, NULL, "{reason=\"spool_full\"}", SPANS_DROPPED_SPOOL_FULL},
	{"blkin_agent_spans_dropped_total", NULL, NULL, "{reason=\"spool_corrupt\"}",
		SPANS_DROPPED_SPOOL_CORRUPT},
	{"blkin_agent_spans_dropped_total", NULL, NULL, "{reason=\"shutdown\"}", SPANS_DROPPED_SHUTDOWN},
	{"blkin_agent_spans_sent_again_total", "counter",
		"Spans sent a second time because the first got no answer: the collector may have them "
		"twice.",
		"", SPANS_SENT_AGAIN},
	{"blkin_agent_spans_cut_short_total", "counter",
		"Spans sent before they ended: silent too long, or memory was short.", "", SPANS_CUT_SHORT},
	{"blkin_agent_strings_repaired_total", "counter",
		"Texts that were not UTF-8; their broken bytes became U+FFFD.", "", STRINGS_REPAIRED},
	{"blkin_agent_sessions_created_total", "counter", "LTTng sessions created.", "", SESSIONS_CREATED},
	{"blkin_agent_sessions_lost_total", "counter",
		"LTTng sessions that ended otherwise than by the agent; what was in their buffers is lost.",
		"", SESSIONS_LOST},
	{"blkin_agent_sessions_mended_total", "counter",
		"Times that the session was found stopped, or with something disabled, and was set right.",
		"", SESSIONS_MENDED},
	{"blkin_agent_clock_steps_total", "counter", "Steps of the wall clock.", "", CLOCK_STEPS_SEEN},
	{"blkin_agent_output_errors_total", "counter", "Failures of the connection to the collector.",
		"{kind=\"connect\"}", OUTPUT_ERRORS_CONNECT},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"tls\"}", OUTPUT_ERRORS_TLS},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"timeout\"}", OUTPUT_ERRORS_TIMEOUT},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"protocol\"}", OUTPUT_ERRORS_PROTOCOL},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"closed\"}", OUTPUT_ERRORS_CLOSED},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"try_later\"}", OUTPUT_ERRORS_TRY_LATER},
	{"blkin_agent_output_errors_total", NULL, NULL, "{kind=\"refused\"}", OUTPUT_ERRORS_REFUSED},
};

static void write_head(struct buffer *out, const char *name, const char *type, const char *help)
{
	buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void write_latency(struct buffer *out, const struct ledger_latency *latency)
{
	const char *name = "blkin_agent_delivery_seconds";
	uint64_t below = 0;

	write_head(
		out, name, "histogram", "Time from a span's last event to the collector's acknowledgement.");
	for (int i = 0; i < LEDGER_BUCKETS; i++) {
		below += latency->bucket[i];
		buffer_printf(
			out, "%s_bucket{le=\"%g\"} %" PRIu64 "\n", name, ledger_bucket_seconds[i], below);
	}
	below += latency->bucket[LEDGER_BUCKETS];
	buffer_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.6f\n%s_count %" PRIu64 "\n", name,
		below, name, latency->sum, name, below);
}

static void write_gauge(
	struct buffer *out, const char *name, const char *help, const char *labels, double value)
{
	write_head(out, name, "gauge", help);
	buffer_printf(out, "%s%s %.17g\n", name, labels, value);
}

/* Of a server that none of the others had to be replaced by, nobody knows. */
static void write_servers(struct buffer *out, const struct uplink_state *uplink)
{
	const char *name = "blkin_agent_output_up";

	write_head(out, name, "gauge", "Whether a collector takes spans.");
	for (uint32_t i = 0; i < uplink->server_count; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];

		buffer_printf(out, "%s{server=\"%s\"} %d\n", name, server->server, server->up);
		if (server->serving)
			return;
	}
}

static void write_spool(struct buffer *out, const struct spooler_state *spool)
{
	write_gauge(out, "blkin_agent_spool_up", "Whether spans can be stored on disk.", "", spool->ok);
	write_gauge(out, "blkin_agent_spool_bytes", "Disk that the spool takes.", "", (double)spool->bytes);
	write_gauge(out, "blkin_agent_spool_limit_bytes", "Disk that the spool may take; 0: there is none.",
		"", (double)spool->max_bytes);
}

void metrics_write(struct buffer *out, const struct status *status)
{
	g_autofree char *output = g_strdup_printf("{output=\"%s\"}", status->uplink.type);

	for (size_t i = 0; i < G_N_ELEMENTS(metrics); i++) {
		const struct metric *metric = &metrics[i];

		if (metric->help)
			write_head(out, metric->name, metric->type, metric->help);
		buffer_printf(out, "%s%s %" PRId64 "\n", metric->name,
			metric->labels ? metric->labels : output, status->rows.row[metric->row]);
	}
	write_latency(out, &status->latency);
	write_gauge(out, "blkin_agent_collecting", "Whether the session is being read.", "",
		status->collector.collecting);
	write_servers(out, &status->uplink);
	write_gauge(out, "blkin_agent_queue_bytes", "Memory that waiting batches take.", "",
		(double)status->queue_bytes);
	write_gauge(out, "blkin_agent_queue_limit_bytes", "Memory that waiting batches may take.", "",
		(double)status->queue_limit);
	write_spool(out, &status->spool);
	write_gauge(out, "blkin_agent_start_time_seconds", "When the agent started, since the epoch.", "",
		(double)status->started / 1e9);
	write_head(out, "blkin_agent_config_reload_failures_total", "counter",
		"Configurations that a reload refused.");
	buffer_printf(
		out, "blkin_agent_config_reload_failures_total %" PRIu64 "\n", status->reload->failures);
	write_gauge(out, "blkin_agent_config_last_reload_successful", "Whether the last reload was taken.",
		"", !status->reload->failed);
	write_gauge(out, "blkin_agent_config_last_reload_success_timestamp_seconds",
		"When the configuration was last read and taken, since the epoch.", "",
		(double)status->reload->succeeded / 1e9);
	if (status->activity.programs >= 0)
		write_gauge(out, "blkin_agent_programs",
			"Programs registered with LTTng's session daemon, with blkin or without.", "",
			status->activity.programs);
	write_head(out, "blkin_agent_info", "gauge", "The agent's version.");
	buffer_printf(out, "blkin_agent_info{version=\"%s\"} 1\n", BLKIN_VERSION);
}
