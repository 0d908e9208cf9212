/* SPDX-License-Identifier: BSD-2-Clause */
#include "ledger.h"

#include <pthread.h>

const double ledger_bucket_seconds[LEDGER_BUCKETS] = {
	0.01, 0.025, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 2.5, 5, 15, 60, 600};

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
