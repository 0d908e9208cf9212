/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/ledger.h"

#include <pthread.h>
#include <string.h>

const double ledger_bucket_seconds[LEDGER_BUCKETS] = {
	0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 15, 60, 600};

/* What the rows are called in a checkpoint: never to be changed. */
static const char *const names[LEDGER_ROWS] = {
	[EVENTS_READ] = "events_read",
	[EVENTS_LOST_RING] = "events_lost_ring",
	[PACKETS_LOST] = "packets_lost",
	[EVENTS_IN_SPANS] = "events_in_spans",
	[EVENTS_AS_JSON] = "events_as_json",
	[EVENTS_REJECTED_MALFORMED] = "events_rejected_malformed",
	[EVENTS_REJECTED_ID] = "events_rejected_id",
	[EVENTS_REJECTED_TIME] = "events_rejected_time",
	[EVENTS_IGNORED] = "events_ignored",
	[EVENTS_READ_AGAIN] = "events_read_again",
	[SPANS_MADE] = "spans_made",
	[SPANS_RECOVERED] = "spans_recovered",
	[SPANS_PENDING] = "spans_pending",
	[SPANS_QUEUED] = "spans_queued",
	[SPANS_SPOOLED] = "spans_spooled",
	[SPANS_SENT] = "spans_sent",
	[SPANS_DROPPED_QUEUE_FULL] = "spans_dropped_queue_full",
	[SPANS_DROPPED_REFUSED] = "spans_dropped_refused",
	[SPANS_DROPPED_OVERSIZE] = "spans_dropped_oversize",
	[SPANS_DROPPED_SPOOL_FULL] = "spans_dropped_spool_full",
	[SPANS_DROPPED_SPOOL_CORRUPT] = "spans_dropped_spool_corrupt",
	[SPANS_DROPPED_SHUTDOWN] = "spans_dropped_shutdown",
	[SPANS_SENT_AGAIN] = "spans_sent_again",
	[SPANS_CUT_SHORT] = "spans_cut_short",
	[STRINGS_REPAIRED] = "strings_repaired",
	[SESSIONS_CREATED] = "sessions_created",
	[SESSIONS_LOST] = "sessions_lost",
	[SESSIONS_MENDED] = "sessions_mended",
	[CLOCK_STEPS_SEEN] = "clock_steps",
	[OUTPUT_ERRORS_CONNECT] = "output_errors_connect",
	[OUTPUT_ERRORS_TLS] = "output_errors_tls",
	[OUTPUT_ERRORS_TIMEOUT] = "output_errors_timeout",
	[OUTPUT_ERRORS_PROTOCOL] = "output_errors_protocol",
	[OUTPUT_ERRORS_CLOSED] = "output_errors_closed",
	[OUTPUT_ERRORS_TRY_LATER] = "output_errors_try_later",
	[OUTPUT_ERRORS_REFUSED] = "output_errors_refused",
};

static pthread_mutex_t ledger_lock = PTHREAD_MUTEX_INITIALIZER;
static struct ledger ledger_rows;
static struct ledger_latency ledger_latencies;

void ledger_post(const struct ledger *change)
{
	pthread_mutex_lock(&ledger_lock);
	for (int i = 0; i < LEDGER_ROWS; i++)
		ledger_rows.row[i] += change->row[i];
	pthread_mutex_unlock(&ledger_lock);
}

void ledger_add(enum ledger_row row, int64_t amount)
{
	pthread_mutex_lock(&ledger_lock);
	ledger_rows.row[row] += amount;
	pthread_mutex_unlock(&ledger_lock);
}

void ledger_move(enum ledger_row from, enum ledger_row to, int64_t amount)
{
	pthread_mutex_lock(&ledger_lock);
	ledger_rows.row[from] -= amount;
	ledger_rows.row[to] += amount;
	pthread_mutex_unlock(&ledger_lock);
}

int64_t ledger_enter_spool(int64_t spooled, int64_t lost, bool unknown)
{
	int64_t found;

	pthread_mutex_lock(&ledger_lock);
	found = spooled + lost - ledger_rows.row[SPANS_SPOOLED];
	if (unknown && found < 0) {
		lost -= found;
		found = 0;
	}
	ledger_rows.row[found > 0 ? SPANS_RECOVERED : SPANS_SENT] += found > 0 ? found : -found;
	ledger_rows.row[SPANS_SPOOLED] = spooled;
	ledger_rows.row[SPANS_DROPPED_SPOOL_CORRUPT] += lost;
	pthread_mutex_unlock(&ledger_lock);
	return lost;
}

void ledger_delivered(const int64_t *events, uint32_t count, int64_t now)
{
	pthread_mutex_lock(&ledger_lock);
	for (uint32_t i = 0; i < count; i++) {
		double seconds = (double)(now - events[i]) / 1e9;
		int bucket = 0;

		while (bucket < LEDGER_BUCKETS && seconds > ledger_bucket_seconds[bucket])
			bucket++;
		ledger_latencies.bucket[bucket]++;
		ledger_latencies.sum += seconds > 0 ? seconds : 0;
	}
	pthread_mutex_unlock(&ledger_lock);
}

void ledger_read(struct ledger *rows, struct ledger_latency *latency)
{
	pthread_mutex_lock(&ledger_lock);
	*rows = ledger_rows;
	if (latency)
		*latency = ledger_latencies;
	pthread_mutex_unlock(&ledger_lock);
}

void ledger_save(struct buffer *out)
{
	struct ledger rows;
	uint32_t count = 0;

	ledger_read(&rows, NULL);
	for (int i = 0; i < LEDGER_ROWS; i++)
		count += names[i] != NULL;
	pack_u32(out, count);
	for (int i = 0; i < LEDGER_ROWS; i++) {
		if (!names[i])
			continue;
		pack_text(out, names[i]);
		pack_u64(out, (uint64_t)rows.row[i]);
	}
}

/* Takes back what is in a gauge, from the gauge and from what adds up to it. */
static void unmake(struct ledger *rows, enum ledger_row gauge)
{
	rows->row[SPANS_MADE] -= rows->row[gauge];
	rows->row[gauge] = 0;
}

bool ledger_load(struct unpacker from)
{
	struct ledger rows = {0};
	uint32_t count = unpack_u32(&from);

	for (uint32_t n = 0; n < count && !from.failed; n++) {
		char name[64];
		int64_t amount;

		unpack_text(&from, name, sizeof(name));
		amount = (int64_t)unpack_u64(&from);
		for (int i = 0; i < LEDGER_ROWS; i++)
			if (names[i] && !strcmp(names[i], name))
				rows.row[i] = amount;
	}
	if (from.failed)
		return false;
	unmake(&rows, SPANS_PENDING);
	unmake(&rows, SPANS_QUEUED);
	ledger_post(&rows);
	return true;
}
