/* SPDX-License-Identifier: BSD-2-Clause */
/* The status as one JSON object, for machines, of which `blkin status` is the first: members are added, never
 * renamed. */
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/json.h"
#include "status/doctor.h"
#include "status/lossrows.h"
#include "status/serverstate.h"
#include "status/status.h"

static void write_int(struct buffer *out, const char *key, int64_t value)
{
	json_key(out, key);
	json_int(out, value);
}

static void write_text(struct buffer *out, const char *key, const char *text)
{
	json_key(out, key);
	json_text(out, text);
}

static void write_bool(struct buffer *out, const char *key, bool value)
{
	json_key(out, key);
	json_bool(out, value);
}

static void open_member(struct buffer *out, const char *key, char bracket)
{
	json_key(out, key);
	json_open(out, bracket);
}

/* What is not known is null. */
static void write_known(struct buffer *out, const char *key, bool known, int64_t value)
{
	json_key(out, key);
	if (known)
		json_int(out, value);
	else
		json_null(out);
}

/* Whole seconds that have passed since then; null: since 0. */
static void write_since(struct buffer *out, const char *key, int64_t since)
{
	write_known(out, key, since != 0, (clock_monotonic() - since) / NS_PER_SECOND);
}

static void write_seconds(struct buffer *out, const char *key, bool known, double seconds)
{
	json_key(out, key);
	if (known)
		json_double(out, seconds);
	else
		json_null(out);
}

/* The members that rows are, below @under ("events."), in objects of their own where their paths say so. */
static void write_rows(struct buffer *out, const struct row_info *rows, const int64_t *amounts, size_t count,
	const char *under)
{
	char inside[32] = "";

	for (size_t i = 0; i < count; i++) {
		const char *path = rows[i].json + strlen(under), *dot;
		char object[sizeof(inside)] = "";

		if (!g_str_has_prefix(rows[i].json, under))
			continue;
		dot = strchr(path, '.');
		if (dot)
			g_strlcpy(object, path, MIN(sizeof(object), (size_t)(dot - path) + 1));
		if (strcmp(object, inside) != 0) {
			if (*inside)
				json_close(out, '}');
			if (*object)
				open_member(out, object, '{');
			g_strlcpy(inside, object, sizeof(inside));
		}
		write_int(out, dot ? dot + 1 : path, amounts[i]);
	}
	if (*inside)
		json_close(out, '}');
}

static void write_input(struct buffer *out, const struct inlet_state *input)
{
	write_text(out, "address", input->address);
	write_text(out, "error", input->error);
	write_int(out, "connections", input->connections);
	write_int(out, "max_connections", input->most);
	write_int(out, "largest", input->largest);
	write_int(out, "waiting_calls", (int64_t)input->waiting_calls);
	write_int(out, "bytes", (int64_t)input->bytes);
	write_int(out, "max_bytes", (int64_t)input->limit);
	write_bool(out, "putting_off", input->putting_off);
}

/* `input` is Scribe's, and has the rows of all; the others are in `inputs`, by their keys. */
static void write_inputs(struct buffer *out, const struct status *status)
{
	open_member(out, "input", '{');
	write_input(out, &status->inputs[0]);
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "input.");
	json_close(out, '}');
	open_member(out, "inputs", '{');
	for (size_t i = 1; i < INPUTS; i++) {
		open_member(out, input_keys[i], '{');
		write_input(out, &status->inputs[i]);
		json_close(out, '}');
	}
	json_close(out, '}');
}

static void write_events(struct buffer *out, const struct status *status)
{
	open_member(out, "events", '{');
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "events.");
	json_close(out, '}');
}

static void write_flight(struct buffer *out, const struct status *status)
{
	write_bool(out, "flight_on", config_flies(status->config));
	open_member(out, "flight", '{');
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "flight.");
	json_close(out, '}');
}

/* The first output that takes spans, or the first of all; NULL: there is none. */
static const struct output_state *first_output(const struct status *status)
{
	for (size_t i = 0; i < status->output_count; i++)
		if (status->outputs[i].kind == KIND_SPANS)
			return &status->outputs[i];
	return status->output_count ? &status->outputs[0] : NULL;
}

/* The node's, and those of the first output, for which they add up. */
static void write_spans(struct buffer *out, const struct status *status)
{
	const struct output_state *first = first_output(status);

	open_member(out, "spans", '{');
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "spans.");
	if (first && first->kind == KIND_SPANS)
		write_rows(out, account_rows, first->account.row, ACCOUNT_ROWS, "");
	json_close(out, '}');
}

static void write_spool_json(struct buffer *out, const struct spooler_state *spool)
{
	static const char *const drains[] = {[DRAIN_EMPTY] = "empty",
		[DRAIN_STOPPED] = "stopped",
		[DRAIN_BEGINS] = "begins",
		[DRAIN_KNOWN] = "drains"};

	open_member(out, "spool", '{');
	write_text(out, "state", !spool->max_bytes ? "none" : spool->ok ? "ok" : "degraded");
	write_text(out, "error", spool->error);
	write_int(out, "batches", spool->batches);
	write_int(out, "spans", spool->spans);
	write_int(out, "bytes", (int64_t)spool->bytes);
	write_int(out, "max_bytes", (int64_t)spool->max_bytes);
	write_text(out, "drain", drains[spool->drain]);
	write_known(out, "drain_seconds", spool->drain == DRAIN_KNOWN, spool->drain_seconds);
	json_close(out, '}');
}

static void write_servers(struct buffer *out, const struct uplink_state *uplink)
{
	open_member(out, "servers", '[');
	for (uint32_t i = 0; i < uplink->server_count; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];

		json_open(out, '{');
		write_text(out, "server", server->server);
		write_bool(out, "serving", server->serving);
		write_bool(out, "up", server->up);
		write_bool(out, "acknowledged", server->took);
		write_bool(out, "failing", server->fault != FAULT_NONE);
		write_text(out, "error", server->error);
		json_close(out, '}');
	}
	json_close(out, ']');
}

/* null: servers are preferred in the order of the configuration. */
static void write_balance(struct buffer *out, const struct uplink_state *uplink)
{
	const struct reached *reached = &uplink->reached;

	if (!uplink->node) {
		json_key(out, "balance");
		json_null(out);
		return;
	}
	open_member(out, "balance", '{');
	write_text(out, "node", uplink->node);
	write_text(out, "address", reached->address);
	write_text(out, "preferred_address", reached->preferred);
	write_int(out, "addresses", reached->count);
	write_text(out, "error", reached->why);
	json_close(out, '}');
}

/* null: it is fixed. */
static void write_sharing(struct buffer *out, const struct sharing_state *sharing)
{
	static const char *const by[] = {[SHARING_NOBODY] = "nobody",
		[SHARING_FILE] = "file",
		[SHARING_SERVER] = "server",
		[SHARING_BUDGET] = "budget"};

	if (sharing->by == SHARING_OFF) {
		json_key(out, "share");
		json_null(out);
		return;
	}
	open_member(out, "share", '{');
	json_key(out, "part");
	json_double(out, sharing->part);
	json_key(out, "one_in");
	json_double(out, 1 / sharing->part);
	write_text(out, "by", by[sharing->by]);
	json_key(out, "spans_per_second");
	json_double(out, sharing->kept);
	write_text(out, "error", sharing->error);
	json_close(out, '}');
}

static void write_suspects(struct buffer *out, const struct suspects_state *suspects)
{
	open_member(out, "suspects", '{');
	write_int(out, "spans", (int64_t)suspects->spans);
	write_text(out, "error", suspects->error);
	json_close(out, '}');
}

static void write_programs_json(struct buffer *out, const struct status *status)
{
	const struct activity_state *activity = &status->activity;

	write_known(out, "programs", activity->programs >= 0, activity->programs);
	write_known(out, "programs_with_blkin", false, 0); /* `blkin status` finds out */
	write_since(out, "programs_seconds", activity->programs_since);
	write_seconds(out, "spans_per_second", activity->rate >= 0, activity->rate);
	write_since(out, "last_event_seconds", activity->last_event);
}

/* What the agent itself has recorded. */
static void write_canary(struct buffer *out, const struct status *status)
{
	static const char *const moods[] = {
		[CANARY_OFF] = "off",
		[CANARY_STARTS] = "starts",
		[CANARY_MISSING] = "missing",
		[CANARY_UNRECORDED] = "unrecorded",
		[CANARY_LATE] = "late",
		[CANARY_WELL] = "well",
	};
	const struct canary_state *canary = &status->canary;

	open_member(out, "canary", '{');
	write_text(out, "state", moods[canary->mood]);
	write_seconds(out, "lag_seconds", canary->lag >= 0, (double)canary->lag / NS_PER_SECOND);
	write_since(out, "last_seconds", canary->came);
	write_since(out, "away_seconds",
		canary->mood == CANARY_LATE || canary->mood == CANARY_UNRECORDED ? canary->since : 0);
	write_text(out, "error", canary->error);
	json_close(out, '}');
}

static void write_findings_json(struct buffer *out, const struct status *status)
{
	struct findings findings;

	doctor_examine(status, &findings);
	json_key(out, "findings");
	findings_write_json(out, &findings);
}

static void write_loss(void *data, const struct lossrow *row)
{
	struct buffer *out = data;

	json_open(out, '{');
	write_text(out, "output", row->output);
	write_text(out, "what", row->words);
	write_int(out, "amount", row->amount);
	write_since(out, "last_seconds", row->at);
	json_close(out, '}');
}

static void write_losses(struct buffer *out, const struct status *status)
{
	write_known(out, "acknowledged", status->acknowledged.at != 0, status->acknowledged.at);
	open_member(out, "losses", '[');
	lossrows_each(status, write_loss, out);
	json_close(out, ']');
}

/*
 * The histogram's bucket that holds the share @q of all spans; LEDGER_BUCKETS is the one without a bound, -1
 * means that there are no spans.
 */
static int quantile(const struct ledger_latency *latency, double q)
{
	uint64_t total = 0, below = 0;
	int i = 0;

	for (int k = 0; k <= LEDGER_BUCKETS; k++)
		total += latency->bucket[k];
	if (!total)
		return -1;
	below = latency->bucket[0];
	while (i < LEDGER_BUCKETS && (double)below < q * (double)total)
		below += latency->bucket[++i];
	return i;
}

/* The bound of a bucket; null: it has none. */
static void write_bound(struct buffer *out, const char *key, int bucket)
{
	bool bounded = bucket < LEDGER_BUCKETS;

	write_seconds(out, key, bounded, bounded ? ledger_bucket_seconds[bucket] : 0);
}

/* null: nothing was sent yet. */
static void write_latency(struct buffer *out, const struct ledger_latency *latency)
{
	int half = quantile(latency, 0.5);

	json_key(out, "latency");
	if (half < 0) {
		json_null(out);
		return;
	}
	json_open(out, '{');
	write_bound(out, "p50_seconds", half);
	write_bound(out, "p99_seconds", quantile(latency, 0.99));
	json_close(out, '}');
}

/* What the first output, or each, is doing. */
static void write_delivery(struct buffer *out, const struct output_state *output)
{
	static const char *const states[] = {[SERVER_STATE_DOWN] = "down",
		[SERVER_STATE_UNTRIED] = "untried",
		[SERVER_STATE_DELIVERS] = "delivers"};
	const struct uplink_server_state *serving = server_state_serving(&output->uplink);

	write_text(out, "state", states[server_state_of(&output->uplink)]);
	write_since(out, "connecting_seconds", serving ? serving->connecting_since : 0);
	write_text(out, "server", output->uplink.server);
	write_text(out, "output", output->uplink.type);
	write_servers(out, &output->uplink);
	write_balance(out, &output->uplink);
	write_sharing(out, &output->sharing);
	write_suspects(out, &output->uplink.suspects);
	write_bool(out, "delivering", output->uplink.up);
	write_text(out, "output_error", output->uplink.error);
	write_int(out, "queue_bytes", (int64_t)output->queue_bytes);
	write_int(out, "max_queue_bytes", (int64_t)output->queue_limit);
	write_latency(out, &output->account.latency);
	write_spool_json(out, &output->spool);
}

static void write_outputs(struct buffer *out, const struct status *status)
{
	open_member(out, "outputs", '[');
	for (size_t i = 0; i < status->output_count + status->leaving_count; i++) {
		json_open(out, '{');
		write_text(out, "name", status->outputs[i].name);
		write_text(out, "kind", kind_name(status->outputs[i].kind));
		write_bool(out, "leaving", i >= status->output_count);
		write_delivery(out, &status->outputs[i]);
		open_member(out, kind_name(status->outputs[i].kind), '{');
		write_rows(out, account_rows, status->outputs[i].account.row, ACCOUNT_ROWS, "");
		json_close(out, '}');
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void write_left_out(struct buffer *out, const struct status *status)
{
	open_member(out, "users_left_out", '[');
	for (unsigned i = 0; i < MIN(status->left_out_count, STATUS_LEFT_OUT_MAX); i++)
		json_int(out, (int64_t)status->left_out[i]);
	json_close(out, ']');
}

static void write_buffers(struct buffer *out, const struct status *status)
{
	const struct user_buffers *buffers = &status->supervisor.buffers;

	json_key(out, "lttng_heals");
	if (buffers->known)
		json_bool(out, buffers->heals);
	else
		json_null(out);
	open_member(out, "buffers", '{');
	write_int(out, "bytes", (int64_t)userbuffers_sum(buffers));
	write_bool(out, "more_users", buffers->more);
	open_member(out, "users", '[');
	for (uint32_t i = 0; i < buffers->count; i++) {
		json_open(out, '{');
		write_int(out, "user", (int64_t)buffers->of[i].user);
		write_int(out, "bytes", (int64_t)buffers->of[i].bytes);
		json_close(out, '}');
	}
	json_close(out, ']');
	json_close(out, '}');
}

static void write_collecting(struct buffer *out, const struct status *status)
{
	write_bool(out, "collecting", status->supervisor.collecting);
	write_int(out, "collecting_seconds", (clock_monotonic() - status->supervisor.since) / NS_PER_SECOND);
	write_text(out, "session", status->supervisor.session);
	write_text(out, "session_error", status->supervisor.error);
	write_bool(out, "records_events", config_records_events(status->config));
	write_text(out, "events_error", status->supervisor.omissions.events.text);
	write_text(out, "kernel_error", status->supervisor.omissions.kernel.text);
	write_left_out(out, status);
	write_buffers(out, status);
	for (size_t i = 0; i < LEDGER_ROWS; i++)
		if (!strchr(ledger_rows[i].json, '.'))
			write_int(out, ledger_rows[i].json, status->rows.row[i]);
	write_flight(out, status);
	write_programs_json(out, status);
	write_canary(out, status);
}

void status_write_json(struct buffer *out, const struct status *status)
{
	json_open(out, '{');
	write_text(out, "version", BLKIN_VERSION);
	write_int(out, "pid", getpid());
	json_key(out, "started");
	json_double(out, (double)status->started / 1e9);
	write_int(out, "up_seconds", (clock_monotonic() - status->begun) / NS_PER_SECOND);
	write_text(out, "http_error", status->http_error);
	write_text(out, "page", status->page);
	write_bool(out, "page_token", *status->page && status->config->page == CONFIG_PAGE_TOKEN);
	write_collecting(out, status);
	if (first_output(status))
		write_delivery(out, first_output(status));
	write_events(out, status);
	write_inputs(out, status);
	write_spans(out, status);
	write_outputs(out, status);
	write_losses(out, status);
	write_findings_json(out, status);
	json_close(out, '}');
	buffer_printf(out, "\n");
}
