/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces as trees, to the letter, and how long they are held. */
#include <string.h>

#include "collect_cases.h"
#include "traces/pending_traces.h"
#include "traces/trace_print.h"

static GPtrArray *spans;

static void setup(void)
{
	spans = g_ptr_array_new_with_free_func(span2_free);
}

static void teardown(void)
{
	g_ptr_array_unref(spans);
}

/* Adds a span of trace 1; @start is in µs after some moment, -1 for unknown. */
static struct span2 *add(uint64_t id, uint64_t parent, const char *service, const char *name,
	enum span2_kind kind, int64_t start, int64_t duration)
{
	const struct span2_endpoint local = {.service = (char *)service};
	struct span2 *span = span2_new();

	span->trace_id = 1;
	span->id = id;
	span->parent_id = parent;
	span->name = g_strdup(name);
	span->local = span2_endpoint_copy(&local);
	span->kind = kind;
	span->timestamp = start < 0 ? 0 : 1000000 + start;
	span->duration = duration;
	g_ptr_array_add(spans, span);
	return span;
}

static void assert_drawn(const struct trace_style *style, const char *text)
{
	struct buffer out = {0};

	trace_print(&out, spans, style);
	assert_text(&out, text);
}

static const struct trace_style plain;

START_TEST(children_stand_below_their_parent)
{
	span2_tag(add(3, 1, "front", "late", SPAN2_LOCAL, 15000, 850), "key", "value", 5);
	add(1, 0, "front", "get /", SPAN2_SERVER, 0, 22100);
	span2_annotate(add(2, 1, "front", "early", SPAN2_LOCAL, 1000, 9000), 1002500, "cache miss");
	add(4, 2, "back", "deep", SPAN2_LOCAL, 1200, 12);
	assert_drawn(&plain, "trace 0000000000000001  4 spans  22.1 ms  front, back\n"
			     "└─ get /       front  server     +0 µs  22.1 ms\n"
			     "   ├─ early    front          +1.00 ms  9.00 ms\n"
			     "   │  │    +2.50 ms cache miss\n"
			     "   │  └─ deep  back           +1.20 ms    12 µs\n"
			     "   └─ late     front          +15.0 ms   850 µs\n"
			     "           key = value\n");
}
END_TEST

START_TEST(halves_of_a_span_stand_above_each_other)
{
	struct span2 *server = add(2, 0, "back", "call", SPAN2_SERVER, 50, 100);

	server->shared = true;
	span2_tag(server, "side", "server", 6);
	span2_tag(add(2, 0, "front", "call", SPAN2_CLIENT, 0, 200), "side", "client", 6);
	add(3, 2, "back", "work", SPAN2_LOCAL, 60, 10);
	assert_drawn(&plain, "trace 0000000000000001  2 spans  200 µs  front, back\n"
			     "└─ call     front  client   +0 µs  200 µs\n"
			     "   │    side = client\n"
			     "   call     back   server  +50 µs  100 µs\n"
			     "   │    side = server\n"
			     "   └─ work  back           +60 µs   10 µs\n");
}
END_TEST

START_TEST(pieces_of_a_span_are_put_together)
{
	span2_annotate(add(1, 0, "a", "x", SPAN2_LOCAL, 0, 0), 1000010, "one");
	span2_annotate(add(1, 0, "a", "x", SPAN2_LOCAL, 0, 30), 1000020, "two");
	span2_annotate(add(1, 0, "a", NULL, SPAN2_CLIENT, 0, 30), 1000020, "two");
	assert_drawn(&plain, "trace 0000000000000001  1 span  30 µs  a\n"
			     "└─ x  a  client  +0 µs  30 µs\n"
			     "        +10 µs one\n"
			     "        +20 µs two\n");
}
END_TEST

START_TEST(an_orphan_is_a_root_that_says_so)
{
	add(1, 0, "a", "root", SPAN2_LOCAL, 0, 30);
	add(2, 0x77, "a", "orphan", SPAN2_LOCAL, 10, 5);
	assert_drawn(&plain, "trace 0000000000000001  2 spans  30 µs  a\n"
			     "├─ root    a   +0 µs  30 µs\n"
			     "└─ orphan  a  +10 µs   5 µs  (parent 0000000000000077 missing)\n");
}
END_TEST

START_TEST(spans_that_are_each_others_parents_are_drawn)
{
	add(1, 2, "a", "one", SPAN2_LOCAL, 10, 5);
	add(2, 3, "a", "two", SPAN2_LOCAL, 0, 5);
	add(3, 1, "a", "three", SPAN2_LOCAL, 20, 5);
	add(4, 3, "a", "leaf", SPAN2_LOCAL, 22, 1);
	assert_drawn(&plain, "trace 0000000000000001  4 spans  25 µs  a\n"
			     "└─ two            a   +0 µs  5 µs  (parent 0000000000000003 is below)\n"
			     "   └─ one         a  +10 µs  5 µs\n"
			     "      └─ three    a  +20 µs  5 µs\n"
			     "         └─ leaf  a  +22 µs  1 µs\n");
}
END_TEST

START_TEST(what_has_no_time_or_name_is_drawn)
{
	g_free(((struct span2 *)(add(1, 0, NULL, NULL, SPAN2_LOCAL, -1, 0)))->name);
	((struct span2 *)g_ptr_array_index(spans, 0))->name = NULL;
	assert_drawn(&plain, "trace 0000000000000001  1 span\n└─ (no name)  -  -\n");
}
END_TEST

START_TEST(what_is_too_deep_starts_anew)
{
	struct buffer out = {0};
	char *last;

	for (uint64_t id = 1; id <= 20000; id++)
		add(id, id - 1, "a", "x", SPAN2_LOCAL, (int64_t)id, 1);
	trace_print(&out, spans, &plain);
	buffer_put(&out, "", 1);
	ck_assert_ptr_nonnull(strstr((char *)out.data, "\n├─ x"));
	ck_assert_ptr_nonnull(
		strstr((char *)out.data, "(parent 0000000000000020 is above, too deep to draw)"));
	last = strstr((char *)out.data, "+20.0 ms  1 µs\n");
	ck_assert_ptr_nonnull(last);
	ck_assert_uint_lt(out.size, 20000 * 200);
	buffer_free(&out);
}
END_TEST

START_TEST(text_from_a_peer_does_nothing_to_the_terminal)
{
	struct span2 *span = add(1, 0, "s\033[2J", "n\nm", SPAN2_LOCAL, 0, 30);

	span2_annotate(span, 1000001, "a\r\033]0;title\007");
	span2_annotate(span, 1000002,
		"\xe2\x80\xae"
		"desrever\xc2\x9b"
		"31m\xff");
	span2_tag(span, "k\t", "v\0w", 3);
	assert_drawn(&plain, "trace 0000000000000001  1 span  30 µs  s\\x1b[2J\n"
			     "└─ n\\nm  s\\x1b[2J  +0 µs  30 µs\n"
			     "        +1 µs a\\r\\x1b]0;title\\x07\n"
			     "        +2 µs \\u202edesrever\\x9b31m\xef\xbf\xbd\n"
			     "        k\\t = v\\x00w\n");
}
END_TEST

START_TEST(long_values_tell_their_size)
{
	char *value = g_strnfill(5000, 'v'), *shown = g_strnfill(1000, 'v');
	char *text = g_strdup_printf("trace 0000000000000001  1 span  30 µs  a\n"
				     "└─ x  a  +0 µs  30 µs\n"
				     "        key = %s… (4000 bytes more)\n",
		shown);

	span2_tag(add(1, 0, "a", "x", SPAN2_LOCAL, 0, 30), "key", value, 5000);
	assert_drawn(&plain, text);
	g_free(value);
	g_free(shown);
	g_free(text);
}
END_TEST

START_TEST(a_wide_terminal_gets_bars)
{
	const struct trace_style wide = {.width = 60}, narrow = {.width = 42};

	add(1, 0, "a", "root", SPAN2_LOCAL, 0, 100);
	add(2, 1, "a", "mid", SPAN2_LOCAL, 25, 50);
	add(3, 1, "a", "dot", SPAN2_LOCAL, 99, 1);
	assert_drawn(&wide, "trace 0000000000000001  3 spans  100 µs  a\n"
			    "└─ root    a   +0 µs  100 µs  ████████████████████\n"
			    "   ├─ mid  a  +25 µs   50 µs       ██████████\n"
			    "   └─ dot  a  +99 µs    1 µs                     █\n");
	assert_drawn(&narrow, "trace 0000000000000001  3 spans  100 µs  a\n"
			      "└─ root    a   +0 µs  100 µs\n"
			      "   ├─ mid  a  +25 µs   50 µs\n"
			      "   └─ dot  a  +99 µs    1 µs\n");
}
END_TEST

static void add_failing(void)
{
	add(1, 0, "front", "get /", SPAN2_SERVER, 0, 22100);
	span2_tag(add(2, 1, "back", "read", SPAN2_LOCAL, 1000, 9000), "error", "no such object", 14);
}

START_TEST(errors_stand_out)
{
	const struct trace_style colour = {.colour = true};

	add_failing();
	assert_drawn(&plain, "trace 0000000000000001  2 spans  ✗ 1 error  22.1 ms  front, back\n"
			     "└─ get /      front  server     +0 µs  22.1 ms\n"
			     "   └─ ✗ read  back           +1.00 ms  9.00 ms\n"
			     "           error = no such object\n");
	assert_drawn(&colour,
		"\033[1mtrace 0000000000000001\033[0m  2 spans\033[1;31m  ✗ 1 error\033[0m"
		"  22.1 ms  front, back\n"
		"└─ \033[1mget /\033[0m      \033[36mfront\033[0m  server     +0 µs  22.1 ms\n"
		"   └─ \033[1;31m✗ read\033[0m  \033[36mback\033[0m           +1.00 ms  9.00 ms\n"
		"           \033[31merror = no such object\033[0m\n");
}
END_TEST

/* Lines end in … at the edge, unless they are to be whole. */
START_TEST(a_terminal_cuts_lines)
{
	struct trace_style narrow = {.width = 40};

	span2_tag(add(1, 0, "a", "a name that has no end, as it seems", SPAN2_LOCAL, 0, 100), "key",
		"a value that is longer than the line", 36);
	assert_drawn(&narrow, "trace 0000000000000001  1 span  100 µs …\n"
			      "└─ a name that has no…  a  +0 µs  100 µs\n"
			      "        key = a value that is longer th…\n");
	narrow.folding.wide = true;
	assert_drawn(&narrow, "trace 0000000000000001  1 span  100 µs  a\n"
			      "└─ a name that has no end, as it seems  a  +0 µs  100 µs\n"
			      "        key = a value that is longer than the line\n");
}
END_TEST

/* However deep it is, a span's name can be read, and no line is wider than the terminal. */
START_TEST(deep_names_are_seen)
{
	const struct trace_style narrow = {.width = 40};
	struct buffer out = {0};

	for (uint64_t i = 1; i <= 30; i++) {
		g_autofree char *name = g_strdup_printf("n%" G_GUINT64_FORMAT, i);

		span2_tag(add(i, i - 1, "service", name, SPAN2_LOCAL, (int64_t)i, 100), "k", "v", 1);
	}
	trace_print(&out, spans, &narrow);
	buffer_put(&out, "", 1);
	for (uint64_t i = 1; i <= 30; i++) {
		g_autofree char *name = g_strdup_printf("─ n%" G_GUINT64_FORMAT " ", i);

		ck_assert_msg(strstr((const char *)out.data, name) != NULL, "%s: %s", name, out.data);
	}
	for (char *line = strtok((char *)out.data, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(g_utf8_strlen(line, -1) <= 40, "%s", line);
	buffer_free(&out);
}
END_TEST

START_TEST(deep_spans_are_folded)
{
	const struct trace_style flat = {.folding.depth = 2};

	add_failing();
	add(3, 2, "disk", "seek", SPAN2_LOCAL, 1200, 3000);
	span2_tag(add(4, 3, "disk", "turn", SPAN2_LOCAL, 1300, 1000), "error", "", 0);
	assert_drawn(&flat, "trace 0000000000000001  4 spans  ✗ 2 errors  22.1 ms  front, back\n"
			    "└─ get /      front  server     +0 µs  22.1 ms\n"
			    "   └─ ✗ read  back           +1.00 ms  9.00 ms\n"
			    "      │    error = no such object\n"
			    "      └─ … 2 spans folded, up to 3.00 ms, ✗ 1 error\n");
}
END_TEST

/* A span is drawn if it took long, or one below it did. */
START_TEST(short_spans_are_folded)
{
	const struct trace_style slow = {.folding.min_duration = 1000};

	add(1, 0, "a", "root", SPAN2_LOCAL, 0, 5000);
	add(2, 1, "a", "short", SPAN2_LOCAL, 10, 999);
	add(3, 1, "a", "odd", SPAN2_LOCAL, 20, 5);
	add(4, 3, "a", "long", SPAN2_LOCAL, 21, 1000);
	add(5, 2, "a", "shorter", SPAN2_LOCAL, 11, 1);
	assert_drawn(&slow, "trace 0000000000000001  5 spans  5.00 ms  a\n"
			    "└─ root        a   +0 µs  5.00 ms\n"
			    "   ├─ odd      a  +20 µs     5 µs\n"
			    "   │  └─ long  a  +21 µs  1.00 ms\n"
			    "   └─ … 2 spans folded, up to 999 µs\n");
}
END_TEST

START_TEST(colours_come_only_when_asked_for)
{
	const struct trace_style colour = {.colour = true};

	span2_tag(add(1, 9, "a", "x", SPAN2_LOCAL, 0, 30), "k", "v", 1);
	assert_drawn(&colour, "\033[1mtrace 0000000000000001\033[0m  1 span  30 µs  a\n"
			      "└─ \033[1mx\033[0m  \033[36ma\033[0m  +0 µs  30 µs"
			      "  \033[33m(parent 0000000000000009 missing)\033[0m\n"
			      "        \033[2mk = v\033[0m\n");
}
END_TEST

/* The ids of the traces that were shown, and of how many spans. */
static void note_trace(void *data, const GPtrArray *trace)
{
	const struct span2 *span = g_ptr_array_index(trace, 0);

	g_string_append_printf(data, "%u:%u ", (unsigned int)span->trace_id, trace->len);
}

static void give(struct pending_traces *traces, uint64_t trace_id, int64_t now)
{
	struct span2 *span = span2_new();

	span->trace_id = trace_id;
	span->id = 1;
	span2_tag(span, "filler", "0123456789", 10);
	pending_traces_add(traces, span, now);
}

START_TEST(a_trace_is_shown_once_it_is_quiet)
{
	const struct pending_limits limits = {.quiet = 100, .traces = 10, .bytes = 1 << 20};
	GString *shown = g_string_new(NULL);
	struct pending_traces *traces = pending_traces_create(&limits, note_trace, shown);

	ck_assert_int_eq(pending_traces_show_quiet(traces, 0), -1);
	give(traces, 1, 0);
	give(traces, 2, 50);
	give(traces, 1, 60);
	ck_assert_int_eq(pending_traces_show_quiet(traces, 149), 1);
	ck_assert_str_eq(shown->str, "");
	ck_assert_int_eq(pending_traces_show_quiet(traces, 150), 10);
	ck_assert_str_eq(shown->str, "2:1 ");
	pending_traces_show_all(traces);
	ck_assert_str_eq(shown->str, "2:1 1:2 ");
	ck_assert_int_eq(pending_traces_show_quiet(traces, 1000), -1);
	pending_traces_destroy(traces);
	g_string_free(shown, TRUE);
}
END_TEST

START_TEST(what_is_held_is_bounded)
{
	const struct pending_limits few = {.quiet = 100, .traces = 2, .bytes = 1 << 20};
	const struct pending_limits small = {.quiet = 100, .traces = 1000, .bytes = 4000};
	GString *shown = g_string_new(NULL);
	struct pending_traces *traces = pending_traces_create(&few, note_trace, shown);

	give(traces, 1, 0);
	give(traces, 2, 0);
	give(traces, 1, 0);
	give(traces, 3, 0);
	ck_assert_str_eq(shown->str, "2:1 ");
	pending_traces_destroy(traces);
	g_string_truncate(shown, 0);
	traces = pending_traces_create(&small, note_trace, shown);
	for (int i = 0; i < 100; i++)
		give(traces, 1, 0);
	ck_assert_str_ne(shown->str, "");
	pending_traces_destroy(traces);
	g_string_free(shown, TRUE);
}
END_TEST

TCase *collect_tree_cases(void)
{
	const TTest *const tests[] = {children_stand_below_their_parent,
		halves_of_a_span_stand_above_each_other, pieces_of_a_span_are_put_together,
		an_orphan_is_a_root_that_says_so, spans_that_are_each_others_parents_are_drawn,
		what_has_no_time_or_name_is_drawn, what_is_too_deep_starts_anew,
		text_from_a_peer_does_nothing_to_the_terminal, long_values_tell_their_size,
		a_wide_terminal_gets_bars, errors_stand_out, a_terminal_cuts_lines, deep_names_are_seen,
		deep_spans_are_folded, short_spans_are_folded, colours_come_only_when_asked_for,
		a_trace_is_shown_once_it_is_quiet, what_is_held_is_bounded};
	TCase *cases = tcase_create("tree");

	tcase_add_checked_fixture(cases, setup, teardown);
	for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
		tcase_add_test(cases, tests[i]);
	return cases;
}
