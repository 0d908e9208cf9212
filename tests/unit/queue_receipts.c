/* SPDX-License-Identifier: BSD-2-Clause */
/* What comes from outside: room for it, its rows, and the receipt at two outputs. */
#include "fanout_rig.h"
#include "queue/backlog.h"

static bool woken;

static void wake(void *data)
{
	(void)data;
	woken = true;
}

static bool taken;

/* Hands over so many items of ten bytes, whose sender was told OK or not; the receipt is the caller's. */
static struct receipt *hand_answered(struct fanout *to, uint32_t count, bool answered)
{
	struct receipt *receipt = receipt_create(wake, NULL);
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, count, 10 * count);
	struct ledger change = {.row = {[SPANS_RECEIVED] = count}};

	woken = false;
	if (answered)
		receipt_give(receipt);
	for (uint32_t i = 0; i < count; i++)
		batch_add(items, (const uint8_t *)"0123456789", 10, 1);
	taken = fanout_hand_for(to, receipt, &change, &(struct items){.batch = items}, 1);
	receipt_close(receipt);
	batch_unref(items);
	return receipt;
}

static struct receipt *hand_from_outside(struct fanout *to, uint32_t count)
{
	return hand_answered(to, count, false);
}

static struct fanout *second_fanout(void)
{
	return fanout_create_second(outlets_of(outlet_of(&one, 10, 1000), outlet_of(&other, 10, 1000)));
}

static void deliver(struct side *side)
{
	struct entry *entry;

	while ((entry = queue_take(side->queue))) {
		account_move(side->account, entry_row(entry), SPANS_SENT, entry->batch->count);
		queue_release(side->queue, entry);
	}
}

static struct account_rows rows_of(const struct side *side)
{
	struct account_rows rows;
	struct ledger node;

	ledger_read_with(&node, &side->account, &rows, 1);
	return rows;
}

/* It is safe when both have it. */
START_TEST(both_deliver)
{
	struct fanout *to = second_fanout();
	struct receipt *receipt = hand_from_outside(to, 25);
	bool good;

	ck_assert_int_eq(rows_of(&one).row[SPANS_HELD], 25);
	ck_assert_int_eq(rows_of(&one).row[SPANS_QUEUED], 0);
	deliver(&one);
	ck_assert(!woken && !receipt_is_settled(receipt, &good));
	deliver(&other);
	ck_assert(woken && receipt_is_settled(receipt, &good) && good);
	ck_assert_int_eq(rows_of(&other).row[SPANS_SENT], 25);
	ck_assert_int_eq(rows_of(&other).row[SPANS_HELD], 0);
	receipt_unref(receipt);
	fanout_destroy(to);
}
END_TEST

/* A batch that is full and waited for by the same is kept by both, and safe when both have it. */
START_TEST(kept_whole)
{
	struct fanout *to = second_fanout();
	struct receipt *receipt = receipt_create(wake, NULL);
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct ledger change = {.row = {[SPANS_RECEIVED] = 10}};
	struct entry *mine, *its;
	bool good;

	woken = false;
	for (int i = 0; i < 10; i++)
		batch_add(items, (const uint8_t *)"0123456789", 10, 1);
	items->receipt = _i ? receipt_ref(receipt) : NULL;
	ck_assert(
		fanout_hand_for(to, receipt, &change, &(struct items){.batch = items, .lasting = items}, 1));
	receipt_close(receipt);
	mine = queue_take(one.queue);
	its = queue_take(other.queue);
	ck_assert((mine->batch == items) == _i && (its->batch == items) == _i);
	batch_unref(items);
	ck_assert_int_eq(rows_of(&one).row[SPANS_HELD], 10);
	account_move(one.account, entry_row(mine), SPANS_SENT, 10);
	queue_release(one.queue, mine);
	ck_assert(!woken && !receipt_is_settled(receipt, &good));
	account_move(other.account, entry_row(its), SPANS_SENT, 10);
	queue_release(other.queue, its);
	ck_assert(woken && receipt_is_settled(receipt, &good) && good);
	receipt_unref(receipt);
	fanout_destroy(to);
}
END_TEST

/* One has dropped it: it is the sender's again, or lost if that was told OK. */
START_TEST(one_drops)
{
	struct fanout *to = second_fanout();
	struct receipt *receipt = hand_answered(to, 10, _i);
	enum account_row row = _i ? SPANS_DROPPED_SHUTDOWN : SPANS_GIVEN_BACK;
	int64_t before = rows_of(&other).row[row];
	bool good;

	ck_assert_int_eq(rows_of(&other).row[_i ? SPANS_ENTRUSTED : SPANS_HELD], 10);
	deliver(&one);
	queue_drop_waiting(other.queue, false);
	ck_assert(woken && receipt_is_settled(receipt, &good) && !good);
	ck_assert_int_eq(rows_of(&other).row[row], before + 10);
	ck_assert_int_eq(rows_of(&other).row[SPANS_HELD] + rows_of(&other).row[SPANS_ENTRUSTED], 0);
	receipt_unref(receipt);
	fanout_destroy(to);
}
END_TEST

/* Stored is safe, too; and nobody is woken who does not want to be. */
START_TEST(one_stores)
{
	struct fanout *to = second_fanout();
	struct receipt *receipt = hand_from_outside(to, 10);
	struct entry *list = backlog_take(other.queue, 1 << 20);
	bool good;

	receipt_silence(receipt);
	deliver(&one);
	account_move(other.account, SPANS_HELD, SPANS_SPOOLED, 10);
	backlog_stored(other.queue, list);
	ck_assert(!woken && receipt_is_settled(receipt, &good) && good);
	account_move(other.account, SPANS_SPOOLED, SPANS_SENT, 10);
	receipt_unref(receipt);
	fanout_destroy(to);
}
END_TEST

/* Half of a queue, and a safe place. */
START_TEST(room)
{
	struct queue *its = one.queue;
	const size_t half = queue_limit(its) / 2;
	struct fanout *to = second_fanout();

	ck_assert(queue_admits(its, half, true));
	ck_assert(queue_admits(its, 10 * half, true)); /* alone */
	receipt_unref(hand_from_outside(to, 1));
	ck_assert(!queue_admits(its, half, true));
	ck_assert(queue_admits(its, half / 2, true) && fanout_admits(to, KIND_SPANS, half / 2, true));
	queue_set_delivering(its, false);
	ck_assert(!queue_admits(its, 100, true) && !fanout_admits(to, KIND_SPANS, 100, true));
	ck_assert(queue_admits(its, 100, false) && fanout_admits(to, KIND_SPANS, 100, false));
	backlog_attach(its, 100);
	backlog_set_storing(its, true);
	ck_assert(!queue_admits(its, 100, true));
	backlog_set_room(its, queue_bytes(its) + 100);
	ck_assert(queue_admits(its, 100, true) && !queue_admits(its, 101, true));
	backlog_set_storing(its, false);
	ck_assert(!queue_admits(its, 100, true));
	/* what is only connected has taken nothing yet */
	backlog_set_storing(its, true);
	queue_set_delivering(its, true);
	ck_assert(queue_admits(its, 100, true) && !queue_admits(its, 101, true));
	deliver(&one);
	ck_assert(queue_admits(its, half, true));
	deliver(&other);
	fanout_destroy(to);
}
END_TEST

static struct outlets *outlets_for_messages(void)
{
	struct outlet outlet = outlet_of(&one, 10, 1000);

	outlet.limits.kind = KIND_MESSAGES;
	return outlets_of(outlet, outlet);
}

/* Made for outputs that others have taken the place of meanwhile, which take no spans: nothing is entered. */
START_TEST(nobody_takes_them_any_more)
{
	struct fanout *to = second_fanout();
	struct ledger before, after;
	struct receipt *receipt;
	bool good;

	ledger_read(&before);
	fanout_configure(to, outlets_for_messages());
	receipt_unref(hand_from_outside(to, 10));
	ck_assert(!taken);
	ledger_read(&after);
	ck_assert_int_eq(after.row[SPANS_RECEIVED], before.row[SPANS_RECEIVED]);
	ck_assert_int_eq(rows_of(&one).row[SPANS_TAKEN], 0);
	fanout_configure(to, outlets_of(outlet_of(&one, 10, 1000), outlet_of(&other, 10, 1000)));
	receipt = hand_from_outside(to, 10);
	ck_assert(taken);
	deliver(&one);
	deliver(&other);
	ck_assert(receipt_is_settled(receipt, &good) && good);
	receipt_unref(receipt);
	fanout_destroy(to);
}
END_TEST

TCase *queue_receipts(void)
{
	TCase *cases = tcase_create("receipts");

	tcase_add_checked_fixture(cases, open_sides, close_sides);
	tcase_add_test(cases, both_deliver);
	tcase_add_loop_test(cases, kept_whole, 0, 2);
	tcase_add_loop_test(cases, one_drops, 0, 2);
	tcase_add_test(cases, one_stores);
	tcase_add_test(cases, room);
	tcase_add_test(cases, nobody_takes_them_any_more);
	return cases;
}
