/* SPDX-License-Identifier: BSD-2-Clause */
/* Two events of a thread that become a span: which ones, how they nest, and what is kept of those that never
 * end. */
#include <check.h>

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include <glib.h>

#include "config/pairrules.h"
#include "core/value.h"
#include "reader/pair/pairfields.h"
#include "reader/pair/pairs.h"
#include "reader/pair/pairspan.h"

#include "run.h"
#include "texts.h"

#define MS INT64_C(1000000)
#define T0 INT64_C(1700000000000000000)

static struct ledger rows;
static GString *emitted;
static uint64_t trace_id, id;
static unsigned emitted_count;
static const struct pairs_limits now_limits = {0, 1 << 20}, hold_limits = {1000 * MS, 1 << 20};

static const char *tag_of(const struct span *span, const char *key)
{
	static char value[256];

	for (size_t i = 0; i < span->tag_count; i++)
		if (text_is(span->tags[i].key, key)) {
			g_snprintf(value, sizeof(value), "%.*s", (int)span->tags[i].value.size,
				span->tags[i].value.data);
			return value;
		}
	return "";
}

/* "name thread begin+duration", in ms; what is unfinished; and, of a child, how many were emitted before that
 * have its parent for an id are not known: so ids are in `seen`. */
static void note(void *data, const struct span *span)
{
	(void)data;
	emitted_count++;
	trace_id = span->trace_id;
	id = span->id;
	g_string_append_printf(emitted, "%.*s@%s %d+%d%s%s;", (int)span->name.size, span->name.data,
		tag_of(span, "thread.id"), (int)((span->timestamp - T0) / MS), (int)(span->duration / MS),
		*tag_of(span, PAIR_UNFINISHED) ? " unfinished" : "", span->parent_id ? " child" : "");
}

static struct pairs *make(const struct pairs_limits *limits)
{
	memset(&rows, 0, sizeof(rows));
	g_string_truncate(emitted, 0);
	emitted_count = 0;
	return pairs_create(limits, &rows, note, NULL);
}

/* An event of @what, at @at ms, of thread @tid. */
static struct pair_event event_of(bool exits, const char *what, int tid, int at)
{
	return (struct pair_event){
		.exits = exits,
		.exit = pair_name_number(what),
		.number = pair_name_number(what),
		.pair = {what, (uint32_t)strlen(what)},
		.name = {what, (uint32_t)strlen(what)},
		.time = T0 + at * MS,
		.traced = T0 + at * MS,
		.moment = (uint64_t)(at * MS),
		.has_user = true,
		.user = 1000,
		.pid = {true, 7},
		.tid = {true, tid},
		.program = literal("program"),
	};
}

static enum ledger_row enter(struct pairs *pairs, const char *what, int tid, int at)
{
	struct pair_event event = event_of(false, what, tid, at);

	return pairs_take(pairs, &event, at * MS);
}

static enum ledger_row leave(struct pairs *pairs, const char *what, int tid, int at)
{
	struct pair_event event = event_of(true, what, tid, at);

	return pairs_take(pairs, &event, at * MS);
}

/* The rows add up: nothing is kept any more. */
static void end(struct pairs *pairs)
{
	pairs_flush(pairs);
	ck_assert_uint_eq(pairs_bytes(pairs), 0);
	ck_assert_int_eq(rows.row[SPANS_PENDING], 0);
	ck_assert_int_eq(rows.row[SPANS_MADE], emitted_count);
	pairs_destroy(pairs);
}

/* Rules */

static void assert_wrong(const char *text, const char *wrong)
{
	struct pair_rules rules;
	char error[512] = "";

	ck_assert_int_eq(pair_rules_parse(&rules, text, error, sizeof(error)), -1);
	ck_assert_msg(strstr(error, wrong), "%s: %s", text, error);
}

START_TEST(wrong_rules)
{
	assert_wrong("a:b_enter/b_exit", "`a:b_enter/b_exit`: it must have the form ENTER/EXIT by vtid");
	assert_wrong("a:b_enter, b_exit by vtid", "the form ENTER/EXIT by vtid");
	assert_wrong("a:b_enter/b_exit by pid", "`by vtid`, for events of programs, or `by tid`");
	assert_wrong("a:b by vtid", "two names with a / between them");
	assert_wrong("a:b/c/d by vtid", "two names with a / between them");
	assert_wrong("/b by vtid", "two names with a / between them");
	assert_wrong("a:*_*/*_exit by vtid", "one `*` in both names, or none in either");
	assert_wrong("a:*_enter/b_exit by vtid", "one `*` in both names, or none in either");
	assert_wrong("a:b/b by vtid", "two names that differ");
	assert_wrong("b/c by vtid", "PROVIDER:NAME, or `by tid`");
	assert_wrong("a:b/a:c by tid", "names without a provider, or `by vtid`");
	assert_wrong("a:b?/c by vtid", "`*` is the only wildcard");
	assert_wrong("a:b/c by vtid, a:b/a:c by vtid", "each pair once");
	assert_wrong(
		"a:b/c by vtid,", "has a comma without a pair on each side: all pairs stand on one line");
}
END_TEST

START_TEST(many_rules)
{
	g_autoptr(GString) text = g_string_new("a:b0/c by vtid");
	struct pair_rules rules;
	char error[512];

	for (int i = 1; i < PAIR_RULES_MAX; i++)
		g_string_append_printf(text, ", a:b%d/c by vtid", i);
	ck_assert_int_eq(pair_rules_parse(&rules, text->str, error, sizeof(error)), 0);
	ck_assert_uint_eq(rules.count, PAIR_RULES_MAX);
	g_string_append(text, ", a:d/c by vtid");
	assert_wrong(text->str, "32 pairs at most");
	ck_assert_int_eq(pair_rules_parse(&rules, "", error, sizeof(error)), 0);
	ck_assert_uint_eq(rules.count, 0);
}
END_TEST

/* What the event is: "+PAIR=NAME" where it begins one, "-" where it ends it. */
static void assert_is(const char *text, const char *event, bool kernel, const char *wanted)
{
	struct pair_rules rules;
	char error[512];
	g_autoptr(GPtrArray) halves = NULL;
	g_autoptr(GString) is = g_string_new(NULL);

	ck_assert_int_eq(pair_rules_parse(&rules, text, error, sizeof(error)), 0);
	halves = pair_rules_match(&rules, event, kernel);
	for (guint i = 0; halves && i < halves->len; i++) {
		const struct pair_half *half = halves->pdata[i];

		if (half->exits)
			g_string_append_printf(is, "-%s", half->exit);
		else
			g_string_append_printf(is, "+%s=%s", half->pair, half->name);
	}
	ck_assert_str_eq(is->str, wanted);
}

START_TEST(names)
{
	static const char all[] = "a:*_enter/*_exit by vtid", calls[] = "sys_entry_*/sys_exit_* by tid";

	assert_is(all, "a:read_enter", false, "+a:read_enter/a:read_exit=a:read");
	assert_is(all, "a:read_exit", false, "-a:read_exit");
	assert_is(all, "a:_exit", false, "-a:_exit");
	assert_is(all, "a:read", false, "");
	assert_is(all, "b:read_enter", false, "");
	assert_is(all, "a:read_enter", true, "");
	assert_is(calls, "sys_entry_openat", true, "+sys_entry_openat/sys_exit_openat=sys_openat");
	assert_is(calls, "sys_exit_openat", true, "-sys_exit_openat");
	assert_is("a:begin/b:end by vtid", "b:end", false, "-b:end");
	assert_is("a:func_entry/func_exit by vtid", "a:func_exit", false, "-a:func_exit");
	/* the end of one is the beginning of the next */
	assert_is("a:x/y by vtid, a:y/z by vtid", "a:y", false, "-a:y+a:y/a:z=a:y");
	/* two ENTERs have one EXIT; what is said of one alone holds for it */
	assert_is("a:*_enter/*_exit by vtid, a:x2_enter/x_exit by vtid", "a:x_exit", false, "-a:x_exit");
	assert_is("a:*_enter/*_exit by vtid, a:x2_enter/x_exit by vtid", "a:x2_enter", false,
		"+a:x2_enter/a:x_exit=a:x2_enter");
	/* an EXIT's name may fit ENTER, too */
	assert_is("a:*/*_exit by vtid", "a:x_exit", false, "-a:x_exit");
}
END_TEST

/* Nesting */

START_TEST(nested)
{
	struct pairs *pairs = make(&now_limits);

	ck_assert_int_eq(enter(pairs, "a", 1, 0), EVENTS_IN_SPANS);
	enter(pairs, "b", 1, 1);
	enter(pairs, "b", 1, 2);
	enter(pairs, "a", 2, 2); /* another thread */
	ck_assert_int_eq(leave(pairs, "b", 1, 3), EVENTS_IN_SPANS);
	leave(pairs, "b", 1, 5);
	leave(pairs, "a", 1, 9);
	leave(pairs, "a", 2, 10);
	ck_assert_str_eq(emitted->str, "b@1 2+1 child;b@1 1+4 child;a@1 0+9;a@2 2+8;");
	end(pairs);
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 0);
}
END_TEST

START_TEST(interleaved)
{
	struct pairs *pairs = make(&now_limits);

	enter(pairs, "a", 1, 0);
	enter(pairs, "b", 1, 1);
	leave(pairs, "a", 1, 2);
	enter(pairs, "c", 1, 3); /* b is nobody's parent any more, */
	leave(pairs, "c", 1, 4);
	leave(pairs, "b", 1, 6); /* and ends all the same */
	ck_assert_str_eq(emitted->str, "a@1 0+2;c@1 3+1;b@1 1+5 child;");
	end(pairs);
}
END_TEST

START_TEST(halves)
{
	struct pairs *pairs = make(&now_limits);
	struct pair_event event = event_of(false, "a", 1, 0);

	ck_assert_int_eq(leave(pairs, "a", 1, 1), EVENTS_IGNORED);
	enter(pairs, "a", 1, 2);
	ck_assert_int_eq(leave(pairs, "b", 1, 3), EVENTS_IGNORED);
	ck_assert_int_eq(leave(pairs, "a", 2, 3), EVENTS_IGNORED);
	ck_assert_int_eq(leave(pairs, "a", 1, 1), EVENTS_REJECTED_TIME);
	event.tid.known = false;
	ck_assert_int_eq(pairs_take(pairs, &event, 0), EVENTS_REJECTED_MALFORMED);
	event = event_of(false, "a", 1, 0);
	event.time = 0;
	ck_assert_int_eq(pairs_take(pairs, &event, 0), EVENTS_REJECTED_TIME);
	event.time = INT64_MAX;
	ck_assert_int_eq(pairs_take(pairs, &event, 0), EVENTS_REJECTED_TIME);
	ck_assert_int_eq(rows.row[PAIRS_WITHOUT_ENTER], 3);
	ck_assert_int_eq(rows.row[PAIRS_MALFORMED], 4);
	pairs_expire(pairs, PAIR_WAIT_NS + MS);
	ck_assert_uint_eq(emitted_count, 0);
	pairs_expire(pairs, PAIR_WAIT_NS + 2 * MS);
	ck_assert_str_eq(emitted->str, "a@1 2+0 unfinished;");
	ck_assert_int_eq(rows.row[PAIRS_WITHOUT_EXIT], 1);
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 1);
	end(pairs);
}
END_TEST

/* Threads of two containers, or hosts, have the same numbers. */
START_TEST(namespaces)
{
	struct pairs *pairs = make(&now_limits);
	struct pair_event event;

	for (int i = 0; i < 4; i++) {
		event = event_of(i >= 2, "a", 1, i);
		event.space = (struct known_number){true, i % 2};
		pairs_take(pairs, &event, i * MS);
	}
	ck_assert_str_eq(emitted->str, "a@1 0+2;a@1 1+2;");
	event = event_of(false, "a", 1, 5);
	event.host = literal("one");
	pairs_take(pairs, &event, 5 * MS);
	ck_assert_int_eq(leave(pairs, "a", 1, 6), EVENTS_IGNORED);
	event.exits = true;
	ck_assert_int_eq(pairs_take(pairs, &event, 7 * MS), EVENTS_IN_SPANS);
	end(pairs);
}
END_TEST

/* Ids are made of what was recorded, and nothing else. */
START_TEST(same_ids)
{
	uint64_t first, ids[3];

	for (int i = 0; i < 3; i++) {
		struct pairs *pairs = make(&now_limits);
		struct pair_event event = event_of(false, "a", 1, 5);

		event.has_user = i != 1; /* who reads files does not know */
		event.time += i;         /* the wall clock was set meanwhile, */
		event.traced += i;       /* or another offset was met first */
		pairs_take(pairs, &event, i);
		event.exits = true;
		event.traced += MS;
		pairs_take(pairs, &event, i);
		ck_assert_uint_eq(trace_id, id);
		ids[i] = id;
		end(pairs);
	}
	ck_assert_uint_ne(ids[0], 0);
	ck_assert(ids[0] == ids[1] && ids[1] == ids[2]);
	first = ids[0];
	for (int i = 0; i < 3; i++) {
		struct pairs *pairs = make(&now_limits);
		struct pair_event event = event_of(false, i == 0 ? "b" : "a", i == 1 ? 2 : 1, i == 2 ? 6 : 5);

		pairs_take(pairs, &event, 0);
		pairs_flush(pairs);
		ck_assert_uint_ne(id, first);
		end(pairs);
	}
}
END_TEST

/* Bounds */

START_TEST(deep)
{
	struct pairs *pairs = make(&now_limits);

	for (int i = 0; i < PAIR_DEPTH_MAX + 2; i++)
		enter(pairs, "a", 1, i);
	ck_assert_str_eq(emitted->str, "a@1 0+0 unfinished;a@1 1+0 unfinished child;");
	ck_assert_int_eq(rows.row[PAIRS_WITHOUT_EXIT], 2);
	end(pairs);
}
END_TEST

START_TEST(many_threads)
{
	const struct pairs_limits much = {0, 16 << 20};
	struct pairs *pairs = make(&much);

	for (int i = 0; i < 10000; i++)
		enter(pairs, "a", i, i);
	for (int i = 9999; i >= 0; i--)
		ck_assert_int_eq(leave(pairs, "a", i, 20000), EVENTS_IN_SPANS);
	ck_assert_uint_eq(emitted_count, 10000);
	ck_assert_int_eq(rows.row[PAIRS_WITHOUT_EXIT], 0);
	end(pairs);
}
END_TEST

/* A user who enters and never leaves takes nobody else's place. */
START_TEST(hostile_user)
{
	struct pairs *pairs = make(&now_limits);
	struct pair_event event;

	for (int i = 0; i < 100; i++)
		enter(pairs, "good", i, i);
	for (int i = 0; i < 100000; i++) {
		event = event_of(false, "bad", i, 100);
		event.user = 666;
		pairs_take(pairs, &event, 100 * MS);
		ck_assert_uint_le(pairs_bytes(pairs), now_limits.max_bytes);
	}
	ck_assert_int_gt(rows.row[PAIRS_WITHOUT_EXIT], 90000);
	emitted_count = 0;
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(leave(pairs, "good", i, 200), EVENTS_IN_SPANS);
	ck_assert_uint_eq(emitted_count, 100);
	pairs_destroy(pairs);
}
END_TEST

/* Checkpoints */

START_TEST(kept)
{
	struct pairs *pairs = make(&hold_limits), *other;
	struct buffer saved = {0}, again = {0};

	pairs_save(pairs, 0, &saved);
	ck_assert_uint_eq(saved.size, 0);
	ck_assert(pairs_load(pairs, unpacker_of(saved.data, 0), 0));
	enter(pairs, "a", 1, 0);
	enter(pairs, "b", 1, 1);
	leave(pairs, "b", 1, 3);
	enter(pairs, "c", 1, 4);
	pairs_save(pairs, 5 * MS, &saved);
	pairs_destroy(pairs);

	other = make(&hold_limits);
	for (size_t size = 1; size < saved.size; size++)
		ck_assert(!pairs_load(other, unpacker_of(saved.data, size), 0));
	ck_assert_uint_eq(pairs_bytes(other), 0);
	ck_assert(pairs_load(other, unpacker_of(saved.data, saved.size), 5 * MS));
	ck_assert_int_eq(rows.row[SPANS_PENDING], 3);
	pairs_save(other, 5 * MS, &again);
	ck_assert_uint_eq(again.size, saved.size);
	ck_assert_mem_eq(again.data, saved.data, saved.size);
	leave(other, "c", 1, 6);
	leave(other, "a", 1, 7);
	pairs_expire(other, 1003 * MS);
	ck_assert_str_eq(emitted->str, "b@1 1+2 child;");
	pairs_flush(other);
	ck_assert_str_eq(emitted->str, "b@1 1+2 child;c@1 4+2 child;a@1 0+7;");
	end(other);
	buffer_free(&saved);
	buffer_free(&again);
}
END_TEST

/* One that is held for longer than it may be now holds up none behind it. */
START_TEST(held_for_less)
{
	const struct pairs_limits less = {100 * MS, 1 << 20};
	struct pairs *pairs = make(&hold_limits), *other = pairs_create(&less, &rows, note, NULL);
	struct buffer saved = {0};

	enter(pairs, "b", 1, 1);
	leave(pairs, "b", 1, 3);
	pairs_save(pairs, 5 * MS, &saved);
	pairs_configure(pairs, &less, 5 * MS);
	enter(pairs, "c", 1, 6);
	leave(pairs, "c", 1, 7);
	pairs_expire(pairs, 105 * MS);
	ck_assert_str_eq(emitted->str, "b@1 1+2;");
	pairs_expire(pairs, 107 * MS);
	ck_assert_str_eq(emitted->str, "b@1 1+2;c@1 6+1;");
	g_string_truncate(emitted, 0);
	ck_assert(pairs_load(other, unpacker_of(saved.data, saved.size), 5 * MS));
	pairs_expire(other, 105 * MS);
	ck_assert_str_eq(emitted->str, "b@1 1+2;");
	pairs_destroy(pairs);
	end(other);
	buffer_free(&saved);
}
END_TEST

/* Whatever the bytes are, they are taken whole or refused. */
START_TEST(garbage)
{
	struct pairs *pairs = make(&hold_limits);
	struct buffer saved = {0};

	for (int i = 0; i < 5; i++)
		enter(pairs, "a", i, i);
	leave(pairs, "a", 3, 9);
	pairs_save(pairs, 0, &saved);
	pairs_destroy(pairs);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		size_t at = (size_t)rand() % saved.size;
		uint8_t was = saved.data[at];

		saved.data[at] = (uint8_t)rand();
		pairs = make(&hold_limits);
		if (pairs_load(pairs, unpacker_of(saved.data, saved.size), 0))
			leave(pairs, "a", 1, 20);
		end(pairs);
		saved.data[at] = was;
	}
	buffer_free(&saved);
}
END_TEST

/* Spans of the program's own */

static struct span own_span(int begin, int ends)
{
	return (struct span){.trace_id_high = 9,
		.trace_id = 77,
		.id = 78,
		.pid = 7,
		.has_user = true,
		.user = 1000,
		.timestamp = T0 + begin * MS,
		.duration = (ends - begin) * MS,
		.local = {.service = literal("service")}};
}

static GString *parents;

/* "name/parent" by names, of those that were seen; "own" is 78. */
static void note_parent(void *data, const struct span *span)
{
	GHashTable *seen = data;
	const char *parent = span->parent_id == 78 ? "own"
			     : span->parent_id ? g_hash_table_lookup(seen, GSIZE_TO_POINTER(span->parent_id))
					       : "";

	emitted_count++;
	g_string_append_printf(parents, "%.*s/%s/%s;", (int)span->name.size, span->name.data, parent,
		span->trace_id == 77 && span->trace_id_high == 9 ? "own" : "");
	g_hash_table_insert(seen, GSIZE_TO_POINTER(span->id), g_strndup(span->name.data, span->name.size));
}

START_TEST(adopted)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	struct pairs *pairs;
	struct span inner = own_span(2, 8), other = own_span(0, 9), outer = own_span(0, 30);

	memset(&rows, 0, sizeof(rows));
	emitted_count = 0;
	parents = g_string_new(NULL);
	pairs = pairs_create(&hold_limits, &rows, note_parent, seen);
	enter(pairs, "a", 1, 1);
	enter(pairs, "b", 1, 3);
	enter(pairs, "c", 1, 4);
	leave(pairs, "c", 1, 5);
	leave(pairs, "b", 1, 6);
	enter(pairs, "d", 1, 7);
	leave(pairs, "d", 1, 8);
	ck_assert_str_eq(parents->str, "");
	other.pid = 8;
	pairs_adopt(pairs, &other, 1, 9 * MS); /* another process */
	pairs_adopt(pairs, &inner, 2, 9 * MS); /* another thread */
	pairs_adopt(pairs, &inner, -1, 9 * MS);
	ck_assert_str_eq(parents->str, "");
	pairs_adopt(pairs, &inner, 1, 9 * MS);
	ck_assert_str_eq(parents->str, "d/own/own;b/own/own;c/b/own;");
	leave(pairs, "a", 1, 10);
	ck_assert(pairs_hold(pairs));
	g_string_truncate(parents, 0);
	pairs_adopt(pairs, &outer, 1, 31 * MS);
	ck_assert_str_eq(parents->str, "a/own/own;");
	ck_assert(!pairs_hold(pairs));
	/* none comes */
	enter(pairs, "e", 1, 40);
	leave(pairs, "e", 1, 41);
	g_string_truncate(parents, 0);
	pairs_expire(pairs, 1040 * MS);
	ck_assert_str_eq(parents->str, "");
	pairs_expire(pairs, 1041 * MS);
	ck_assert_str_eq(parents->str, "e//;");
	end(pairs);
	g_string_free(parents, TRUE);
}
END_TEST

/* Of two containers' threads with the same numbers, nobody knows whose span it is. */
START_TEST(not_adopted)
{
	struct pairs *pairs = make(&hold_limits);
	struct span span = own_span(0, 9);

	for (int i = 0; i < 2; i++)
		for (int exits = 0; exits < 2; exits++) {
			struct pair_event event = event_of(exits, "a", 1, 2 + 2 * i + exits);

			event.space = (struct known_number){true, i};
			pairs_take(pairs, &event, 5 * MS);
		}
	pairs_adopt(pairs, &span, 1, 9 * MS);
	ck_assert_str_eq(emitted->str, "");
	pairs_flush(pairs);
	ck_assert_str_eq(emitted->str, "a@1 2+1;a@1 4+1;");
	end(pairs);
}
END_TEST

/* What is held, as a plain list: when it began and ended, in ns, and where. */
struct held {
	int64_t begin, end;
	int space;
	bool gone;
};

static void note_begin(void *data, const struct span *span)
{
	g_string_append_printf(data, "%" PRId64 " ", span->timestamp);
	emitted_count++;
}

/* A pair of thread 1 that began and ended at these ns; the clock is then set to @by ns more. */
static struct held put_held(struct pairs *pairs, int64_t begin, int64_t end, int64_t by, int space)
{
	const int64_t times[] = {begin, end};

	for (int exits = 0; exits < 2; exits++) {
		struct pair_event event = event_of(exits, "a", 1, 0);

		event.space = (struct known_number){true, space};
		event.traced = T0 + times[exits];
		event.time = event.traced + by;
		event.moment = (uint64_t)times[exits];
		pairs_take(pairs, &event, 0);
	}
	return (struct held){T0 + begin + by, T0 + begin + by + MAX(end - begin, 1), space, false};
}

/* The same as if all of them were looked at: the last ones first, if they are of one thread. */
static void expect_adopted(GString *expected, struct held *all, int count, const struct span *span)
{
	int space = -1;

	for (int pass = 0; pass < 2; pass++)
		for (int i = count; i-- > 0;) {
			if (all[i].gone || all[i].begin < span->timestamp ||
				all[i].end > span->timestamp + span->duration + 1000)
				continue;
			if (pass == 0 && space >= 0 && all[i].space != space)
				return;
			space = all[i].space;
			if (pass == 0)
				continue;
			all[i].gone = true;
			g_string_append_printf(expected, "%" PRId64 " ", all[i].begin);
		}
}

START_TEST(adopted_of_many)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (int round = 0; round < 300; round++) {
		g_autoptr(GString) found = g_string_new(""), expected = g_string_new("");
		struct pairs *pairs;
		struct held all[200];
		int64_t now = 1000, by = 0;

		memset(&rows, 0, sizeof(rows));
		emitted_count = 0;
		pairs = pairs_create(&hold_limits, &rows, note_begin, found);
		for (int i = 0; i < 200; i++) {
			int64_t begin = now + g_rand_int_range(random, 0, 50);
			struct span span = own_span(0, 1);

			now = begin + g_rand_int_range(random, 0, 50);
			if (round % 3 == 0 &&
				g_rand_int_range(random, 0, 20) == 0) /* NTP, an administrator */
				by += g_rand_int_range(random, -5000, 5000);
			all[i] = put_held(
				pairs, begin, now, by, round % 2 && g_rand_int_range(random, 0, 30) == 0);
			if (g_rand_int_range(random, 0, 4))
				continue;
			span.timestamp = T0 + by + now - g_rand_int_range(random, 0, 3000);
			span.duration = g_rand_int_range(random, 1, 3000);
			pairs_adopt(pairs, &span, 1, 0);
			expect_adopted(expected, all, i + 1, &span);
			ck_assert_str_eq(found->str, expected->str);
		}
		ck_assert_uint_gt(found->len, 0);
		end(pairs);
	}
}
END_TEST

/* ns of the processor that a span takes beside so many that are held, and lie before it. */
static int64_t cost_beside(int count)
{
	struct pairs *pairs = make(&(struct pairs_limits){1000 * MS, 8 << 20});
	struct span span = own_span(10, 20);
	struct timespec before, after;

	for (int i = 0; i < count; i++)
		put_held(pairs, 1000 * i, 1000 * i + 10, 0, 0);
	ck_assert_uint_eq(emitted_count, 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
	for (int i = 0; i < 20000; i++)
		pairs_adopt(pairs, &span, 1, 0);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
	end(pairs);
	return (after.tv_sec - before.tv_sec) * 1000 * MS + after.tv_nsec - before.tv_nsec;
}

/* Each span of a thread comes here, however many pairs its thread has. */
START_TEST(spans_beside_many)
{
	ck_assert_int_lt(cost_beside(2000), 10 * cost_beside(20));
}
END_TEST

/* Nothing waits for spans of programs that have none. */
START_TEST(not_held)
{
	struct pairs *pairs = make(&hold_limits);
	struct span span = own_span(0, 9);

	enter(pairs, "a", 1, 0);
	enter(pairs, "b", 1, 59999);
	leave(pairs, "b", 1, 60001);
	ck_assert_str_eq(emitted->str, "b@1 59999+2 child;");
	pairs_adopt(pairs, &span, 3, 60002 * MS);
	leave(pairs, "a", 1, 60003);
	ck_assert_str_eq(emitted->str, "b@1 59999+2 child;");
	end(pairs);
}
END_TEST

START_TEST(held_in_bounds)
{
	struct pairs *pairs = make(&hold_limits);

	for (int i = 0; i < 20000; i++) {
		enter(pairs, "a", 1, i / 1000);
		leave(pairs, "a", 1, i / 1000);
		ck_assert_uint_le(pairs_bytes(pairs), hold_limits.max_bytes / 2);
	}
	ck_assert_uint_gt(emitted_count, 10000);
	ck_assert_int_eq(rows.row[PAIRS_WITHOUT_EXIT], 0);
	end(pairs);
}
END_TEST

/* Who has many open has as much right to have others held as one who has none open, and floods. */
START_TEST(held_beside_a_flood)
{
	const struct pairs_limits limits = {1000 * MS, 4 << 20};
	struct pairs *pairs = make(&limits);
	struct pair_event event;

	for (int i = 0; i < 5000; i++)
		enter(pairs, "open", i, 1);
	ck_assert_uint_gt(pairs_bytes(pairs), PAIR_HELD_MAX);
	enter(pairs, "good", 9999, 2);
	leave(pairs, "good", 9999, 3);
	for (int i = 0; i < 20000; i++) {
		event = event_of(i % 2, "bad", 1, 4);
		event.user = 666;
		pairs_take(pairs, &event, 4 * MS);
	}
	ck_assert_ptr_nonnull(strstr(emitted->str, "bad@"));
	ck_assert_ptr_null(strstr(emitted->str, "good@"));
	end(pairs);
}
END_TEST

/* Fields */

static void put_number(struct buffer *out, const char *key, const char *value)
{
	const struct tag tag = {{key, (uint32_t)strlen(key)}, {value, (uint32_t)strlen(value)}, TAG_INT};

	value_put(out, true, &tag);
}

static GString *tags;

static void note_tags(void *data, const struct span *span)
{
	(void)data;
	for (size_t i = 0; i < span->tag_count; i++)
		g_string_append_printf(tags, "%.*s=%.*s;", (int)span->tags[i].key.size,
			span->tags[i].key.data, (int)span->tags[i].value.size, span->tags[i].value.data);
}

START_TEST(fields)
{
	struct pairs *pairs = pairs_create(&now_limits, &rows, note_tags, NULL);
	struct buffer in = {0}, out = {0}, many = {0};
	struct pair_event event = event_of(false, "a", 1, 0);

	tags = g_string_new(NULL);
	put_number(&in, "size", "4");
	put_number(&in, "x", "1");
	put_number(&out, "y", "2");
	put_number(&out, "size", "5");
	put_number(&out, "x", "1"); /* the same */
	event.fields = (struct text){(const char *)in.data, (uint32_t)in.size};
	pairs_take(pairs, &event, 0);
	event = event_of(true, "a", 1, 1);
	event.fields = (struct text){(const char *)out.data, (uint32_t)out.size};
	pairs_take(pairs, &event, 0);
	ck_assert_str_eq(tags->str, "size=4;x=1;y=2;exit.size=5;thread.id=1;");
	/* too many, of the same name */
	for (int i = 0; i < 1000; i++)
		put_number(&many, "size", i % 2 ? "4" : "5");
	for (int exits = 0; exits < 2; exits++) {
		event = event_of(exits, "a", 1, 2);
		event.fields = (struct text){(const char *)many.data, (uint32_t)many.size};
		pairs_take(pairs, &event, 0);
	}
	ck_assert_ptr_nonnull(strstr(tags->str, "thread.id=1;blkin.truncated=fields of its events;"));
	g_string_free(tags, TRUE);
	pairs_destroy(pairs);
	buffer_free(&in);
	buffer_free(&out);
	buffer_free(&many);
}
END_TEST

/* As many as there may be, those of EXIT in the other order; some are the same, some have other values, and
 * some are of one event only. */
START_TEST(many_fields)
{
	struct pairs *pairs = pairs_create(&now_limits, &rows, note_tags, NULL);
	g_autoptr(GString) wanted = g_string_new(NULL), more = g_string_new(NULL);
	struct pair_event event = event_of(false, "a", 1, 0);
	struct buffer in = {0}, out = {0};
	char key[16];

	tags = g_string_new(NULL);
	for (int i = 0; i < PAIR_TAGS_MAX; i++) {
		const int at = PAIR_TAGS_MAX - 1 - i;

		g_snprintf(key, sizeof(key), "k%d", i);
		put_number(&in, key, "1");
		g_string_append_printf(wanted, "%s=1;", key);
		g_snprintf(key, sizeof(key), "%c%d", at % 3 ? 'k' : 'z', at);
		put_number(&out, key, at % 3 == 1 ? "2" : "1");
		if (at % 3 < 2)
			g_string_append_printf(more, "%s%s=%d;", at % 3 ? "exit." : "", key, at % 3 + 1);
	}
	g_string_append_printf(wanted, "%sthread.id=1;", more->str);
	event.fields = (struct text){(const char *)in.data, (uint32_t)in.size};
	pairs_take(pairs, &event, 0);
	event = event_of(true, "a", 1, 1);
	event.fields = (struct text){(const char *)out.data, (uint32_t)out.size};
	pairs_take(pairs, &event, 0);
	ck_assert_str_eq(tags->str, wanted->str);
	g_string_free(tags, TRUE);
	pairs_destroy(pairs);
	buffer_free(&in);
	buffer_free(&out);
}
END_TEST

/* Events' own values, as tags have them. */
START_TEST(values)
{
	struct buffer bytes = {0}, out = {0};
	struct event_head head = {.moment = {MOMENT_TIME, 1, T0}, .name = literal("a")};
	struct event_record record;
	struct text rest;
	struct tag tag;
	size_t begin;
	GString *is = g_string_new(NULL);

	event_record_begin(&bytes, &head, 1u << SCOPE_COMMON | 1u << SCOPE_PAYLOAD);
	begin = event_scope_open(&bytes);
	event_put_count(&bytes, 3);
	event_put_text(&bytes, "procname", 8);
	event_put_kind(&bytes, FIELD_STRING);
	event_put_text(&bytes, "p", 1);
	event_put_text(&bytes, "vpid", 4);
	event_put_number(&bytes, FIELD_SIGNED, varint_fold(-3));
	event_put_text(&bytes, "pid_ns", 6);
	event_put_number(&bytes, FIELD_UNSIGNED, 4026531836);
	event_scope_close(&bytes, begin);
	begin = event_scope_open(&bytes);
	event_put_count(&bytes, 9);
	event_put_text(&bytes, "u", 1);
	event_put_number(&bytes, FIELD_UNSIGNED, UINT64_MAX);
	event_put_text(&bytes, "i", 1);
	event_put_number(&bytes, FIELD_SIGNED, varint_fold(-5));
	event_put_text(&bytes, "b", 1);
	event_put_number(&bytes, FIELD_BOOL, 1);
	event_put_text(&bytes, "d", 1);
	event_put_real(&bytes, FIELD_DOUBLE, 0.25);
	event_put_text(&bytes, "t", 1);
	event_put_kind(&bytes, FIELD_STRING);
	event_put_text(&bytes, "text", 4);
	event_put_text(&bytes, "e", 1);
	event_put_number(&bytes, FIELD_UNSIGNED_ENUM, 3);
	event_put_count(&bytes, 1);
	event_put_text(&bytes, "READ", 4);
	event_put_text(&bytes, "l", 1);
	event_put_number(&bytes, FIELD_ARRAY, 2);
	event_put_number(&bytes, FIELD_UNSIGNED, 1);
	event_put_number(&bytes, FIELD_UNSIGNED, 2);
	event_put_text(&bytes, "o", 1);
	event_put_kind(&bytes, FIELD_OPTION);
	event_put_text(&bytes, "v", 1);
	event_put_kind(&bytes, FIELD_VARIANT);
	event_put_text(&bytes, "one", 3);
	event_put_number(&bytes, FIELD_UNSIGNED, 7);
	event_scope_close(&bytes, begin);
	ck_assert(event_record_open(&record, bytes.data, bytes.size));
	ck_assert_int_eq(pair_fields_context(&record, "pid_ns").value, 4026531836);
	ck_assert(!pair_fields_context(&record, "vtid").known);
	ck_assert(pair_fields_put(&out, &record));
	rest = (struct text){(const char *)out.data, (uint32_t)out.size};
	while (value_next(&rest, true, &tag)) {
		struct text inner = tag.value;
		struct tag part;

		g_string_append_printf(is, "%.*s:%d", (int)tag.key.size, tag.key.data, (int)tag.type);
		if (tag.type == TAG_LIST || tag.type == TAG_MAP)
			while (value_next(&inner, tag.type == TAG_MAP, &part))
				g_string_append_printf(is, ",%.*s%.*s", (int)part.key.size, part.key.data,
					(int)part.value.size, part.value.data);
		else
			g_string_append_printf(is, "=%.*s", (int)tag.value.size, tag.value.data);
		g_string_append_c(is, ' ');
	}
	ck_assert_str_eq(is->str,
		"u:0=18446744073709551615 i:1=-5 b:3=true d:2=0.25 t:0=text e:0=READ l:5,1,2 "
		"o:7= v:6,one7 ");
	/* a record that is cut off has none */
	for (size_t size = 0; size < bytes.size; size++) {
		struct buffer none = {0};

		if (event_record_open(&record, bytes.data, size) && !pair_fields_put(&none, &record))
			ck_assert_uint_eq(none.size, 0);
		buffer_free(&none);
	}
	g_string_free(is, TRUE);
	buffer_free(&bytes);
	buffer_free(&out);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	emitted = g_string_new(NULL);
	tcase_add_test(cases, wrong_rules);
	tcase_add_test(cases, many_rules);
	tcase_add_test(cases, names);
	tcase_add_test(cases, nested);
	tcase_add_test(cases, interleaved);
	tcase_add_test(cases, halves);
	tcase_add_test(cases, namespaces);
	tcase_add_test(cases, same_ids);
	tcase_add_test(cases, deep);
	tcase_add_test(cases, many_threads);
	tcase_add_test(cases, hostile_user);
	tcase_add_test(cases, kept);
	tcase_add_test(cases, held_for_less);
	tcase_add_test(cases, garbage);
	tcase_add_test(cases, adopted);
	tcase_add_test(cases, not_adopted);
	tcase_add_test(cases, adopted_of_many);
	tcase_add_test(cases, spans_beside_many);
	tcase_add_test(cases, not_held);
	tcase_add_test(cases, held_in_bounds);
	tcase_add_test(cases, held_beside_a_flood);
	tcase_add_test(cases, fields);
	tcase_add_test(cases, many_fields);
	tcase_add_test(cases, values);
	return run_cases("pairs", cases);
}
