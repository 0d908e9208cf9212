/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/metrics.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "core/ledger.h"
#include "status/doctor.h"
#include "status/exposition.h"

static void write_head(struct buffer *out, const char *name, const char *type, const char *help)
{
	exposition_head(out, EXPOSITION_TEXT, name, type, help);
}

static void write_gauge(struct buffer *out, const char *name, const char *help, double value)
{
	write_head(out, name, "gauge", help);
	buffer_printf(out, "%s %.17g\n", name, value);
}

/* The rows */

static void write_row(struct buffer *out, const struct row_info *row, const char *output, int64_t value)
{
	const char *label = row->label ? row->label : "";

	if (output)
		buffer_printf(out, "%s{output=\"%s\"%s%s} %" PRId64 "\n", row->metric, output,
			*label ? "," : "", label, value);
	else
		buffer_printf(out, "%s%s%s%s %" PRId64 "\n", row->metric, *label ? "{" : "", label,
			*label ? "}" : "", value);
}

/* The name of the output that the lane belongs to; g_free. */
static char *output_of(const struct output_state *lane)
{
	size_t size;

	lane_kind(lane->name, &size);
	return g_strndup(lane->name, size);
}

/* The samples of the metric that @first begins, of each lane of the kind. Where the metric has the same name
 * for all kinds, the label is the lane's name. */
static void write_lanes(
	struct buffer *out, const struct status *status, const struct row_info *first, enum kind kind)
{
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++) {
		const struct output_state *lane = &status->outputs[n];
		g_autofree char *metric = kind_text(kind, first->metric), *output = output_of(lane);
		const bool same = !strcmp(metric, first->metric);

		for (size_t i = 0; i < ACCOUNT_ROWS && lane->kind == kind; i++) {
			struct row_info row = account_rows[i];

			if (strcmp(row.metric, first->metric) != 0)
				continue;
			row.metric = metric;
			write_row(out, &row, same ? lane->name : output, lane->account.row[i]);
		}
	}
}

/* All samples of the metric that @first begins: the node's, and each output's of spans. */
static void write_metric(struct buffer *out, const struct status *status, const struct row_info *first)
{
	write_head(out, first->metric, first->gauge ? "gauge" : "counter", first->help);
	for (size_t i = 0; i < LEDGER_ROWS; i++)
		if (!strcmp(ledger_rows[i].metric, first->metric))
			write_row(out, &ledger_rows[i], NULL, status->rows.row[i]);
	write_lanes(out, status, first, KIND_SPANS);
	for (int kind = KIND_EVENTS; kind < KINDS && !strstr(first->metric, "span"); kind++)
		write_lanes(out, status, first, kind);
}

static bool has_kind(const struct status *status, enum kind kind)
{
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
		if (status->outputs[n].kind == kind)
			return true;
	return false;
}

/* The metrics of other kinds have that kind in their names. */
static void write_kind(struct buffer *out, const struct status *status, enum kind kind)
{
	for (size_t i = 0; i < ACCOUNT_ROWS; i++) {
		const struct row_info *row = &account_rows[i];
		const bool states = row->gauge && i == SPANS_QUEUED;
		g_autofree char *metric = kind_text(kind, row->metric), *help = NULL;

		if ((!row->help && !states) || !strstr(row->metric, "span"))
			continue;
		help = kind_text(kind, states ? "Spans in the agent, not delivered yet." : row->help);
		write_head(out, metric, row->gauge ? "gauge" : "counter", help);
		write_lanes(out, status, row, kind);
	}
}

static void write_rows(struct buffer *out, const struct status *status)
{
	for (size_t i = 0; i < LEDGER_ROWS; i++)
		if (ledger_rows[i].help)
			write_metric(out, status, &ledger_rows[i]);
	for (size_t i = 0; i < ACCOUNT_ROWS; i++)
		if (account_rows[i].help)
			write_metric(out, status, &account_rows[i]);
	for (int kind = KIND_EVENTS; kind < KINDS; kind++)
		if (has_kind(status, kind))
			write_kind(out, status, kind);
}

/* The outputs */

static void write_latency(struct buffer *out, const struct output_state *output)
{
	const char *name = "blkin_agent_delivery_seconds";
	const struct ledger_latency *latency = &output->account.latency;
	uint64_t below = 0;

	for (int i = 0; i < LEDGER_BUCKETS; i++) {
		below += latency->bucket[i];
		buffer_printf(out, "%s_bucket{output=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, output->name,
			ledger_bucket_seconds[i], below);
	}
	below += latency->bucket[LEDGER_BUCKETS];
	buffer_printf(out, "%s_bucket{output=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, output->name, below);
	buffer_printf(out, "%s_sum{output=\"%s\"} %.6f\n", name, output->name, latency->sum);
	buffer_printf(out, "%s_count{output=\"%s\"} %" PRIu64 "\n", name, output->name, below);
}

/* Those up to the one that serves: the others were not needed, so their state is not known. */
static void write_servers(struct buffer *out, const struct output_state *output)
{
	for (uint32_t i = 0; i < output->uplink.server_count; i++) {
		const struct uplink_server_state *server = &output->uplink.servers[i];

		buffer_printf(out, "blkin_agent_output_up{output=\"%s\",server=\"", output->name);
		exposition_label(out, server->server);
		buffer_printf(out, "\"} %d\n", server->up);
		if (server->serving)
			return;
	}
}

static double queue_bytes_of(const struct output_state *output)
{
	return (double)output->queue_bytes;
}

static double queue_limit_of(const struct output_state *output)
{
	return (double)output->queue_limit;
}

static double spool_up_of(const struct output_state *output)
{
	return output->spool.ok;
}

static double spool_bytes_of(const struct output_state *output)
{
	return (double)output->spool.bytes;
}

static double spool_limit_of(const struct output_state *output)
{
	return (double)output->spool.max_bytes;
}

/* The gauges that each output has */
static const struct output_gauge {
	const char *name, *help;
	double (*value)(const struct output_state *output);
} output_gauges[] = {
	{"blkin_agent_queue_bytes", "Memory that waiting batches take.", queue_bytes_of},
	{"blkin_agent_queue_limit_bytes", "Memory that waiting batches may take.", queue_limit_of},
	{"blkin_agent_spool_up", "Whether spans can be stored on disk.", spool_up_of},
	{"blkin_agent_spool_bytes", "Disk that the spool takes.", spool_bytes_of},
	{"blkin_agent_spool_limit_bytes", "Disk that the spool may take; 0: there is none.", spool_limit_of},
};

/* Of those that drain: of the others it is not known. */
static void write_drain(struct buffer *out, const struct status *status)
{
	const char *name = "blkin_agent_spool_drain_seconds";

	write_head(out, name, "gauge",
		"Time that the delivery of what the spool holds will take; absent while that is not known, "
		"or it holds nothing.");
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
		if (status->outputs[n].spool.drain == DRAIN_KNOWN)
			buffer_printf(out, "%s{output=\"%s\"} %" PRId64 "\n", name, status->outputs[n].name,
				status->outputs[n].spool.drain_seconds);
}

/* Where it is found out. */
static void write_share(struct buffer *out, const struct status *status)
{
	const char *name = "blkin_agent_output_share";

	write_head(out, name, "gauge",
		"Part of the traces that the output keeps; absent unless `keep` is auto.");
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
		if (status->outputs[n].sharing.by != SHARING_OFF)
			buffer_printf(out, "%s{output=\"%s\"} %.6g\n", name, status->outputs[n].name,
				status->outputs[n].sharing.part);
}

static void write_outputs(struct buffer *out, const struct status *status)
{
	write_head(out, "blkin_agent_delivery_seconds", "histogram",
		"Time from a span's last event to the collector's acknowledgement.");
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
		write_latency(out, &status->outputs[n]);
	write_head(out, "blkin_agent_output_up", "gauge", "Whether a collector takes spans.");
	for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
		write_servers(out, &status->outputs[n]);
	for (size_t i = 0; i < G_N_ELEMENTS(output_gauges); i++) {
		const struct output_gauge *gauge = &output_gauges[i];

		write_head(out, gauge->name, "gauge", gauge->help);
		for (size_t n = 0; n < status->output_count + status->leaving_count; n++)
			buffer_printf(out, "%s{output=\"%s\"} %.17g\n", gauge->name, status->outputs[n].name,
				gauge->value(&status->outputs[n]));
	}
	write_drain(out, status);
	write_share(out, status);
}

/* The agent */

static double input_up(const struct inlet_state *input)
{
	return !*input->error;
}

static double input_connections(const struct inlet_state *input)
{
	return input->connections;
}

static double input_most(const struct inlet_state *input)
{
	return input->most;
}

static double input_largest(const struct inlet_state *input)
{
	return input->largest;
}

static double input_bytes(const struct inlet_state *input)
{
	return (double)input->bytes;
}

static double input_putting_off(const struct inlet_state *input)
{
	return input->putting_off;
}

static const struct {
	const char *name, *help;
	double (*value)(const struct inlet_state *input);
} input_gauges[] = {
	{"blkin_agent_input_up", "Whether the agent listens for senders.", input_up},
	{"blkin_agent_input_connections", "Senders that are connected.", input_connections},
	{"blkin_agent_input_connections_max", "Senders that can be connected.", input_most},
	{"blkin_agent_input_connections_largest", "Connections of the user or address that has the most.",
		input_largest},
	{"blkin_agent_input_bytes", "Memory that their calls take.", input_bytes},
	{"blkin_agent_input_putting_off", "Whether senders are told to try later.", input_putting_off},
};

/* Scribe's has no label, as it has none since there was no other. */
static void write_inputs(struct buffer *out, const struct inlet_state inputs[INPUTS])
{
	bool any = false;

	for (size_t i = 0; i < INPUTS; i++)
		any |= *inputs[i].address != 0;
	for (size_t g = 0; any && g < G_N_ELEMENTS(input_gauges); g++) {
		write_head(out, input_gauges[g].name, "gauge", input_gauges[g].help);
		for (size_t i = 0; i < INPUTS; i++) {
			double value = input_gauges[g].value(&inputs[i]);

			if (*inputs[i].address && i)
				buffer_printf(out, "%s{input=\"%s\"} %.17g\n", input_gauges[g].name,
					input_keys[i], value);
			else if (*inputs[i].address)
				buffer_printf(out, "%s %.17g\n", input_gauges[g].name, value);
		}
	}
}

/* Of those who are told apart. */
static void write_buffers(struct buffer *out, const struct user_buffers *buffers)
{
	const char *name = "blkin_agent_ring_bytes";

	if (!buffers->known)
		return;
	write_head(out, name, "gauge", "Memory of LTTng's ring buffers in /dev/shm, by user.");
	for (uint32_t i = 0; i < buffers->count; i++)
		buffer_printf(out, "%s{user=\"%" PRIu64 "\"} %" PRIu64 "\n", name, buffers->of[i].user,
			buffers->of[i].bytes);
	if (buffers->more)
		buffer_printf(out, "%s{user=\"other\"} %" PRIu64 "\n", name, buffers->other_bytes);
}

static void write_agent(struct buffer *out, const struct status *status)
{
	write_gauge(out, "blkin_agent_collecting", "Whether the session is being read.",
		status->supervisor.collecting);
	write_gauge(out, "blkin_agent_users_left_out",
		"Users whose programs record what cannot be read, so that it is left out, and counted as "
		"lost.",
		status->left_out_count);
	write_gauge(out, "blkin_agent_start_time_seconds", "When the agent started, since the epoch.",
		(double)status->started / 1e9);
	write_head(out, "blkin_agent_config_reload_failures_total", "counter",
		"Configurations that a reload refused.");
	buffer_printf(
		out, "blkin_agent_config_reload_failures_total %" PRIu64 "\n", status->reload->failures);
	write_gauge(out, "blkin_agent_config_last_reload_successful", "Whether the last reload succeeded.",
		!status->reload->failed);
	write_gauge(out, "blkin_agent_config_last_reload_success_timestamp_seconds",
		"When the configuration was last loaded, since the epoch.",
		(double)status->reload->succeeded / 1e9);
	if (status->activity.programs >= 0)
		write_gauge(out, "blkin_agent_programs",
			"Programs registered with LTTng's session daemon, with blkin or without.",
			status->activity.programs);
	if (status->activity.registering >= 0)
		write_gauge(out, "blkin_agent_registrations_waiting",
			"Connections of programs that wait to be registered by LTTng's session daemon.",
			status->activity.registering);
	if (status->canary.lag >= 0) {
		write_gauge(out, "blkin_agent_canary_lag_seconds",
			"Time that the agent's own event took through LTTng, or has been away for.",
			(double)status->canary.lag / NS_PER_SECOND);
		write_gauge(out, "blkin_agent_canary_lag_limit_seconds",
			"Time that it may take, or be away for: ten seconds and two turns of live-timer.",
			(double)doctor_canary_limit(status) / NS_PER_SECOND);
	}
	if (status->canary.came)
		write_gauge(out, "blkin_agent_canary_timestamp_seconds",
			"When it came back last, since the epoch.",
			(double)(clock_wall() - (clock_monotonic() - status->canary.came)) / NS_PER_SECOND);
	if (status->activity.memory.size) {
		const struct sharedmemory *memory = &status->activity.memory;

		write_gauge(out, "blkin_agent_shm_size_bytes", "Size of /dev/shm, where LTTng's buffers are.",
			(double)memory->size);
		write_gauge(out, "blkin_agent_shm_free_bytes", "What is free of it.", (double)memory->free);
		write_gauge(out, "blkin_agent_shm_user_bytes", "What the buffers of one more user need.",
			(double)memory->need);
	}
	write_buffers(out, &status->supervisor.buffers);
	write_head(out, "blkin_agent_info", "gauge", "The agent's version.");
	buffer_printf(out, "blkin_agent_info{version=\"%s\"} 1\n", BLKIN_VERSION);
}

uint64_t metrics_listed(const struct status *status)
{
	return status->names ? status->config->metrics_spans : 0;
}

void metrics_write(struct buffer *out, const struct status *status)
{
	write_rows(out, status);
	write_outputs(out, status);
	write_inputs(out, status->inputs);
	write_agent(out, status);
	metrics_put_thresholds(out, status->monitor, metrics_listed(status));
}
