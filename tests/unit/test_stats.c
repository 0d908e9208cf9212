/* SPDX-License-Identifier: BSD-2-Clause */
/* The statistics: against exact ones of the same spans, within their bounds, and what is no statistics. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "stats/figures.h"

#include "run.h"
#include "stats_rig.h"

/* Histograms */

static int compare(const void *a, const void *b)
{
	const uint64_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

/* Values of each size there is: uniform, of all octaves, in two heaps, all the same. */
static uint64_t draw(GRand *random, int kind)
{
	switch (kind) {
	case 0:
		return (uint64_t)g_rand_int_range(random, 1, 1000000);
	case 1:
		return (uint64_t)exp(g_rand_double(random) * 34) + 1;
	case 2:
		return g_rand_boolean(random) ? 200 : (uint64_t)g_rand_int_range(random, 5000000, 5100000);
	default:
		return 123456789;
	}
}

static void fill(struct histogram *histogram, const uint64_t *values, int count)
{
	uint64_t counts[HISTOGRAM_BUCKETS] = {0};

	for (int i = 0; i < count; i++)
		counts[histogram_bucket(values[i])]++;
	for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (counts[i])
			histogram_append(histogram, i, counts[i]);
}

START_TEST(buckets_are_in_order)
{
	for (unsigned i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
		uint64_t least = histogram_least(i), next = histogram_least(i + 1);

		ck_assert_uint_lt(least, next);
		ck_assert_uint_eq(histogram_bucket(least), i);
		ck_assert_uint_eq(histogram_bucket(next - 1), i);
		ck_assert_double_le(
			(histogram_middle(i) - (double)least) / (double)MAX(least, 1), HISTOGRAM_ERROR);
		ck_assert_double_le(
			((double)(next - 1) - histogram_middle(i)) / (double)(next - 1 ? next - 1 : 1),
			HISTOGRAM_ERROR);
	}
	ck_assert_uint_eq(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}
END_TEST

START_TEST(quantiles_are_within_the_error)
{
	static const double quantiles[] = {0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1};
	enum { COUNT = 20000 };
	GRand *random = g_rand_new_with_seed(13);
	g_autofree uint64_t *values = g_new(uint64_t, COUNT);
	struct histogram histogram = {0};

	for (int i = 0; i < COUNT; i++)
		values[i] = draw(random, _i);
	fill(&histogram, values, COUNT);
	qsort(values, COUNT, sizeof(*values), compare);
	ck_assert_uint_eq(histogram_total(&histogram), COUNT);
	for (size_t i = 0; i < G_N_ELEMENTS(quantiles); i++) {
		double exact = (double)values[(int)ceil(COUNT * quantiles[i]) - 1],
		       told = histogram_quantile(&histogram, quantiles[i]);

		ck_assert_msg(fabs(told - exact) <= exact * HISTOGRAM_ERROR, "%g: %g, not %g", quantiles[i],
			told, exact);
	}
	histogram_clear(&histogram);
	g_rand_free(random);
}
END_TEST

static void assert_equal(const struct histogram *one, const struct histogram *other)
{
	ck_assert_uint_eq(one->used, other->used);
	for (uint32_t i = 0; i < one->used; i++) {
		ck_assert_uint_eq(one->counts[i].bucket, other->counts[i].bucket);
		ck_assert_uint_eq(one->counts[i].count, other->counts[i].count);
	}
}

/* Two added up are that of all values; what is taken away again leaves the first. */
START_TEST(histograms_add_up)
{
	uint64_t values[2000];
	struct histogram one = {0}, other = {0}, all = {0}, sum = {0};
	GRand *random = g_rand_new_with_seed(14);

	for (int i = 0; i < 2000; i++)
		values[i] = draw(random, 1);
	fill(&one, values, 500);
	fill(&other, values + 500, 1500);
	fill(&all, values, 2000);
	histogram_merge(&sum, &one);
	histogram_merge(&sum, &other);
	assert_equal(&sum, &all);
	histogram_subtract(&sum, &other);
	assert_equal(&sum, &one);
	ck_assert_double_eq(histogram_quantile(&(struct histogram){0}, 0.99), 0);
	histogram_clear(&one);
	histogram_clear(&other);
	histogram_clear(&all);
	histogram_clear(&sum);
	g_rand_free(random);
}
END_TEST

/* Counting */

static const struct series *find(const struct snapshot *snapshot, const char *service, const char *name)
{
	for (guint i = 0; i < snapshot->series->len; i++) {
		const struct series *series = &g_array_index(snapshot->series, struct series, i);

		if (!g_strcmp0(series->service, service) && !g_strcmp0(series->name, name))
			return series;
	}
	return NULL;
}

START_TEST(spans_are_counted)
{
	struct snapshot snapshot;
	const struct series *series;
	struct figures figures;

	add("osd.0", "write", 1000000, false, 10);
	add("osd.0", "write", 3000000, true, 10);
	add("osd.1", "write", 5000000, false, 11);
	ck_assert(take());
	add("osd.0", "write", 0, false, 10); /* it is not known how long it took */
	add("osd.0", "größe", 7000000, false, 10);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(snapshot.series->len, 3);
	series = find(&snapshot, "osd.0", "write");
	ck_assert_uint_eq(series->spans, 3);
	ck_assert_uint_eq(series->timed, 2);
	ck_assert_uint_eq(series->errors, 1);
	ck_assert_uint_eq(series->max, 3000000);
	figures_of_series(&figures, series, NS_PER_SECOND, figures_time(&snapshot));
	ck_assert_double_eq(figures.mean, 2000);
	ck_assert_double_eq(figures.rate, 3);
	ck_assert_double_eq(figures.share, 0.25);
	ck_assert_double_eq_tol(figures.p50, 1000, 1000 * HISTOGRAM_ERROR);
	ck_assert_double_le(figures.p99, figures.max);
	ck_assert_uint_eq(find(&snapshot, "osd.0", "größe")->spans, 1);
	ck_assert_uint_eq(snapshot.programs->len, 2);
	ck_assert_uint_eq(g_array_index(snapshot.programs, struct program, 0).spans, 4);
	ck_assert_uint_eq(g_array_index(snapshot.programs, struct program, 0).user, 7);
	snapshot_clear(&snapshot);
}
END_TEST

/* For the flight recorder, where users take turns. */
START_TEST(whose_they_are)
{
	struct batch counted = {0};
	struct items spans;

	add("osd.0", "write", 1000, false, 1);
	user = 8;
	add("osd.0", "write", 1000, false, 2);
	spans = items_of(&counted);
	ck_assert(statistics_take(namer, &spans));
	ck_assert_uint_eq(statistics_user_of(namer, &spans, 0), 7);
	ck_assert_uint_eq(statistics_user_of(namer, &spans, 1), 8);
}
END_TEST

/* Whatever bytes they have; they are as they are shown. */
START_TEST(names_are_told_apart)
{
	struct snapshot snapshot;

	add("osd.0\1b", "c", 1, false, 1);
	add("osd.0", "b\1c", 1, false, 1);
	add("osd.0\xff"
	    "b",
		"c", 1, false, 1);
	add("osd.0",
		"b\xff"
		"c",
		1, false, 1);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(snapshot.series->len, 4);
	ck_assert_uint_eq(find(&snapshot, "osd.0", "b\u2401c")->spans, 1);
	snapshot_clear(&snapshot);
}
END_TEST

/* Names beyond those that have room are together, and nothing is counted twice or not at all. */
START_TEST(names_are_bounded)
{
	enum { NAMES = STATISTICS_SERIES_MAX + 2500 };
	struct snapshot snapshot;
	char name[32];
	uint64_t spans = 0;

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < NAMES; i++) {
			snprintf(name, sizeof(name), "name %d", i);
			add("service", name, i + 1, false, 1);
		}
		ck_assert(take());
	}
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(snapshot.series->len, STATISTICS_SERIES_MAX + 1);
	for (guint i = 0; i < snapshot.series->len; i++)
		spans += g_array_index(snapshot.series, struct series, i).spans;
	ck_assert_uint_eq(spans, 2 * NAMES);
	ck_assert_uint_eq(find(&snapshot, NULL, NULL)->spans, 2 * 2500);
	ck_assert_uint_ge(snapshot.unnamed, 2500);
	ck_assert_uint_eq(find(&snapshot, "service", "name 77")->spans, 2);
	snapshot_clear(&snapshot);
}
END_TEST

/* As many names as there is room for have a place each, so that nobody tells them again and again. */
START_TEST(names_are_told_once)
{
	char service[32], name[32];
	size_t told[2];

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < STATISTICS_SERIES_MAX; i++) {
			snprintf(service, sizeof(service), "service %d", i % 1000);
			snprintf(name, sizeof(name), "name %d", i);
			add(service, name, i + 1, false, 1);
		}
		told[round] = words.size;
		ck_assert(take());
	}
	ck_assert_uint_lt(told[1], told[0] / 20);
}
END_TEST

/* Programs come and go: those that are at work are listed, and one that comes back is itself again. */
START_TEST(programs_make_room)
{
	enum { PROGRAMS = 5 * STATISTICS_PROGRAMS_MAX };
	struct snapshot snapshot;
	uint64_t spans = 0, first = 0;

	add("s", "n", 1, false, 1);
	for (uint32_t i = 2; i <= PROGRAMS; i++) {
		add("s", "n", 1, false, i);
		ck_assert(take());
	}
	add("s", "n", 1, false, 1);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(snapshot.programs->len, STATISTICS_PROGRAMS_MAX + 1);
	for (guint i = 0; i < snapshot.programs->len; i++) {
		const struct program *program = &g_array_index(snapshot.programs, struct program, i);

		spans += program->spans;
		first += program->name && program->pid == 1 ? program->spans : 0;
	}
	ck_assert_uint_eq(spans, PROGRAMS + 1);
	ck_assert_uint_eq(first, 1); /* what it did before is among the earlier ones */
	snapshot_clear(&snapshot);
}
END_TEST

START_TEST(another_reader_has_its_own_numbers)
{
	struct snapshot snapshot;

	add("one", "n", 1, false, 1);
	ck_assert(take());
	names_destroy(names);
	names = names_create();
	statistics_begin(namer);
	add("two", "n", 1, false, 1);
	add("one", "n", 1, false, 1);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(find(&snapshot, "one", "n")->spans, 2);
	ck_assert_uint_eq(find(&snapshot, "two", "n")->spans, 1);
	ck_assert_uint_eq(snapshot.programs->len, 1);
	snapshot_clear(&snapshot);
}
END_TEST

/* What programs hand to an input has its own numbers for the same names. */
START_TEST(an_input_counts_in_the_same_series)
{
	struct names *of_reader = names, *of_input = names_create();
	struct snapshot snapshot;

	add("one", "n", 1, false, 1);
	add("two", "n", 1, false, 1);
	ck_assert(take());
	names = of_input;
	namer = statistics_namer(statistics, 0);
	add("two", "n", 1, false, 2);
	add("three", "n", 1, false, 2);
	ck_assert(take());
	statistics_begin(namer); /* which is no matter to the reader */
	names = of_reader;
	namer = statistics_namer(statistics, STATISTICS_READER);
	add("one", "n", 1, false, 1);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	ck_assert_uint_eq(find(&snapshot, "one", "n")->spans, 2);
	ck_assert_uint_eq(find(&snapshot, "two", "n")->spans, 2);
	ck_assert_uint_eq(find(&snapshot, "three", "n")->spans, 1);
	ck_assert_uint_eq(snapshot.programs->len, 2);
	snapshot_clear(&snapshot);
	names_destroy(of_input);
}
END_TEST

/* Whatever a reader says: it is refused, or counted, and nothing is touched that is not ours. */
START_TEST(forged_names_are_refused)
{
	add("one", "n", 1, false, 1);
	words.size = 0;
	ck_assert_msg(!take(), "numbers of which nobody knows what they mean");
	add("three", "n", 1, false, 3);
	memset(named.data, 0xff, named.size);
	ck_assert_msg(!take(), "numbers that are none");
	for (size_t i = 0; i < 60 * 255; i++) {
		statistics_begin(namer);
		names_destroy(names);
		names = names_create();
		add("four", "name", 1, false, 4);
		add("five", "name", 1, false, 5);
		words.data[i / 255 % words.size] ^= (uint8_t)(i % 255 + 1);
		take();
	}
	for (size_t cut = 1; cut < 60; cut++) {
		statistics_begin(namer);
		names_destroy(names);
		names = names_create();
		add("four", "name", 1, false, 4);
		words.size = MIN(words.size - 1, cut);
		ck_assert(!take());
	}
}
END_TEST

/* Snapshots */

START_TEST(a_snapshot_travels)
{
	struct snapshot snapshot, copy;
	struct buffer out = {0};
	struct unpacker from;

	add("osd.0", "write", 1000000, true, 10);
	add("osd.0", "read", 2000, false, 10);
	ck_assert(take());
	statistics_read(statistics, &snapshot);
	snapshot_pack(&out, &snapshot);
	from = unpacker_of(out.data, out.size);
	ck_assert(snapshot_unpack(&from, &copy));
	ck_assert_uint_eq(find(&copy, "osd.0", "write")->errors, 1);
	ck_assert_int_eq(copy.age, snapshot.age);
	ck_assert_uint_eq(find(&copy, "osd.0", "read")->histogram.counts[0].bucket, histogram_bucket(2000));
	snapshot_clear(&copy);
	for (size_t size = 0; size < out.size; size++) {
		from = unpacker_of(out.data, size);
		ck_assert(!snapshot_unpack(&from, &copy));
		snapshot_clear(&copy);
	}
	for (size_t i = 0; i < out.size; i++) {
		out.data[i] ^= 0xff;
		from = unpacker_of(out.data, out.size);
		snapshot_unpack(&from, &copy);
		snapshot_clear(&copy);
		out.data[i] ^= 0xff;
	}
	buffer_free(&out);
	snapshot_clear(&snapshot);
}
END_TEST

START_TEST(what_came_about_since)
{
	struct snapshot before, now;
	const struct series *series;

	add("a", "n", 8000, true, 10);
	add("b", "n", 1000, false, 11);
	ck_assert(take());
	statistics_read(statistics, &before);
	add("a", "n", 2000, false, 10);
	add("a", "n", 4000, false, 10);
	add("c", "n", 9000, false, 10);
	ck_assert(take());
	statistics_read(statistics, &now);
	snapshot_subtract(&now, &before);
	ck_assert_uint_eq(now.series->len, 2);
	series = find(&now, "a", "n");
	ck_assert_uint_eq(series->spans, 2);
	ck_assert_uint_eq(series->errors, 0);
	ck_assert_uint_eq(series->sum, 6000);
	ck_assert_double_eq_tol((double)series->max, 4000, 4000 * HISTOGRAM_ERROR);
	ck_assert_uint_eq(find(&now, "c", "n")->max, 9000);
	ck_assert_uint_eq(now.programs->len, 1);
	ck_assert_uint_eq(g_array_index(now.programs, struct program, 0).max, 9000); /* is new */
	snapshot_clear(&before);
	snapshot_clear(&now);
}
END_TEST

START_TEST(a_programs_maximum_is_none_of_before)
{
	struct snapshot before, now;
	struct figures figures;

	add("a", "n", 8000, false, 10);
	ck_assert(take());
	statistics_read(statistics, &before);
	add("a", "n", 2000, false, 10);
	ck_assert(take());
	statistics_read(statistics, &now);
	figures_of_program(&figures, &g_array_index(now.programs, struct program, 0), now.age, 1);
	ck_assert_double_eq(figures.max, 8);
	snapshot_subtract(&now, &before);
	figures_of_program(&figures, &g_array_index(now.programs, struct program, 0), now.age, 1);
	ck_assert_double_eq(figures.mean, 2);
	ck_assert_double_nan(figures.max);
	snapshot_clear(&before);
	snapshot_clear(&now);
}
END_TEST

int main(void)
{
	TCase *histograms = tcase_create("histograms"), *counting = tcase_create("counting");
	Suite *suite = suite_create("stats");

	tcase_add_test(histograms, buckets_are_in_order);
	tcase_add_loop_test(histograms, quantiles_are_within_the_error, 0, 4);
	tcase_add_test(histograms, histograms_add_up);
	suite_add_tcase(suite, histograms);
	tcase_add_checked_fixture(counting, make_statistics, end_statistics);
	tcase_set_timeout(counting, 60);
	tcase_add_test(counting, spans_are_counted);
	tcase_add_test(counting, whose_they_are);
	tcase_add_test(counting, names_are_told_apart);
	tcase_add_test(counting, names_are_bounded);
	tcase_add_test(counting, names_are_told_once);
	tcase_add_test(counting, programs_make_room);
	tcase_add_test(counting, another_reader_has_its_own_numbers);
	tcase_add_test(counting, an_input_counts_in_the_same_series);
	tcase_add_test(counting, forged_names_are_refused);
	tcase_add_test(counting, a_snapshot_travels);
	tcase_add_test(counting, what_came_about_since);
	tcase_add_test(counting, a_programs_maximum_is_none_of_before);
	suite_add_tcase(suite, counting);
	return run_all(srunner_create(suite));
}
