/* SPDX-License-Identifier: BSD-2-Clause */
/* The status as one JSON object, for machines: members are added, never renamed. */
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "status/doctor.h"
#include "status/status.h"

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
	write_row(out, "again", row[EVENTS_READ_AGAIN]);
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
	write_row(out, "recovered", row[SPANS_RECOVERED]);
	write_row(out, "pending", row[SPANS_PENDING]);
	write_row(out, "queued", row[SPANS_QUEUED]);
	write_row(out, "spooled", row[SPANS_SPOOLED]);
	write_row(out, "sent", row[SPANS_SENT]);
	write_row(out, "sent_again", row[SPANS_SENT_AGAIN]);
	write_row(out, "cut_short", row[SPANS_CUT_SHORT]);
	json_key(out, "dropped");
	json_open(out, '{');
	write_row(out, "queue_full", row[SPANS_DROPPED_QUEUE_FULL]);
	write_row(out, "spool_full", row[SPANS_DROPPED_SPOOL_FULL]);
	write_row(out, "spool_corrupt", row[SPANS_DROPPED_SPOOL_CORRUPT]);
	write_row(out, "refused", row[SPANS_DROPPED_REFUSED]);
	write_row(out, "oversize", row[SPANS_DROPPED_OVERSIZE]);
	write_row(out, "shutdown", row[SPANS_DROPPED_SHUTDOWN]);
	json_close(out, '}');
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
	write_row(out, "sessions_lost", row[SESSIONS_LOST]);
	write_row(out, "clock_steps", row[CLOCK_STEPS_SEEN]);
	write_programs_json(out, status);
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
	write_spool_json(out, &status->spool);
	write_row(out, "strings_repaired", row[STRINGS_REPAIRED]);
	write_events(out, row);
	write_spans(out, row);
	write_findings_json(out, status);
	json_close(out, '}');
	buffer_printf(out, "\n");
}
