/* SPDX-License-Identifier: BSD-2-Clause */
/* Batches that the spool kept of another version, in a format that this output does not send. */
#include "encode/zipkin.h"
#include "output/uplink/delivery.h"
#include "queue/backlog.h"
#include "uplink_rig.h"

#define FOREIGN 0xfe
#define FOREIGN_SPANS 3

/* A batch of FOREIGN_SPANS spans, "alien 0" and so on, entered in its row. */
static struct entry *foreign_entry(struct rig *rig, int64_t spool_id)
{
	struct batch *batch = batch_create(FOREIGN, FOREIGN_SPANS, 64);
	struct entry *entry;

	for (int i = 0; i < FOREIGN_SPANS; i++) {
		char span[32];
		int size = snprintf(span, sizeof(span), "alien %d", i);

		batch_add(batch, (const uint8_t *)span, (size_t)size, 100 + i);
	}
	entry = entry_create(batch);
	entry->spool_id = spool_id;
	account_add(rig->account, entry_row(entry), FOREIGN_SPANS);
	return entry;
}

static void push_foreign(struct rig *rig)
{
	struct entry *entry = foreign_entry(rig, 0);

	queue_push(rig->queue, batch_ref(entry->batch));
	entry_destroy(entry);
}

static void assert_kept(struct rig *rig, int count)
{
	struct refused_span *refused = backlog_take_refused(rig->queue);

	for (int i = 0; i < count; i++) {
		struct refused_span *next;
		char span[32];

		ck_assert_ptr_nonnull(refused);
		snprintf(span, sizeof(span), "alien %d", i % FOREIGN_SPANS);
		ck_assert_uint_eq(refused->size, strlen(span));
		ck_assert_mem_eq(refused->span, span, strlen(span));
		ck_assert_int_eq(refused->event_time, 100 + i % FOREIGN_SPANS);
		ck_assert_str_eq(refused->words, "stored in a format that this output does not send");
		next = refused->next;
		g_free(refused);
		refused = next;
	}
	ck_assert_ptr_null(refused);
}

/* They are refused, counted and kept, fresh or from disk; the next that can be sent is taken. */
START_TEST(refused_when_taken)
{
	struct delivery delivery;
	struct backlog backlog;
	struct piece *piece;
	struct rig rig;

	rig_open(&rig);
	backlog_attach(rig.queue, 100);
	push_foreign(&rig);
	push_foreign(&rig);
	push(&rig, 1);
	queue_mark(rig.queue);
	backlog_replay(rig.queue, foreign_entry(&rig, 12));
	delivery_init(&delivery, rig.queue, BATCH_ZIPKIN_SPANS);
	piece = delivery_take(&delivery, DELIVERY_ANY, 0);
	ck_assert_ptr_nonnull(piece);
	ck_assert_uint_eq(piece->count, SPANS);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 2 * FOREIGN_SPANS);
	ASSERT_ROW(&rig, SPANS_QUEUED, SPANS);
	ASSERT_ROW(&rig, SPANS_SPOOLED, FOREIGN_SPANS);
	assert_kept(&rig, 2 * FOREIGN_SPANS);
	delivery_took(&delivery, piece, 0);
	ck_assert(queue_mark_settled(rig.queue));
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	ck_assert_ptr_null(delivery_take(&delivery, DELIVERY_ANY, 0));
	ck_assert(delivery_empty(&delivery));
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 3 * FOREIGN_SPANS);
	ASSERT_ROW(&rig, SPANS_SENT, SPANS);
	ASSERT_ROW(&rig, SPANS_QUEUED, 0);
	ASSERT_ROW(&rig, SPANS_SPOOLED, 0);
	backlog_look(rig.queue, &backlog);
	ck_assert_uint_eq(backlog.replayed, 1); /* to be deleted from the disk */
	ck_assert_uint_eq(backlog.replay_bytes, 0);
	assert_kept(&rig, FOREIGN_SPANS);
	rig_close(&rig);
}
END_TEST

/* One item among good ones costs no other: it alone is refused. */
START_TEST(only_the_bad_item_is_refused)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct span span = {.trace_id = 1, .id = 2, .timestamp = 1};
	struct refused_span *refused;
	struct buffer item = {0};
	struct delivery delivery;
	struct piece *piece;
	struct rig rig;

	rig_open(&rig);
	backlog_attach(rig.queue, 100);
	zipkin_encode(&item, &span);
	for (int i = 0; i < 5; i++)
		batch_add(batch, i == 3 ? (const uint8_t *)"broken" : item.data, i == 3 ? 6 : item.size,
			100 + i);
	account_add(rig.account, SPANS_QUEUED, 5);
	queue_push(rig.queue, batch);
	delivery_init(&delivery, rig.queue, BATCH_ZIPKIN_JSON);
	piece = delivery_take(&delivery, DELIVERY_ANY, 0);
	ck_assert_ptr_nonnull(piece);
	ck_assert_uint_eq(piece->count, 4);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 1);
	ASSERT_ROW(&rig, SPANS_QUEUED, 4);
	refused = backlog_take_refused(rig.queue);
	ck_assert_ptr_nonnull(refused);
	ck_assert_ptr_null(refused->next);
	ck_assert_uint_eq(refused->size, 6);
	ck_assert_mem_eq(refused->span, "broken", 6);
	ck_assert_int_eq(refused->event_time, 103);
	ck_assert_str_eq(refused->words, "cannot be read, to be sent in the format of this output");
	g_free(refused);
	delivery_took(&delivery, piece, 0);
	ASSERT_ROW(&rig, SPANS_SENT, 4);
	ASSERT_ROW(&rig, SPANS_QUEUED, 0);
	ck_assert_uint_eq(queue_bytes(rig.queue), 0);
	buffer_free(&item);
	rig_close(&rig);
}
END_TEST

/* The collector sees none of them, has all the others, and the connection is none the worse. */
START_TEST(others_are_sent)
{
	struct rig rig;

	rig_open(&rig);
	for (int i = 0; i < 10; i++) {
		push_foreign(&rig);
		push(&rig, 1);
	}
	start(&rig);
	RUN_UNTIL(&rig, row(&rig, SPANS_QUEUED) == 0);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, 10 * FOREIGN_SPANS);
	ASSERT_ROW(&rig, SPANS_SENT, rig.pushed);
	ck_assert_int_eq(errors(&rig), 0);
	assert_in_order(&rig);
	ck_assert_uint_eq(rig.peer->connections, 1);
	ck_assert(state_of(&rig).up);
	rig_close(&rig);
}
END_TEST

static void on_drained(void *data)
{
	struct rig *rig = data;

	rig->drained++;
}

/* A queue that has nothing else is drained all the same. */
START_TEST(drained_of_them)
{
	struct rig rig;

	rig_open(&rig);
	start(&rig);
	push(&rig, 1);
	RUN_UNTIL(&rig, row(&rig, SPANS_SENT) == SPANS);
	if (_i == 0)
		push_foreign(&rig);
	queue_close(rig.queue);
	uplink_when_drained(rig.uplink, on_drained, &rig);
	RUN_UNTIL(&rig, rig.drained == 1);
	ASSERT_ROW(&rig, SPANS_DROPPED_REFUSED, _i == 0 ? FOREIGN_SPANS : 0);
	ASSERT_ROW(&rig, SPANS_QUEUED, 0);
	rig_close(&rig);
}
END_TEST

TCase *uplink_formats(void)
{
	TCase *tests = tcase_create("formats");

	tcase_add_test(tests, refused_when_taken);
	tcase_add_test(tests, only_the_bad_item_is_refused);
	tcase_add_test(tests, others_are_sent);
	tcase_add_loop_test(tests, drained_of_them, 0, 2);
	return tests;
}
