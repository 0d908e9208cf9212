/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans in assembly that are kept over a restart: they go on as if there had been none. */
#include <check.h>

#include <glib.h>

#include "reader/assemble/assembler.h"

#include "run.h"
#include "texts.h"

#define MS INT64_C(1000000)
#define T0 INT64_C(1700000000000000000)

static struct ledger rows;
static GString *emitted;
static int64_t emitted_count;
static const struct assembler_limits limits = {1000 * MS, 100 * MS, 1024 * 1024};

static void note(void *data, const struct span *span)
{
	(void)data;
	emitted_count++;
	g_string_append_printf(emitted, "%d %.*s@%.*s %d/%d port %d %d:", (int)span->id, (int)span->name.size,
		span->name.data, (int)span->local.service.size, span->local.service.data,
		(int)(span_timestamp_us(span) - T0 / 1000), (int)span_duration_us(span), span->local.port,
		span->local.address_size);
	for (size_t i = 0; i < span->annotation_count; i++)
		g_string_append_printf(emitted, " %.*s+%d", (int)span->annotations[i].value.size,
			span->annotations[i].value.data, (int)(span->annotations[i].time / 1000 - T0 / 1000));
	for (size_t i = 0; i < span->tag_count; i++)
		g_string_append_printf(emitted, " %.*s=%.*s", (int)span->tags[i].key.size,
			span->tags[i].key.data, (int)span->tags[i].value.size, span->tags[i].value.data);
	g_string_append_c(emitted, '\n');
}

/* The n-th of a stream of events of 20 spans, some of which end on the way. */
static void take(struct assembler *assembler, int n)
{
	static const char *const words[] = {"cs", "far away", "größe", "", "cr", "late"};
	int span = n % 20, step = n / 20 % 6;
	struct event event = {.type = step == 3 ? EVENT_KEYVAL : EVENT_TIMESTAMP,
		.time = T0 + n * MS,
		.clock = (uint64_t)(n * MS),
		.trace_id = 0xa,
		.span_id = 1 + (uint64_t)span,
		.parent_id = step ? 0 : 7,
		.port = step == 2 ? 6800 : 0,
		.name = literal(step == 1 ? "op" : ""),
		.service = literal(span % 2 ? "svc" : "other"),
		.ip = literal(step == 1 ? "10.0.0.1" : ""),
		.key = literal("key"),
		.value = literal(step == 3 ? "value" : words[step])};

	assembler_take(assembler, &event, n * MS);
	assembler_expire(assembler, n * MS);
}

static bool load(struct assembler *assembler, const struct buffer *saved, size_t size, int64_t now)
{
	struct unpacker from = unpacker_of(saved->data, size);

	return assembler_load(assembler, &from, now);
}

static struct assembler *make(void)
{
	return assembler_create(&limits, &rows, note, NULL);
}

static void begin(void)
{
	memset(&rows, 0, sizeof(rows));
	g_string_truncate(emitted, 0);
	emitted_count = 0;
}

static void setup(void)
{
	emitted = g_string_new(NULL);
	begin();
}

static void teardown(void)
{
	g_string_free(emitted, TRUE);
}

/* At each point of the stream: stopped there and gone on with gives the same spans. */
START_TEST(goes_on_as_if_nothing_had_been)
{
	g_autofree char *expected = NULL;
	struct assembler *assembler = make();

	for (int n = 0; n < 400; n++)
		take(assembler, n);
	assembler_flush(assembler);
	assembler_destroy(assembler);
	expected = g_strdup(emitted->str);
	for (int stop = 0; stop < 400; stop += 7) {
		struct buffer saved = {0};

		begin();
		assembler = make();
		for (int n = 0; n < stop; n++)
			take(assembler, n);
		assembler_save(assembler, stop * MS, &saved);
		assembler_destroy(assembler);
		/* as the ledger's checkpoint has it: what is pending is unmade, */
		rows.row[SPANS_MADE] -= rows.row[SPANS_PENDING];
		rows.row[SPANS_PENDING] = 0;
		assembler = make();
		/* and made again */
		ck_assert(load(assembler, &saved, saved.size, stop * MS));
		for (int n = stop; n < 400; n++)
			take(assembler, n);
		assembler_flush(assembler);
		ck_assert_str_eq(emitted->str, expected);
		ck_assert_int_eq(rows.row[SPANS_PENDING], 0);
		ck_assert_int_eq(rows.row[SPANS_MADE], emitted_count);
		ck_assert_uint_eq(assembler_bytes(assembler), 0);
		assembler_destroy(assembler);
		buffer_free(&saved);
	}
}
END_TEST

/* The time that was left is left, however long the agent was down. */
START_TEST(deadlines_wait)
{
	struct assembler *assembler = make();
	struct buffer saved = {0};

	take(assembler, 0); /* lingers till 1000 */
	assembler_save(assembler, 400 * MS, &saved);
	assembler_destroy(assembler);
	assembler = make();
	ck_assert(load(assembler, &saved, saved.size, 9000 * MS));
	assembler_expire(assembler, 9599 * MS);
	ck_assert_str_eq(emitted->str, "");
	assembler_expire(assembler, 9600 * MS);
	ck_assert_str_ne(emitted->str, "");
	assembler_destroy(assembler);
	buffer_free(&saved);
}
END_TEST

/* A span that waits for longer than it may now holds up none that comes behind it. */
START_TEST(limits_are_lowered)
{
	const struct assembler_limits low = {200 * MS, 10 * MS, 1024 * 1024};
	struct assembler *assembler = make();
	struct buffer saved = {0};

	for (int n = 0; n < 90; n++) /* the first ten of 20 have ended, */
		take(assembler, n);
	assembler_save(assembler, 90 * MS, &saved);
	assembler_configure(assembler, &low, 90 * MS);
	assembler_expire(assembler, 100 * MS);
	ck_assert_int_eq(emitted_count, 10);
	take(assembler, 10 + 100); /* again, of one that has not */
	assembler_expire(assembler, 290 * MS);
	ck_assert_int_eq(emitted_count, 19);
	assembler_expire(assembler, 310 * MS);
	ck_assert_int_eq(emitted_count, 20);
	assembler_destroy(assembler);
	begin();
	assembler = assembler_create(&low, &rows, note, NULL);
	ck_assert(load(assembler, &saved, saved.size, 9000 * MS));
	assembler_expire(assembler, 9010 * MS);
	ck_assert_int_eq(emitted_count, 10);
	assembler_expire(assembler, 9200 * MS);
	ck_assert_int_eq(emitted_count, 20);
	assembler_destroy(assembler);
	buffer_free(&saved);
}
END_TEST

START_TEST(damage)
{
	struct assembler *assembler = make(), *other = make();
	struct buffer saved = {0};

	for (int n = 0; n < 70; n++)
		take(assembler, n);
	assembler_save(assembler, 70 * MS, &saved);
	for (size_t size = 0; size < saved.size; size++) {
		ck_assert(!load(other, &saved, size, 0));
		ck_assert_uint_eq(assembler_bytes(other), 0);
	}
	/* what the CRC would tell: anything may come, but no harm of it */
	for (size_t i = 0; i < saved.size; i++) {
		uint8_t was = saved.data[i];

		for (int bit = 0; bit < 8; bit++) {
			saved.data[i] = was ^ (uint8_t)(1 << bit);
			load(other, &saved, saved.size, 0);
			assembler_flush(other);
			ck_assert_uint_eq(assembler_bytes(other), 0);
		}
		saved.data[i] = was;
		g_string_truncate(emitted, 0);
	}
	assembler_destroy(assembler);
	assembler_destroy(other);
	buffer_free(&saved);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, goes_on_as_if_nothing_had_been);
	tcase_add_test(cases, deadlines_wait);
	tcase_add_test(cases, limits_are_lowered);
	tcase_add_test(cases, damage);
	return run_cases("pendingsave", cases);
}
