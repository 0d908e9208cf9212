/* SPDX-License-Identifier: BSD-2-Clause */
/* The metrics of spans: exact, bounded, in the form that is asked for, whatever the names are. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "status/exposition.h"
#include "status/spanmetrics.h"

#include "run.h"
#include "stats_rig.h"

static struct buffer page;

static void setup(void)
{
	make_statistics();
}

static void teardown(void)
{
	end_statistics();
	buffer_free(&page);
}

static void add_of_trace(
	uint64_t high, uint64_t low, const char *service, const char *name, int64_t duration, bool error)
{
	static const struct tag failed = {{"error", 5}, {"", 0}, TAG_TEXT};
	struct span span = {.trace_id_high = high,
		.trace_id = low,
		.local.service = text_of(service),
		.name = text_of(name),
		.duration = duration,
		.tags = &failed,
		.tag_count = error};
	struct name_keys keys = names_keys(names, &span);
	struct named its = names_of(names, &span, &keys, waiting++, &words);

	buffer_put(&named, &its, sizeof(its));
	put_trait(&span);
}

static void write_page(uint64_t listed, enum exposition form)
{
	page.size = 0;
	spanmetrics_write(&page, statistics, listed, form);
	buffer_put(&page, "", 1);
}

static void expect(const char *line)
{
	g_autofree char *whole = g_strdup_printf("\n%s\n", line);

	ck_assert_msg(strstr((const char *)page.data, whole), "no line %s in\n%s", line, page.data);
}

/* Cuts the next line off; NULL at the end. (strstr of a sanitizer measures all the rest each time.) */
static char *next_line(const uint8_t **at)
{
	const uint8_t *begin = *at, *end = memchr(begin, '\n', (size_t)(page.data + page.size - begin));

	if (!end)
		return NULL;
	*at = end + 1;
	return g_strndup((const char *)begin, (size_t)(end - begin));
}

static unsigned lines_with(const char *part)
{
	const uint8_t *at = page.data;
	unsigned found = 0;

	for (char *line; (line = next_line(&at)); g_free(line))
		found += strstr(line, part) != NULL;
	return found;
}

/* The sum of all samples whose line begins so. */
static double sum_of(const char *begin)
{
	const uint8_t *at = page.data;
	double sum = 0;

	for (char *line; (line = next_line(&at)); g_free(line))
		if (g_str_has_prefix(line, begin))
			sum += g_ascii_strtod(strstr(line, "} ") + 2, NULL);
	return sum;
}

#define OF_WRITE "{service=\"osd.0\",span=\"write\""

START_TEST(spans_are_exact)
{
	add("osd.0", "write", 1000, false, 1);
	add("osd.0", "write", 1023, true, 1);
	add("osd.0", "write", 1024, false, 1);
	add("osd.0", "write", 5000000, false, 1);
	add("osd.0", "write", INT64_C(40) * NS_PER_SECOND, false, 1); /* beyond the last bound */
	add("osd.0", "write", 0, false, 1);                           /* not known */
	ck_assert(take());
	write_page(10, EXPOSITION_TEXT);
	expect("blkin_spans_total" OF_WRITE "} 6");
	expect("blkin_spans_errors_total" OF_WRITE "} 1");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"1.024e-06\"} 2");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"2.048e-06\"} 3");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"0.004194304\"} 3");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"0.008388608\"} 4");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"34.359738368\"} 4");
	expect("blkin_span_duration_seconds_bucket" OF_WRITE ",le=\"+Inf\"} 5");
	expect("blkin_span_duration_seconds_sum" OF_WRITE "} 40.005003047");
	expect("blkin_span_duration_seconds_count" OF_WRITE "} 5");
	expect("blkin_span_names{listed=\"yes\"} 1");
	ck_assert_uint_eq(lines_with("le=\""), SPANMETRICS_LAST - SPANMETRICS_FIRST + 2);
	ck_assert_ptr_null(strstr((const char *)page.data, "{service=\"other\""));
}
END_TEST

/* Each octave of a histogram lies within one bucket. */
START_TEST(bounds_are_the_histograms)
{
	for (int bits = SPANMETRICS_FIRST; bits <= SPANMETRICS_LAST; bits++) {
		uint64_t bound = UINT64_C(1) << bits;

		ck_assert_uint_eq(histogram_least(histogram_bucket(bound)), bound);
		ck_assert_uint_eq(histogram_bucket(bound) % HISTOGRAM_STEPS, 0);
	}
}
END_TEST

START_TEST(hostile_names)
{
	add("a\"} 1\nforged 2", "back\\slash", 1000, false, 1);
	add("other", "other", 1000, false, 1);
	add("other", "n", 1000, false, 1);
	add("", "", 1000, false, 1);
	add("broken \xff", "\x01\x1b[2J", 1000, false, 1);
	add("late", "n", 1000, false, 1);
	ck_assert(take());
	write_page(5, EXPOSITION_TEXT);
	expect("blkin_spans_total{service=\"a\\\"} 1\xe2\x90\x8a"
	       "forged 2\",span=\"back\\\\slash\"} 1");
	expect("blkin_spans_total{service=\"other\",span=\"n\"} 1");
	expect("blkin_spans_total{service=\"\",span=\"\"} 1");
	expect("blkin_spans_total{service=\"broken \xef\xbf\xbd\",span=\"\xe2\x90\x81\xe2\x90\x9b[2J\"} 1");
	expect("blkin_spans_total{service=\"other\",span=\"other\"} 2"); /* the one of that name, and the late
									     one */
	ck_assert_uint_eq(lines_with("blkin_spans_total{"), 5);
	ck_assert_ptr_null(strstr((const char *)page.data, "\nforged"));
	ck_assert(g_utf8_validate((const char *)page.data, -1, NULL));
}
END_TEST

/* Names that are shown alike are one series, or the scraper would refuse them all; with all that they
 * counted. */
START_TEST(names_that_look_alike)
{
	static const char *const alike[] = {"\x1b[2J", "\xe2\x90\x9b[2J"};
	static const char *const turned[] = {"\xe2\x80\xaego", "\xc2\x9bgo", "\xffgo", "\xef\xbf\xbdgo"};

	for (size_t i = 0; i < G_N_ELEMENTS(alike); i++)
		add("s", alike[i], 1000, i == 0, 1);
	for (size_t i = 0; i < G_N_ELEMENTS(turned); i++)
		add("s", turned[i], 1000, false, 1);
	add("\x1b", "joined \xe2\x80\x8d", 1000, false, 1);
	ck_assert(take());
	for (int form = EXPOSITION_TEXT; form <= EXPOSITION_OPENMETRICS; form++) {
		write_page(5, (enum exposition)form);
		ck_assert_uint_eq(lines_with("blkin_spans_total{"), 3);
		expect("blkin_spans_total{service=\"s\",span=\"\xe2\x90\x9b[2J\"} 2");
		expect("blkin_spans_errors_total{service=\"s\",span=\"\xe2\x90\x9b[2J\"} 1");
		expect("blkin_span_duration_seconds_count{service=\"s\",span=\"\xe2\x90\x9b[2J\"} 2");
		expect("blkin_spans_total{service=\"s\",span=\"\xef\xbf\xbdgo\"} 4");
		expect("blkin_spans_total{service=\"\xe2\x90\x9b\",span=\"joined \xe2\x80\x8d\"} 1");
	}
}
END_TEST

/* A counter never goes back: who was listed stays so, and what is in "other" stays there. */
START_TEST(names_are_bounded)
{
	enum { NAMES_SEEN = 10000, LISTED = 2000 };
	char name[160];
	int64_t began;

	for (int i = 0; i < NAMES_SEEN + 100; i++) {
		snprintf(name, sizeof(name), "%0120d", i);
		add("service", name, 1 + (INT64_C(1) << i % 40), i % 2, 1);
		if (waiting == 100)
			ck_assert(take());
	}
	began = clock_monotonic();
	write_page(LISTED, EXPOSITION_OPENMETRICS);
	printf("%zu bytes in %.1f ms\n", page.size, (double)(clock_monotonic() - began) / 1e6);
	ck_assert_uint_lt(page.size, (size_t)LISTED * 32 * 300);
	ck_assert_uint_eq(lines_with("blkin_spans_total{"), LISTED + 1);
	ck_assert_double_eq(sum_of("blkin_spans_total{"), NAMES_SEEN + 100);
	ck_assert_double_eq(sum_of("blkin_spans_errors_total{"), (NAMES_SEEN + 100) / 2);
	ck_assert_double_eq(sum_of("blkin_span_duration_seconds_count{"), NAMES_SEEN + 100);
	expect("blkin_spans_total{service=\"other\",span=\"other\"} 8100");
	expect("blkin_span_names{listed=\"yes\"} 2000");
	expect("blkin_span_names{listed=\"no\"} 8000");
	snprintf(name, sizeof(name), "%0120d", 9000);
	for (int i = 0; i < 1000; i++)
		add("service", name, 1000, false, 1);
	ck_assert(take());
	write_page(LISTED, EXPOSITION_TEXT);
	expect("blkin_spans_total{service=\"other\",span=\"other\"} 9100");
	write_page(0, EXPOSITION_TEXT);
	ck_assert_uint_eq(lines_with("blkin_spans_total{"), 1);
	expect("blkin_spans_total{service=\"other\",span=\"other\"} 11100");
	ck_assert_uint_lt(page.size, 8192);
}
END_TEST

/* When the room for fine histograms is used up, all are counted all the same, and the mean is that of all. */
START_TEST(room_for_buckets_ends)
{
	double spans, timed, sum;
	char name[32];

	for (int octave = 0; octave < 9; octave++) {
		for (int i = 0; i < 10000; i++) {
			snprintf(name, sizeof(name), "name %d", i);
			add("service", name, INT64_C(1000) << octave, false, 1);
		}
		ck_assert(take());
	}
	write_page(0, EXPOSITION_TEXT);
	spans = sum_of("blkin_spans_total{");
	timed = sum_of("blkin_span_duration_seconds_count{");
	sum = sum_of("blkin_span_duration_seconds_sum{");
	ck_assert_double_eq(spans, 90000);
	ck_assert_double_eq(timed, 90000);
	ck_assert_double_eq(
		sum_of("blkin_span_duration_seconds_bucket{service=\"other\",span=\"other\",le=\"+Inf\"}"),
		timed);
	ck_assert_double_eq_tol(sum / timed, 511 * 1000 / 9 / 1e9, 1e-9);
}
END_TEST

START_TEST(exemplars_lead_to_traces)
{
	struct keep keep = {.one_in = 1};

	statistics_show(statistics, &keep);
	add_of_trace(0xabc, 0x12, "osd.0", "write", 3000, false);
	add_of_trace(0, 0x34, "osd.0", "write", 3100, false); /* soon after: the first one has the place */
	add_of_trace(0, 0x56, "osd.0", "write", 5000000, false);
	ck_assert(take());
	write_page(10, EXPOSITION_TEXT);
	ck_assert_uint_eq(lines_with("trace_id"), 0);
	write_page(10, EXPOSITION_OPENMETRICS);
	ck_assert_uint_eq(lines_with("trace_id"), 2);
	ck_assert_ptr_nonnull(strstr((const char *)page.data,
		",le=\"4.096e-06\"} 2 # {trace_id=\"0000000000000abc0000000000000012\"} 0.000003000 "));
	ck_assert_ptr_nonnull(strstr((const char *)page.data,
		",le=\"0.008388608\"} 3 # {trace_id=\"0000000000000056\"} 0.005000000 "));
	g_usleep(EXEMPLARS_NS / 1000);
	add_of_trace(0, 0x78, "osd.0", "write", 3200, false);
	ck_assert(take());
	write_page(10, EXPOSITION_OPENMETRICS);
	ck_assert_ptr_nonnull(
		strstr((const char *)page.data, "# {trace_id=\"0000000000000078\"} 0.000003200 "));
}
END_TEST

/* What no output keeps is no exemplar. */
START_TEST(exemplars_are_kept)
{
	struct keep keep = {.one_in = 10};

	statistics_show(statistics, &keep);
	for (uint64_t id = 1; id <= 300; id++) {
		struct trait trait = {.trace_id = id};
		g_autofree char *words_of = g_strdup_printf("trace_id=\"%016" PRIx64 "\"", id);

		if (keep_takes(&keep, &trait))
			g_usleep(EXEMPLARS_NS / 1000);
		add_of_trace(0, id, "s", "n", 1000, false);
		ck_assert(take());
		write_page(10, EXPOSITION_OPENMETRICS);
		ck_assert_int_eq(lines_with(words_of), keep_takes(&keep, &trait));
	}
	ck_assert_uint_eq(lines_with("trace_id"), 1);
	keep = (struct keep){.one_in = UINT64_MAX, .errors = true};
	statistics_show(statistics, &keep);
	g_usleep(EXEMPLARS_NS / 1000);
	add_of_trace(0, 0xe, "s", "n", 1000, true);
	ck_assert(take());
	write_page(10, EXPOSITION_OPENMETRICS);
	ck_assert_uint_eq(lines_with("trace_id=\"000000000000000e\""), 1);
}
END_TEST

/* One thread counts while another looks: what belongs together is seen together, or not at all. */

static _Atomic bool looking;
static _Atomic unsigned seen;

static void look_at_series(
	void *data, uint32_t number, const struct series *series, const struct exemplar *exemplars)
{
	(void)data;
	(void)number;
	(void)series;
	for (int i = 0; i < HISTOGRAM_OCTAVES; i++) {
		if (!exemplars[i].time)
			continue;
		ck_assert_uint_eq(exemplars[i].trace_id_high, ~exemplars[i].trace_id);
		ck_assert_uint_eq(exemplars[i].duration, 1000 + exemplars[i].trace_id % 1000);
		seen++;
	}
}

static void look_at_programs(const struct snapshot *snapshot)
{
	for (guint i = 0; i < snapshot->programs->len; i++) {
		const struct program *program = &g_array_index(snapshot->programs, struct program, i);
		g_autofree char *name = g_strdup_printf("program %u", program->pid);

		if (program->name)
			ck_assert_str_eq(program->name, name);
	}
}

static gpointer look(gpointer data)
{
	(void)data;
	while (looking) {
		struct snapshot snapshot;

		statistics_each(statistics, look_at_series, NULL);
		statistics_read(statistics, &snapshot);
		look_at_programs(&snapshot);
		snapshot_clear(&snapshot);
	}
	return NULL;
}

START_TEST(looks_are_whole)
{
	GThread *thread;

	seen = 0;
	looking = true;
	thread = g_thread_new("look", look, NULL);
	for (uint32_t i = 1; i <= 20000 || (!seen && i < 1000000); i++) {
		g_autofree char *name = g_strdup_printf("program %u", i % 3000);
		struct span span = {.trace_id_high = ~(uint64_t)i,
			.trace_id = i,
			.local.service = text_of("s"),
			.name = text_of("n"),
			.duration = 1000 + i % 1000,
			.program = text_of(name),
			.pid = i % 3000};
		struct name_keys keys = names_keys(names, &span);
		struct named its = names_of(names, &span, &keys, waiting++, &words);

		buffer_put(&named, &its, sizeof(its));
		put_trait(&span);
		ck_assert(take());
	}
	looking = false;
	g_thread_join(thread);
	ck_assert_uint_gt(seen, 0);
}
END_TEST

/* Forms */

static const struct {
	const char *accept;
	enum exposition form;
} accepts[] = {
	{NULL, EXPOSITION_TEXT},
	{"", EXPOSITION_TEXT},
	{"*/*", EXPOSITION_TEXT},
	{"text/plain", EXPOSITION_TEXT},
	/* Prometheus 2.42, and 3 */
	{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
	 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		EXPOSITION_OPENMETRICS},
	{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/"
	 "openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
	 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		EXPOSITION_OPENMETRICS},
	{"application/openmetrics-text", EXPOSITION_OPENMETRICS},
	{"application/openmetrics-text; version=1.0.0; charset=utf-8", EXPOSITION_OPENMETRICS},
	{"application/openmetrics-text;version=0.0.1", EXPOSITION_TEXT},
	{"application/openmetrics-text;q=0", EXPOSITION_TEXT},
	{"application/openmetrics-text;q=0.3, text/plain;q=0.5", EXPOSITION_TEXT},
	{"application/openmetrics-textual", EXPOSITION_TEXT},
	{",;,;;q=,q=x", EXPOSITION_TEXT},
};

START_TEST(accept)
{
	ck_assert_int_eq(exposition_wanted(accepts[_i].accept), accepts[_i].form);
}
END_TEST

START_TEST(conversion)
{
	static const char text[] =
		"# HELP a_total All.\n# TYPE a_total counter\na_total{x=\"y\"} 3\n"
		"# HELP s_total Clash.\n# TYPE s_total counter\ns_total 1\n"
		"# HELP s State.\n# TYPE s gauge\ns{state=\"q\"} 2\n"
		"# HELP h Times.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"10\"} "
		"2\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n";
	static const char wanted[] =
		"# HELP a All.\n# TYPE a counter\na_total{x=\"y\"} 3\n"
		"# HELP s_total Clash.\n# TYPE s_total unknown\ns_total 1\n"
		"# HELP s State.\n# TYPE s gauge\ns{state=\"q\"} 2\n"
		"# HELP h Times.\n# TYPE h histogram\nh_bucket{le=\"0.5\"} 1\nh_bucket{le=\"10.0\"} "
		"2\nh_bucket{le=\"+Inf\"} 2\nh_sum 3\nh_count 2\n";
	struct buffer from = {0};

	buffer_put(&from, text, sizeof(text) - 1);
	exposition_convert(&page, &from);
	buffer_put(&page, "", 1);
	ck_assert_str_eq((const char *)page.data, wanted);
	buffer_free(&from);
}
END_TEST

int main(void)
{
	TCase *spans = tcase_create("spans"), *forms = tcase_create("forms");
	Suite *suite = suite_create("scrape");

	tcase_add_checked_fixture(spans, setup, teardown);
	tcase_add_checked_fixture(forms, setup, teardown);
	tcase_set_timeout(spans, 60);
	tcase_add_test(spans, spans_are_exact);
	tcase_add_test(spans, bounds_are_the_histograms);
	tcase_add_test(spans, hostile_names);
	tcase_add_test(spans, names_that_look_alike);
	tcase_add_test(spans, names_are_bounded);
	tcase_add_test(spans, room_for_buckets_ends);
	tcase_add_test(spans, exemplars_lead_to_traces);
	tcase_add_test(spans, exemplars_are_kept);
	tcase_add_test(spans, looks_are_whole);
	tcase_add_loop_test(forms, accept, 0, G_N_ELEMENTS(accepts));
	tcase_add_test(forms, conversion);
	suite_add_tcase(suite, spans);
	suite_add_tcase(suite, forms);
	return run_all(srunner_create(suite));
}
