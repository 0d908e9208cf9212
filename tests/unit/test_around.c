/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin import --around`: whose an event is. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "import/aroundevent.h"
#include "import/aroundspans.h"

#include "run.h"

#define TRACE 7

static struct around_spans *spans;

static void setup(void)
{
	spans = around_spans_create(TRACE, around_event_free);
}

static void teardown(void)
{
	around_spans_destroy(spans);
}

/* A span of process 3 that took from @start to @end. */
static void take(uint64_t id, int64_t start, int64_t end, int64_t tid)
{
	static const char data[] = "x=y\n&z=no process\n&3=program\n!pieces 9";
	struct event event = {.type = EVENT_SPAN,
		.trace_id = TRACE,
		.span_id = id,
		.time = end,
		.clock = (uint64_t)end + 1000,
		.start = (uint64_t)start + 1000,
		.value = {data, sizeof(data) - 1}};

	around_spans_take(spans, &event, tid);
}

static uint64_t owner(int64_t time, int64_t pid, int64_t tid)
{
	const struct around_moment moment = {time, pid, tid, AROUND_UNKNOWN, AROUND_UNKNOWN};
	const struct around_span *span = around_spans_find(spans, &moment);

	return span ? span->id : 0;
}

START_TEST(innermost_of_the_thread)
{
	take(1, 100, 900, 5);
	take(2, 200, 400, 5);
	take(3, 200, 400, 6);
	ck_assert_uint_eq(owner(100, 3, 5), 1);
	ck_assert_uint_eq(owner(199, 3, 5), 1);
	ck_assert_uint_eq(owner(200, 3, 5), 2);
	ck_assert_uint_eq(owner(400, 3, 5), 2);
	ck_assert_uint_eq(owner(401, 3, 5), 1);
	ck_assert_uint_eq(owner(300, 3, 6), 3);
	ck_assert_uint_eq(owner(500, 3, 6), 0);
	ck_assert_uint_eq(owner(901, 3, 5), 0);
	ck_assert_uint_eq(owner(99, 3, 5), 0);
	ck_assert_uint_eq(owner(300, 4, 5), 0); /* the same number in another container */
	ck_assert_uint_eq(owner(300, AROUND_UNKNOWN, 5), 2);
	ck_assert(around_spans_reach(spans, 100) && around_spans_reach(spans, 900));
	ck_assert(!around_spans_reach(spans, 99) && !around_spans_reach(spans, 901));
}
END_TEST

/* It may have finished before it was recorded. */
START_TEST(end_that_a_span_tells)
{
	static const char *const tails[] = {"!finish +300\n&3=program", "!finish +300", "!finish 300",
		"!finish +", "!finish +99999999999999999999999"};
	static const int64_t ends[] = {400, 400, 900, 900, 900};

	for (size_t i = 0; i < G_N_ELEMENTS(tails); i++) {
		g_autofree char *data = g_strconcat("local 0 - x\n", tails[i], NULL);
		struct event event = {.type = EVENT_SPAN,
			.trace_id = TRACE,
			.span_id = i + 1,
			.time = 900,
			.clock = 1900,
			.start = 1100,
			.value = {data, (uint32_t)strlen(data)}};

		around_spans_take(spans, &event, 5);
		ck_assert_int_eq(((struct around_span *)around_spans_list(spans)->pdata[i])->start, 100);
		ck_assert_int_eq(((struct around_span *)around_spans_list(spans)->pdata[i])->end, ends[i]);
	}
}
END_TEST

START_TEST(process_where_no_thread_is_known)
{
	take(1, 100, 900, AROUND_UNKNOWN);
	ck_assert_uint_eq(owner(300, 3, 5), 1);
	ck_assert_uint_eq(owner(300, 4, 5), 0);
	ck_assert_uint_eq(owner(300, AROUND_UNKNOWN, 5), 0);
}
END_TEST

START_TEST(classic_spans_last_from_first_to_last)
{
	struct event event = {.type = EVENT_TIMESTAMP, .trace_id = TRACE, .span_id = 1, .time = 500};

	around_spans_take(spans, &event, 5);
	event.time = 300;
	around_spans_take(spans, &event, 5);
	event.trace_id = TRACE + 1;
	event.time = 9000;
	around_spans_take(spans, &event, 5);
	ck_assert_uint_eq(around_spans_list(spans)->len, 1);
	ck_assert_uint_eq(owner(400, AROUND_UNKNOWN, 5), 1);
	ck_assert_uint_eq(owner(501, AROUND_UNKNOWN, 5), 0);
}
END_TEST

/* What a program calls 5 the kernel calls 1005. */
START_TEST(switches_in_a_container)
{
	struct around_moment own = {200, 3, 5, AROUND_UNKNOWN, 1005}, next = {300, 0, 0, 1005, 0};

	take(1, 100, 900, 5);
	ck_assert_ptr_null(around_spans_find(spans, &next));
	ck_assert_ptr_nonnull(around_spans_find(spans, &own));
	ck_assert_ptr_nonnull(around_spans_find(spans, &next));
	next.other = 5;
	ck_assert_ptr_null(around_spans_find(spans, &next));
}
END_TEST

/* Another container has a thread of that number, too, in another process; or in one of the same number. */
START_TEST(switches_in_two_containers)
{
	struct around_moment own = {200, 3, 5, AROUND_UNKNOWN, 1005},
			     other = {210, 4, 5, AROUND_UNKNOWN, 2005};
	struct around_moment next = {300, 0, 0, 1005, 0};

	take(1, 100, 900, 5);
	around_spans_find(spans, &own);
	around_spans_find(spans, &other);
	ck_assert_ptr_nonnull(around_spans_find(spans, &next));
	next.other = 2005;
	ck_assert_ptr_null(around_spans_find(spans, &next));
	other.pid = 3;
	around_spans_find(spans, &other);
	ck_assert_ptr_null(around_spans_find(spans, &next));
}
END_TEST

START_TEST(bounds)
{
	struct around_span *span;

	take(1, 100, 900, 5);
	span = around_spans_list(spans)->pdata[0];
	for (int i = 0; i < AROUND_EVENTS_MAX + 5; i++)
		around_spans_put(spans, span, around_event_make("{}", 2, i));
	ck_assert_uint_eq(span->events->len, AROUND_EVENTS_MAX);
	ck_assert_uint_eq(span->more, 5);
	for (uint64_t i = 2; i < AROUND_SPANS_MAX + 10; i++)
		take(i, 100, 900, 5);
	ck_assert_uint_eq(around_spans_list(spans)->len, AROUND_SPANS_MAX);
	ck_assert_uint_eq(around_spans_more(spans), 9);
}
END_TEST

/* Each thread of a span has a place of its own; of those without one each counts once, whatever comes of it.
 */
START_TEST(threads_that_are_too_many)
{
	for (int again = 0; again < 2; again++) {
		for (int64_t tid = 1; tid <= AROUND_SPANS_MAX + 1; tid++)
			take(1, 100, 900, tid);
		ck_assert_uint_eq(around_spans_list(spans)->len, AROUND_SPANS_MAX);
		ck_assert_uint_eq(around_spans_more(spans), 1);
	}
	take(2, 100, 900, AROUND_SPANS_MAX + 1);
	ck_assert_uint_eq(around_spans_more(spans), 2);
}
END_TEST

START_TEST(events_of_all)
{
	const GPtrArray *list;
	uint64_t kept = 0, more = 0;

	for (uint64_t i = 1; i <= AROUND_EVENTS_ALL / AROUND_EVENTS_MAX + 1; i++)
		take(i, 100, 900, 5);
	list = around_spans_list(spans);
	for (guint i = 0; i < list->len; i++)
		for (int k = 0; k < AROUND_EVENTS_MAX; k++)
			around_spans_put(spans, list->pdata[i], around_event_make("{}", 2, k));
	for (guint i = 0; i < list->len; i++) {
		const struct around_span *span = list->pdata[i];

		kept += span->events->len;
		more += span->more;
	}
	ck_assert_uint_eq(kept, AROUND_EVENTS_ALL);
	ck_assert_uint_eq(more, AROUND_EVENTS_MAX);
}
END_TEST

START_TEST(json)
{
	static const char text[] =
		"{\"timestamp\":1,\"domain\":\"kernel\",\"event\":\"sched_switch\",\"process\":{\"pid\":1003,"
		"\"tid\":1005,"
		"\"name\":\"x\"},\"cpu\":2,\"context\":{\"vpid\":3,\"vtid\":5,\"a\":{\"tid\":9}},"
		"\"payload\":{\"prev_tid\":1005,\"next_tid\":8,\"list\":[1,{}],\"name\":\"q \\\" q\"}}";
	static const char other[] =
		"{\"process\":{\"tid\":\"x\"},\"payload\":{\"tid\":1.5,\"next_tid\":[2]}}";
	struct around_moment moment = {0};
	struct around_event *event;

	ck_assert(around_event_read(text, sizeof(text) - 1, &moment));
	ck_assert_int_eq(moment.pid, 3);
	ck_assert_int_eq(moment.tid, 5);
	ck_assert_int_eq(moment.kernel, 1005);
	ck_assert_int_eq(moment.other, 8);
	event = around_event_make(text, sizeof(text) - 1, 1);
	ck_assert_str_eq(
		event->text, "· sched_switch  prev_tid=1005 next_tid=8 list=[1,{}] name=\"q \\\" q\", CPU 2");
	ck_assert_str_eq(event->json, text);
	around_event_free(event);
	for (size_t size = 0; size < sizeof(text) - 1; size++) {
		ck_assert(!around_event_read(text, size, &moment));
		around_event_free(around_event_make(text, size, 1));
	}
	/* what is no number is none */
	ck_assert(around_event_read(other, sizeof(other) - 1, &moment));
	ck_assert_int_eq(moment.tid, AROUND_UNKNOWN);
	ck_assert_int_eq(moment.other, AROUND_UNKNOWN);
}
END_TEST

/* A program that logs a field of that name is not about that thread. */
START_TEST(only_the_kernel_tells_of_others)
{
	static const char *const of[] = {
		"", "\"domain\":\"ust\",", "\"domain\":\"kernel!\",", "\"domain\":null,"};
	struct around_moment moment = {0};

	for (size_t i = 0; i < G_N_ELEMENTS(of); i++) {
		g_autofree char *text = g_strconcat("{", of[i],
			"\"event\":\"a:b\",\"context\":{\"vtid\":5},\"payload\":{\"tid\":8,\"next_tid\":9}}",
			NULL);

		ck_assert(around_event_read(text, strlen(text), &moment));
		ck_assert_int_eq(moment.tid, 5);
		ck_assert_int_eq(moment.other, AROUND_UNKNOWN);
	}
}
END_TEST

START_TEST(nameless)
{
	static const char text[] = "{\"event\":null,\"id\":8,\"cpu\":2,\"payload\":{\"a\":1}}";
	struct around_event *event = around_event_make(text, sizeof(text) - 1, 1);

	ck_assert_str_eq(event->text, "· ?  a=1, CPU 2");
	around_event_free(event);
}
END_TEST

/* Wherever the text is cut, it ends with a whole character. */
START_TEST(cut_between_characters)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct around_event *event;

	g_string_append_printf(text, "{\"event\":\"a:b\",\"payload\":{\"t\":\"%.*s", _i, "xxxx");
	for (int i = 0; i < 1000; i++)
		g_string_append(text, "雪");
	g_string_append(text, "\"}}");
	event = around_event_make(text->str, text->len, 1);
	ck_assert(g_utf8_validate(event->text, -1, NULL));
	ck_assert(g_str_has_suffix(event->text, "雪…"));
	around_event_free(event);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, innermost_of_the_thread);
	tcase_add_test(cases, end_that_a_span_tells);
	tcase_add_test(cases, process_where_no_thread_is_known);
	tcase_add_test(cases, classic_spans_last_from_first_to_last);
	tcase_add_test(cases, switches_in_a_container);
	tcase_add_test(cases, switches_in_two_containers);
	tcase_add_test(cases, bounds);
	tcase_add_test(cases, threads_that_are_too_many);
	tcase_add_test(cases, events_of_all);
	tcase_add_test(cases, json);
	tcase_add_test(cases, only_the_kernel_tells_of_others);
	tcase_add_test(cases, nameless);
	tcase_add_loop_test(cases, cut_between_characters, 0, 4);
	return run_cases("around", cases);
}
