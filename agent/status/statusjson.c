/* SPDX-License-Identifier: BSD-2-Clause */
/* The status as one JSON object, for machines: members are added, never renamed. */
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/json.h"
#include "status/doctor.h"
#include "status/status.h"

static void write_row(struct buffer *out, const char *key, int64_t value)
{
	json_key(out, key);
	json_int(out, value);
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
			if (*object) {
				json_key(out, object);
				json_open(out, '{');
			}
			g_strlcpy(inside, object, sizeof(inside));
		}
		write_row(out, dot ? dot + 1 : path, amounts[i]);
	}
	if (*inside)
		json_close(out, '}');
}

static void write_events(struct buffer *out, const struct status *status)
{
	json_key(out, "events");
	json_open(out, '{');
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "events.");
	json_close(out, '}');
}

/* The node's, and those of the first output, for which they add up. */
static void write_spans(struct buffer *out, const struct status *status)
{
	json_key(out, "spans");
	json_open(out, '{');
	write_rows(out, ledger_rows, status->rows.row, LEDGER_ROWS, "spans.");
	if (status->output_count)
		write_rows(out, account_rows, status->outputs[0].account.row, ACCOUNT_ROWS, "");
	json_close(out, '}');
}

static void write_spool_json(struct buffer *out, const struct spooler_state *spool)
{
	json_key(out, "spool");
	json_open(out, '{');
	json_key(out, "state");
	json_text(out, !spool->max_bytes ? "none" : spool->ok ? "ok" : "degraded");
	json_key(out, "error");
	json_text(out, spool->error);
	write_row(out, "batches", spool->batches);
	write_row(out, "spans", spool->spans);
	write_row(out, "bytes", (int64_t)spool->bytes);
	write_row(out, "max_bytes", (int64_t)spool->max_bytes);
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

/* What is not known is null. */
static void write_known(struct buffer *out, const char *key, bool known, int64_t value)
{
	json_key(out, key);
	if (known)
		json_int(out, value);
	else
		json_null(out);
}

static void write_programs_json(struct buffer *out, const struct status *status)
{
	const struct census *census = &status->census;
	const struct activity_state *activity = &status->activity;

	write_known(out, "programs", census->known || activity->programs >= 0,
		census->known ? census->programs : activity->programs);
	write_known(out, "programs_with_blkin", census->known, census->blkin);
	write_known(out, "last_event_seconds", activity->last_event != 0,
		(clock_monotonic() - activity->last_event) / NS_PER_SECOND);
}

static void write_findings_json(struct buffer *out, const struct status *status)
{
	struct finding findings[FINDINGS_MAX];
	size_t count = doctor_examine(status, findings);

	json_key(out, "findings");
	json_open(out, '[');
	for (size_t i = 0; i < count; i++) {
		json_open(out, '{');
		json_key(out, "code");
		json_text(out, findings[i].code);
		json_key(out, "what");
		json_text(out, findings[i].what);
		json_key(out, "fix");
		json_text(out, findings[i].fix);
		json_close(out, '}');
	}
	json_close(out, ']');
}

/* What the first output, or each, is doing. */
static void write_delivery(struct buffer *out, const struct output_state *output)
{
	json_key(out, "server");
	json_text(out, output->uplink.server);
	json_key(out, "output");
	json_text(out, output->uplink.type);
	write_servers(out, &output->uplink);
	json_key(out, "delivering");
	json_bool(out, output->uplink.up);
	json_key(out, "output_error");
	json_text(out, output->uplink.error);
	write_row(out, "queue_bytes", (int64_t)output->queue_bytes);
	write_spool_json(out, &output->spool);
}

static void write_outputs(struct buffer *out, const struct status *status)
{
	json_key(out, "outputs");
	json_open(out, '[');
	for (size_t i = 0; i < status->output_count; i++) {
		json_open(out, '{');
		json_key(out, "name");
		json_text(out, status->outputs[i].name);
		write_delivery(out, &status->outputs[i]);
		json_key(out, "spans");
		json_open(out, '{');
		write_rows(out, account_rows, status->outputs[i].account.row, ACCOUNT_ROWS, "");
		json_close(out, '}');
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void write_collecting(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;

	json_key(out, "collecting");
	json_bool(out, status->collector.collecting);
	json_key(out, "session");
	json_text(out, status->collector.session);
	json_key(out, "session_error");
	json_text(out, status->collector.error);
	for (int i = STRINGS_REPAIRED; i < LEDGER_ROWS; i++)
		write_row(out, ledger_rows[i].json, row[i]);
	write_programs_json(out, status);
}

void status_write_json(struct buffer *out, const struct status *status)
{
	json_open(out, '{');
	json_key(out, "version");
	json_text(out, BLKIN_VERSION);
	write_row(out, "pid", getpid());
	json_key(out, "started");
	json_double(out, (double)status->started / 1e9);
	write_collecting(out, status);
	if (status->output_count)
		write_delivery(out, &status->outputs[0]);
	write_events(out, status);
	write_spans(out, status);
	write_outputs(out, status);
	write_findings_json(out, status);
	json_close(out, '}');
	buffer_printf(out, "\n");
}
