/* SPDX-License-Identifier: BSD-2-Clause */
#include "spooler_rig.h"

#include <string.h>

#include "base/clock.h"
#include "core/ledger.h"

struct queue *queue;
struct account *account;
struct spooler *spooler;
static struct queue_limits limits = {.bytes = QUEUE, .disk_ns = 10 * NS_PER_SECOND};
static int64_t pushed;

static void wake(void *data)
{
	(void)data;
}

void make_queue(void)
{
	account = account_open("default");
	queue = queue_create(&limits, account, wake, NULL);
}

void start(uint64_t max, uint64_t share, uint64_t floor)
{
	struct spooler_options options = {
		.directory = rig_folder,
		.name = "default",
		.max_bytes = max,
		.replay_share = share,
		.replay_floor = floor,
	};

	make_queue();
	spooler = spooler_create(&options, queue);
	ck_assert_ptr_nonnull(spooler);
}

void merge(uint32_t spans)
{
	limits.treatment.batch_spans = spans;
	if (queue)
		queue_configure(queue, &limits);
}

void stop(void)
{
	queue_close(queue);
	spooler_destroy(spooler);
	queue_unref(g_steal_pointer(&queue));
}

static void read_rows(struct account_rows *rows)
{
	ledger_read_with(&(struct ledger){0}, &account, rows, 1);
}

int64_t row(enum account_row which)
{
	struct account_rows rows;

	read_rows(&rows);
	return rows.row[which];
}

void assert_balance(void)
{
	struct account_rows rows;
	const int64_t *r = rows.row;

	read_rows(&rows);
	ck_assert_int_eq(r[SPANS_TAKEN] + r[SPANS_RECOVERED],
		r[SPANS_QUEUED] + r[SPANS_SPOOLED] + r[SPANS_SENT] + r[SPANS_DROPPED_QUEUE_FULL] +
			r[SPANS_DROPPED_REFUSED] + r[SPANS_DROPPED_SPOOL_FULL] +
			r[SPANS_DROPPED_SPOOL_CORRUPT] + r[SPANS_DROPPED_DISCARDED] +
			r[SPANS_DROPPED_SHUTDOWN]);
}

static struct batch *next_batch(size_t size)
{
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, SPANS, SPANS * size);
	uint8_t span[8192] = {0};

	for (int i = 0; i < SPANS; i++) {
		pushed++;
		memcpy(span, &pushed, sizeof(pushed));
		batch_add(batch, span, size, pushed);
	}
	return batch;
}

void push(int batches, size_t size)
{
	struct account_change change = {.row = {[SPANS_TAKEN] = SPANS, [SPANS_QUEUED] = SPANS}};

	while (batches-- > 0) {
		account_post(account, &change);
		queue_push(queue, next_batch(size));
	}
}

static void arrived(const struct entry *entry, uint32_t count, GHashTable *seen)
{
	for (uint32_t i = 0; seen && i < count; i++)
		ck_assert(g_hash_table_add(seen, g_memdup2(&batch_events(entry->batch)[i], sizeof(int64_t))));
}

void sent(struct entry *entry, GHashTable *seen)
{
	arrived(entry, entry->batch->count, seen);
	account_move(account, entry_row(entry), SPANS_SENT, entry->batch->count);
	queue_release(queue, entry);
}

int64_t take_until(bool (*condition)(void), GHashTable *seen)
{
	int64_t end = clock_monotonic() + 20 * NS_PER_SECOND, replayed = 0;
	struct entry *entry;

	while (!condition()) {
		ck_assert_msg(clock_monotonic() < end, "waited in vain: %lld queued, %lld spooled",
			(long long)row(SPANS_QUEUED), (long long)row(SPANS_SPOOLED));
		entry = queue_take(queue);
		if (!entry) {
			g_usleep(1000);
			continue;
		}
		replayed += entry->spool_id ? entry->batch->count : 0;
		sent(entry, seen);
	}
	return replayed;
}

void wait_until(bool (*condition)(void))
{
	int64_t end = clock_monotonic() + 20 * NS_PER_SECOND;

	while (!condition()) {
		ck_assert_msg(clock_monotonic() < end, "waited in vain: %lld queued, %lld spooled",
			(long long)row(SPANS_QUEUED), (long long)row(SPANS_SPOOLED));
		g_usleep(1000);
	}
}

bool all_stored(void)
{
	return row(SPANS_QUEUED) == 0;
}

bool all_sent(void)
{
	return row(SPANS_QUEUED) == 0 && row(SPANS_SPOOLED) == 0;
}

bool is_ok(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.ok;
}

bool is_failing(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return !state.ok && state.error[0];
}

bool is_empty(void)
{
	struct spooler_state state;

	spooler_read_state(spooler, &state);
	return state.ok && state.batches == 0;
}

struct entry *take_one(void)
{
	struct entry *entry;

	while (!(entry = queue_take(queue)))
		g_usleep(1000);
	return entry;
}

void give_back_rest(struct entry *entry, uint32_t count, GHashTable *seen)
{
	struct batch *rest = batch_create(entry->batch->format, SPANS, SPANS * 300);
	uint8_t span[300] = {0};

	for (uint32_t i = count; i < entry->batch->count; i++)
		batch_add(rest, span, sizeof(span), batch_events(entry->batch)[i]);
	arrived(entry, count, seen);
	account_move(account, SPANS_SPOOLED, SPANS_SENT, count);
	queue_give_back_rest(queue, entry, rest);
}

GHashTable *make_seen(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

void assert_seen(GHashTable *seen, int64_t from, int64_t to)
{
	ck_assert_uint_eq(g_hash_table_size(seen), to - from + 1);
	for (int64_t i = from; i <= to; i++)
		ck_assert(g_hash_table_contains(seen, &i));
}
