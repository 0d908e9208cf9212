/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue_rig.h"

struct account *account;
struct queue *queue;
struct fanout *fanout;
int wakes;

static void wake(void *data)
{
	(void)data;
	wakes++;
}

void make_queue_of(const struct queue_limits *limits, uint32_t spans, size_t bytes)
{
	struct outlet outlet = {.limits = {KIND_SPANS, spans, bytes, 100}};

	account = account_open("default");
	queue = outlet.queue = queue_create(limits, account, wake, NULL);
	fanout = fanout_create(outlets_create(&outlet, 1));
}

void make_queue(uint32_t spans, size_t bytes, size_t queue_bytes, bool wait)
{
	struct queue_limits limits = {.bytes = queue_bytes, .wait_when_full = wait};

	make_queue_of(&limits, spans, bytes);
}

void end_queue(void)
{
	fanout_destroy(fanout);
	queue_unref(queue);
}

int64_t row_of(struct account *of, enum account_row which)
{
	struct account_rows rows;

	ledger_read_with(&(struct ledger){0}, &of, &rows, 1);
	return rows.row[which];
}

int64_t row_of_node(enum ledger_row which)
{
	struct ledger rows;

	ledger_read(&rows);
	return rows.row[which];
}

int64_t row(enum account_row which)
{
	return row_of(account, which);
}

void add_to(struct fanout *to, int64_t number, size_t size)
{
	g_autofree uint8_t *span = g_malloc0(size);
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, 1, size);

	batch_add(items, span, size, number);
	fanout_hand(to, &(struct ledger){0}, &(struct items){.batch = items}, 0, false);
	batch_unref(items);
}

void add(int64_t number, size_t size)
{
	add_to(fanout, number, size);
}

void flush(int64_t now, bool force)
{
	fanout_hand(fanout, &(struct ledger){0}, NULL, now, force);
}

void assert_next_of(struct queue *of, int64_t first, uint32_t spans)
{
	struct entry *entry = queue_take(of);

	ck_assert_ptr_nonnull(entry);
	ck_assert_uint_eq(entry->batch->count, spans);
	for (uint32_t i = 0; i < spans; i++)
		ck_assert_int_eq(batch_events(entry->batch)[i], first + i);
	queue_release(of, entry);
}

void assert_next(int64_t first, uint32_t spans)
{
	assert_next_of(queue, first, spans);
}

void push_to(struct queue *to, int64_t first, uint32_t spans, size_t size)
{
	struct account_change change = {.row = {[SPANS_TAKEN] = spans, [SPANS_QUEUED] = spans}};
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, spans, spans * size);
	g_autofree uint8_t *span = g_malloc0(size);

	for (uint32_t i = 0; i < spans; i++)
		batch_add(batch, span, size, first + i);
	account_post(queue_account(to), &change);
	queue_push(to, batch);
}

void send_next(struct queue *of)
{
	struct entry *entry = queue_take(of);

	ck_assert_ptr_nonnull(entry);
	account_move(queue_account(of), entry_row(entry), SPANS_SENT, entry->batch->count);
	queue_release(of, entry);
}

void assert_balance(struct account *of)
{
	struct account_rows rows;
	int64_t sum = 0;

	ledger_read_with(&(struct ledger){0}, &of, &rows, 1);
	for (int i = SPANS_QUEUED; i <= SPANS_DROPPED_SHUTDOWN; i++)
		sum += rows.row[i];
	ck_assert_int_eq(rows.row[SPANS_TAKEN] + rows.row[SPANS_RECOVERED], sum);
}
