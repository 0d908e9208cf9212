/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans of traces that are wanted are kept while all others pass, and shown as HTML whatever is in them. */
#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "queue/format.h"
#include "queue/keep.h"
#include "stats/exemplars.h"
#include "stats/traces.h"
#include "status/waterfall.h"

#include "randomspan.h"
#include "run.h"

#define BYTES (64 * 1024)

static struct traces *traces;
static uint32_t numbered; /* spans: each one's number is its first bytes */

static void setup(void)
{
	traces = traces_create(BYTES);
	numbered = 0;
}

static void teardown(void)
{
	traces_destroy(traces);
}

/* A span of each of these traces, of @size bytes at least. */
static void pass(const uint64_t *of, uint32_t count, size_t size)
{
	struct batch *items = batch_create(BATCH_SPAN_RECORDS, count, count * size);
	g_autofree struct trait *traits = g_new0(struct trait, count);
	g_autofree uint8_t *item = g_malloc0(MAX(size, 4));
	const struct items all = {.batch = items, .traits = traits};

	for (uint32_t i = 0; i < count; i++) {
		traits[i].trace_id = of[i];
		memcpy(item, &numbered, 4);
		numbered++;
		batch_add(items, item, MAX(size, 4), 0);
	}
	traces_take(traces, &all, NULL, 0);
	batch_unref(items);
}

static void want(uint64_t trace)
{
	traces_take(traces, NULL, &trace, 1);
}

static uint32_t number_of(const GPtrArray *found, guint at)
{
	const struct traced *traced = g_ptr_array_index(found, at);
	uint32_t number;

	ck_assert_int_eq(traced->format, BATCH_SPAN_RECORDS);
	memcpy(&number, traced->bytes, 4);
	return number;
}

static guint count_of(uint64_t trace, uint32_t *missed)
{
	g_autoptr(GPtrArray) found = traces_find(traces, 0, trace, missed);

	return found->len;
}

static guint count(uint64_t trace)
{
	uint32_t missed;

	return count_of(trace, &missed);
}

/* Each of a wanted trace's spans is found once, in order, with what came before it was wanted; of any other
 * trace the last ones are. */
START_TEST(what_is_wanted_stays)
{
	g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
	GArray *sent[10];

	for (int i = 0; i < 10; i++)
		sent[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (int batch = 0; batch < 2000; batch++) {
		uint64_t of[20];
		uint32_t here = (uint32_t)g_rand_int_range(random, 1, 20);

		for (uint32_t i = 0; i < here; i++) {
			uint32_t number = numbered + i;
			/* number 0 is rare, so that all of it fits */
			uint64_t trace = (uint64_t)g_rand_int_range(random, 0, 800);

			of[i] = trace < 10 ? trace : trace % 9 + 1;
			g_array_append_val(sent[of[i]], number);
		}
		if (batch == 3)
			want(0);
		pass(of, here, (size_t)g_rand_int_range(random, 4, 60));
	}
	for (uint64_t trace = 0; trace < 10; trace++) {
		uint32_t missed;
		g_autoptr(GPtrArray) found = traces_find(traces, 0, trace, &missed);
		guint first = sent[trace]->len - found->len;

		ck_assert_uint_le(found->len, sent[trace]->len);
		ck_assert_uint_eq(missed, 0);
		if (trace == 0)
			ck_assert_uint_eq(first, 0);
		else
			ck_assert_uint_gt(first, 0); /* the ring is not that large */
		ck_assert_uint_gt(found->len, 0);
		for (guint i = 0; i < found->len; i++)
			ck_assert_uint_eq(
				number_of(found, i), g_array_index(sent[trace], uint32_t, first + i));
		g_array_unref(sent[trace]);
	}
}
END_TEST

static void pass_others(uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		pass((const uint64_t[]){999}, 1, 100);
}

/* A trace gets no more than its part, and says what it missed. */
START_TEST(a_large_trace_is_cut)
{
	uint32_t missed;

	want(1);
	for (int i = 0; i < 400; i++)
		pass((const uint64_t[]){1}, 1, 100);
	pass_others(1000);
	ck_assert_uint_gt(count_of(1, &missed), 0);
	ck_assert_uint_gt(missed, 0);
	ck_assert_uint_eq(count(1) + missed, 400);
	ck_assert_uint_le(count(1) * 100, BYTES / 16);
}
END_TEST

START_TEST(an_item_that_is_too_large_is_missed)
{
	uint32_t missed;

	want(1);
	pass((const uint64_t[]){1}, 1, BYTES);
	pass((const uint64_t[]){1, 2}, 2, 40);
	ck_assert_uint_eq(count_of(1, &missed), 1);
	ck_assert_uint_eq(missed, 1);
}
END_TEST

/* Listed traces stay, and the latest of the others; memory is bounded. */
START_TEST(listed_ones_stay)
{
	const uint64_t listed[] = {1, 2, 3};

	for (uint64_t trace = 1; trace <= 4; trace++)
		want(trace);
	pass((const uint64_t[]){1, 2, 3, 4}, 4, 100);
	pass_others(1000);
	traces_keep_only(traces, listed, 3);
	ck_assert_uint_eq(count(4), 0);
	for (uint64_t trace = 1000; trace < 3000; trace++) {
		want(trace);
		pass(&trace, 1, 100);
	}
	pass_others(1000);
	for (uint64_t trace = 1; trace <= 3; trace++)
		ck_assert_uint_eq(count(trace), 1);
	ck_assert_uint_eq(count(1000), 0);
	ck_assert_uint_eq(count(2999), 1);
	pass((const uint64_t[]){5}, 1, 100);
	traces_keep_only(traces, (const uint64_t[]){1, 2, 3, 5}, 4);
	pass_others(1000);
	ck_assert_uint_eq(count(2999), 0);
	ck_assert_uint_eq(count(5), 1);
	traces_keep_only(traces, NULL, 0);
	for (uint64_t trace = 1; trace <= 3; trace++)
		ck_assert_uint_eq(count(trace), 0);
}
END_TEST

/* However large the ring is, and whatever is in it. */
START_TEST(so_much_is_found_at_most)
{
	const uint64_t mine[] = {7, 7, 7, 7, 7, 7, 7, 7, 7, 7};
	uint32_t missed;

	traces_destroy(traces);
	traces = traces_create(64 << 20);
	for (int i = 0; i < 1000; i++)
		pass(mine, 10, 50);
	ck_assert_uint_eq(count_of(7, &missed), TRACES_FOUND_MAX);
	ck_assert_uint_eq(missed, 10000 - TRACES_FOUND_MAX);
	for (int i = 0; i < 100; i++)
		pass((const uint64_t[]){8}, 1, 100000);
	ck_assert_uint_eq(count_of(8, &missed), TRACES_FOUND_BYTES / 100000);
	ck_assert_uint_eq(missed, 100 - TRACES_FOUND_BYTES / 100000);
}
END_TEST

/* Sizes that make no sense do no harm. */
START_TEST(hardly_any_memory)
{
	for (size_t bytes = 1; bytes < 2000; bytes += bytes < 300 ? 1 : 53) {
		traces_destroy(traces);
		traces = traces_create(bytes);
		want(1);
		for (uint64_t i = 0; i < 40; i++)
			pass((const uint64_t[]){i % 3}, 1, 4 + i);
		ck_assert_uint_le(count(1), 14);
	}
}
END_TEST

START_TEST(without_memory_nothing_is_kept)
{
	struct traces *none = traces_create(0);
	uint32_t missed;
	g_autoptr(GPtrArray) found = traces_find(none, 0, 1, &missed);

	ck_assert_ptr_null(none);
	traces_take(none, NULL, (const uint64_t[]){1}, 1);
	traces_keep_only(none, NULL, 0);
	ck_assert_uint_eq(found->len, 0);
	traces_destroy(none);
}
END_TEST

/* An exemplar's trace is wanted if its part had no other one just before. */
START_TEST(rare_exemplars_are_wanted)
{
	static const struct {
		int64_t ms;
		bool wanted;
	} offers[] = {{0, true}, {50, false}, {100, false}, {1900, false}, {4000, true}, {4200, false}};
	struct exemplars *exemplars = exemplars_create(2);
	size_t count;

	for (size_t i = 0; i < G_N_ELEMENTS(offers); i++) {
		const struct trait trait = {.trace_id = i + 1, .duration = 5};
		const uint64_t *taken;

		exemplars_set_time(exemplars, NS_PER_SECOND * 1000 + offers[i].ms * NS_PER_MS);
		exemplars_offer(exemplars, 1, &trait);
		taken = exemplars_taken(exemplars, &count);
		ck_assert_uint_eq(count, offers[i].wanted);
		ck_assert(!count || taken[0] == i + 1);
	}
	exemplars_forget(exemplars, 1);
	exemplars_set_time(exemplars, NS_PER_SECOND * 1005);
	exemplars_offer(exemplars, 1, &(struct trait){.trace_id = 9});
	exemplars_taken(exemplars, &count);
	ck_assert_uint_eq(count, 1);
	exemplars_destroy(exemplars);
}
END_TEST

/* Showing */

static void assert_well_formed(const struct buffer *html)
{
	static const GMarkupParser parser = {NULL};
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
	GError *error = NULL;

	if (!g_markup_parse_context_parse(context, (const char *)html->data, (gssize)html->size, &error) ||
		!g_markup_parse_context_end_parse(context, &error))
		ck_abort_msg("%s in: %.*s", error->message, (int)html->size, (const char *)html->data);
	g_markup_parse_context_free(context);
}

static void show(uint64_t high, uint64_t trace, guint spans)
{
	const struct config config = {.ui = "http://x/{trace}?a&b",
		.kernel_events = "sched_switch",
		.kernel_syscalls = "",
		.kernel_functions = ""};
	g_autofree char *query = high ? g_strdup_printf("id=%016" PRIx64 "%016" PRIx64, high, trace)
				      : g_strdup_printf("id=%016" PRIx64, trace);
	struct buffer html = {0};
	struct found_trace found;

	ck_assert_ptr_null(tracefind(&found, traces, "/nowhere", query));
	ck_assert_uint_eq(found.spans->len, spans);
	buffer_printf(&html, "<main>");
	waterfall_write(&html, &found, &config);
	buffer_printf(&html, "</main>");
	assert_well_formed(&html);
	found_trace_clear(&found);
	buffer_free(&html);
}

/* Of spans of any kind, in any format: markup stays ours, and none of them is missing. */
START_TEST(any_trace_can_be_shown)
{
	struct random_spans *random = random_spans_create((uint32_t)_i + 1);
	static const uint8_t formats[] = {
		BATCH_SPAN_RECORDS, BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS};
	uint8_t format = formats[_i % 4];

	traces_destroy(traces);
	traces = traces_create(64 << 20);
	for (int i = 0; i < 30; i++) {
		struct batch *items = batch_create(format, 1, 1000);
		struct items all = {.batch = items};
		struct buffer put = {0};
		struct span span;

		while (items->count < (uint32_t)i % 7 + 1) {
			struct trait trait;
			struct buffer encoded = {0};

			span = *random_span(random, true);
			span.trace_id = (uint64_t)i + 1;
			span.trace_id_high = (uint64_t)i % 2;
			span.parent_id = i % 3 ? span.id - 1 : span.parent_id;
			ck_assert_int_ge(format_encode(format, &encoded, &span), 0);
			batch_add(items, encoded.data, encoded.size, 0);
			trait = trait_of(&span);
			buffer_put(&put, &trait, sizeof(trait));
			buffer_free(&encoded);
		}
		all.traits = (const struct trait *)(const void *)put.data;
		traces_take(traces, &all, NULL, 0);
		show((uint64_t)i % 2, (uint64_t)i + 1, items->count);
		buffer_free(&put);
		batch_unref(items);
	}
	show(0, 12345, 0);
	random_spans_free(random);
}
END_TEST

START_TEST(only_ids_are_asked_for)
{
	static const char *const wrong[] = {NULL, "", "id", "id=", "id=1", "id=zzzzzzzzzzzzzzzz",
		"id=00000000000000001", "id=000000000000000g0000000000000001", "ID=0000000000000001",
		"id=%3Cb%3E"};
	struct found_trace found;

	for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
		ck_assert_ptr_nonnull(tracefind(&found, traces, "/nowhere", wrong[i]));
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("traces");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, what_is_wanted_stays, 0, 20);
	tcase_add_test(cases, a_large_trace_is_cut);
	tcase_add_test(cases, an_item_that_is_too_large_is_missed);
	tcase_add_test(cases, listed_ones_stay);
	tcase_add_test(cases, so_much_is_found_at_most);
	tcase_add_test(cases, hardly_any_memory);
	tcase_add_test(cases, rare_exemplars_are_wanted);
	tcase_add_test(cases, without_memory_nothing_is_kept);
	tcase_add_loop_test(cases, any_trace_can_be_shown, 0, 12);
	tcase_add_test(cases, only_ids_are_asked_for);
	return run_cases("traces", cases);
}
