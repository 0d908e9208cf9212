/* SPDX-License-Identifier: BSD-2-Clause */
/* Contexts in requests: what each format says, what it refuses, and that nothing is lost on the way. */
#include <check.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <blkin/blkin.h>

#include "../fuzz/context_rules.h"

#include "run.h"

#define ROUNDS 20000

#define T1 UINT64_C(0x7a1c09d4e2b85f36) /* upper half of a trace id */
#define T0 UINT64_C(0x00d9e8c7b6a51423) /* its lower half */
#define S UINT64_C(0x51e0f2a3b4c5d697)
#define P UINT64_C(0x0c1d2e3f4a5b6c7d)
#define T1_ "7a1c09d4e2b85f36"
#define T0_ "00d9e8c7b6a51423"
#define S_ "51e0f2a3b4c5d697"
#define P_ "0c1d2e3f4a5b6c7d"
#define Z_ "0000000000000000"

/* Contexts as they should be read: sampled, debug, not sampled, left to the receiver. */
#define SAMPLED(high, trace, span, parent)                                                                   \
	{                                                                                                    \
		high, trace, span, parent, 0, 0, 0                                                           \
	}
#define DEBUG(high, trace, span, parent)                                                                     \
	{                                                                                                    \
		high, trace, span, parent, 1, 0, 0                                                           \
	}
#define DENIED(high, trace, span, parent)                                                                    \
	{                                                                                                    \
		high, 0, span, parent, 0, 0, trace                                                           \
	}
#define DEFERRED(high, trace, span, parent)                                                                  \
	{                                                                                                    \
		high, trace, span, parent, 0, 1, 0                                                           \
	}

static char *guarded_end; /* where readable memory ends */
static uint64_t seed;

static void setup(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(memory, MAP_FAILED);
	ck_assert_int_eq(mprotect(memory + page, page, PROT_NONE), 0);
	guarded_end = memory + page;
	seed = 20140905;
}

static void teardown(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	munmap(guarded_end - page, 2 * page);
}

/* Copies bytes to where a read beyond them crashes. */
static const char *guard(const void *bytes, size_t size)
{
	char *to = guarded_end - size;

	__asm__("" : "+r"(to)); /* the compiler knows guarded_end too well, and warns of a write beyond it */
	return memcpy(to, bytes, size);
}

/* Numbers that are the same in each run (xorshift64*). */
static uint64_t number(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * UINT64_C(0x2545f4914f6cdd1d);
}

static uint64_t random_id(void)
{
	uint64_t id = number() >> (number() % 60);

	return id ? id : 1;
}

static struct blkin_context random_context(enum blkin_decision decision)
{
	struct blkin_context context = {0};
	uint64_t trace = random_id();

	context.trace_id_high = number() % 2 ? random_id() : 0;
	context.span_id = random_id();
	context.parent_id = number() % 2 ? random_id() : 0;
	if (decision == BLKIN_DECISION_DENY)
		context.unsampled_id = trace;
	else
		context.trace_id = trace;
	context.debug = decision == BLKIN_DECISION_DEBUG;
	context.deferred = decision == BLKIN_DECISION_DEFER;
	return context;
}

static void assert_same(const struct blkin_context *is, const struct blkin_context *want, const char *what)
{
	ck_assert_msg(memcmp(is, want, sizeof(*is)) == 0,
		"%s: trace %016lx%016lx (unsampled %lx) span %lx parent %lx debug %d deferred %d", what,
		is->trace_id_high, is->trace_id, is->unsampled_id, is->span_id, is->parent_id, is->debug,
		is->deferred);
}

static void assert_holds(const char *broken, const char *text, size_t size)
{
	ck_assert_msg(broken == NULL, "does not hold: %s, for \"%.*s\" (%zu)", broken, (int)size, text, size);
}

/* ---- what the formats say ---- */

struct example {
	const char *text;
	struct blkin_context context;
	const char *again; /* as we write it; NULL: as it came */
};

static const struct example b3[] = {
	{T1_ T0_ "-" S_ "-1-" P_, SAMPLED(T1, T0, S, P), NULL},
	{T1_ T0_ "-" S_ "-1", SAMPLED(T1, T0, S, 0), NULL},
	{T1_ T0_ "-" S_ "-d-" P_, DEBUG(T1, T0, S, P), NULL},
	{T1_ T0_ "-" S_ "-0-" P_, DENIED(T1, T0, S, P), NULL},
	{T1_ T0_ "-" S_, DEFERRED(T1, T0, S, 0), NULL},
	{T1_ T0_ "-" S_ "-" P_, DEFERRED(T1, T0, S, P), NULL},
	{T0_ "-" S_ "-1-" P_, SAMPLED(0, T0, S, P), NULL},
	{T0_ "-" S_ "-0", DENIED(0, T0, S, 0), NULL},
	{T0_ "-" S_, DEFERRED(0, T0, S, 0), NULL},
	{T0_ "-" S_ "-" P_, DEFERRED(0, T0, S, P), NULL},
	{"0", DENIED(0, 0, 0, 0), NULL},
	{Z_ T0_ "-" S_ "-1", SAMPLED(0, T0, S, 0), T0_ "-" S_ "-1"},
	{"7A1C09D4E2B85F36" T0_ "-51E0F2A3B4C5D697-D", DEBUG(T1, T0, S, 0), T1_ T0_ "-" S_ "-d"},
	{Z_ "000000000000000a-000000000000000b-1", SAMPLED(0, 10, 11, 0),
		"000000000000000a-000000000000000b-1"},
};

static const struct example traceparents[] = {
	{"00-" T1_ T0_ "-" S_ "-01", SAMPLED(T1, T0, S, 0), NULL},
	{"00-" T1_ T0_ "-" S_ "-00", DENIED(T1, T0, S, 0), NULL},
	{"00-" Z_ T0_ "-" S_ "-01", SAMPLED(0, T0, S, 0), NULL},
	{"00-" T1_ T0_ "-" S_ "-03", SAMPLED(T1, T0, S, 0), "00-" T1_ T0_ "-" S_ "-01"},
	{"00-" T1_ T0_ "-" S_ "-fe", DENIED(T1, T0, S, 0), "00-" T1_ T0_ "-" S_ "-00"},
	{"01-" T1_ T0_ "-" S_ "-01", SAMPLED(T1, T0, S, 0), "00-" T1_ T0_ "-" S_ "-01"},
	{"fe-" T1_ T0_ "-" S_ "-09-", SAMPLED(T1, T0, S, 0), "00-" T1_ T0_ "-" S_ "-01"},
	{"0f-" T1_ T0_ "-" S_ "-00-What comes=LATER", DENIED(T1, T0, S, 0), "00-" T1_ T0_ "-" S_ "-00"},
};

static void assert_examples(const struct rule_form *form, const struct example *examples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct example *example = examples + i;
		struct blkin_context context = rule_untouched();
		size_t size = strlen(example->text);
		char out[RULE_ROOM];

		ck_assert_msg(form->extract(&context, guard(example->text, size), size) == 0, "%s is refused",
			example->text);
		assert_same(&context, &example->context, example->text);
		ck_assert_uint_eq(form->inject(&context, out), strlen(out));
		ck_assert_str_eq(out, example->again ? example->again : example->text);
	}
}

START_TEST(test_b3)
{
	struct rule_form form = rule_b3();

	assert_examples(&form, b3, sizeof(b3) / sizeof(*b3));
}
END_TEST

START_TEST(test_traceparent)
{
	struct rule_form form = rule_traceparent();

	assert_examples(&form, traceparents, sizeof(traceparents) / sizeof(*traceparents));
}
END_TEST

/* "1" and "d" begin a trace here: under a fresh id, and the next span is its root. */
START_TEST(test_b3_alone)
{
	struct blkin_context context, other;
	struct blkin_span span;
	char out[BLKIN_B3_SIZE];

	ck_assert_int_eq(blkin_context_extract_b3(&context, guard("1", 1), 1), 0);
	ck_assert_int_eq(blkin_context_extract_b3(&other, guard("1", 1), 1), 0);
	ck_assert(context.trace_id && other.trace_id && context.trace_id != other.trace_id);
	ck_assert(!context.span_id && !context.parent_id && !context.debug && !context.deferred);
	ck_assert_uint_eq(blkin_context_inject_b3(&context, out), 1);
	ck_assert_str_eq(out, "1");

	ck_assert_int_eq(blkin_context_extract_b3(&context, guard("d", 1), 1), 0);
	ck_assert(context.trace_id && !context.span_id && context.debug);
	blkin_span_start(&span, BLKIN_SERVER, "root", NULL, &context);
	ck_assert_uint_eq(blkin_span_context(&span)->trace_id, context.trace_id);
	ck_assert_uint_eq(blkin_span_context(&span)->parent_id, 0);
	ck_assert_uint_eq(blkin_context_inject_b3(&context, out), 1);
	ck_assert_str_eq(out, "d");
}
END_TEST

START_TEST(test_refused)
{
	static const char *const bad_b3[] = {"", "2", "x", "-", "-1", "1-", "00", "true", T0_, T0_ "-",
		T0_ "-" S_ "-", T0_ "-" S_ "-2", T0_ "-" S_ "-11", T0_ "-" S_ "-1-", T0_ "-" S_ "--" P_,
		T0_ "-" S_ "-1-" Z_, T0_ "-" S_ "-" Z_, T0_ "-" Z_ "-1", Z_ "-" S_ "-1", Z_ Z_ "-" S_ "-1",
		T1_ Z_ "-" S_ "-1", T0_ "-" S_ "-1-" P_ "-", T0_ "-" S_ "-1-" P_ " ", " " T0_ "-" S_ "-1",
		T0_ "_" S_ "-1", T0_ "-" S_ "_1", T0_ "-" S_ "-1_" P_, T1_ T0_ "0-" S_ "-1",
		T1_ "0" T0_ "-" S_, "0x" T0_ "-" S_ "-1", "g0d9e8c7b6a51423-" S_ "-1",
		T1_ "-" T0_ "-" S_ "-1", "+0d9e8c7b6a51423-" S_ "-1", T0_ "-" S_ "-1\n", T0_ "-" T1_ S_ "-1"};
	static const char *const bad_traceparent[] = {"", "00", "0", "d", "00-" T1_ T0_ "-" S_,
		"00-" T1_ T0_ "-" S_ "-", "00-" T1_ T0_ "-" S_ "-0", "00-" T1_ T0_ "-" S_ "-011",
		"00-" T1_ T0_ "-" S_ "-01-", "00-" T1_ T0_ "-" S_ "-01-more", "ff-" T1_ T0_ "-" S_ "-01",
		"ff-" T1_ T0_ "-" S_ "-01-more", "0-" T1_ T0_ "-" S_ "-011", "000" T1_ T0_ "-" S_ "-01",
		"0g-" T1_ T0_ "-" S_ "-01", "FE-" T1_ T0_ "-" S_ "-01", "00-" Z_ Z_ "-" S_ "-01",
		"00-" T1_ T0_ "-" Z_ "-01", "00-" T1_ Z_ "-" S_ "-01", "00-" T1_ T0_ "-51E0F2A3B4C5D697-01",
		"00-7A1C09D4E2B85F36" T0_ "-" S_ "-01", "00-" T1_ T0_ "-" S_ "-0A",
		"00-" T1_ T0_ "-" S_ "-g1", "00_" T1_ T0_ "-" S_ "-01", "00-" T1_ T0_ "_" S_ "-01",
		"00-" T1_ T0_ "-" S_ "_01", "01-" T1_ T0_ "-" S_ "-011", "01-" T1_ T0_ "-" S_ "-01.more",
		"01-" T1_ T0_ "-" S_ "-0", "01-" T1_ T0_ "-" S_ "-01-\n", " 00-" T1_ T0_ "-" S_ "-01",
		"00-" T1_ T0_ "-" S_ "-01 ", "00-" T0_ "-" S_ "-01"};
	struct blkin_context context = rule_untouched(), untouched = rule_untouched();

	for (size_t i = 0; i < sizeof(bad_b3) / sizeof(*bad_b3); i++) {
		size_t size = strlen(bad_b3[i]);

		ck_assert_msg(blkin_context_extract_b3(&context, guard(bad_b3[i], size), size) == -EINVAL,
			"\"%s\" is read", bad_b3[i]);
		assert_same(&context, &untouched, bad_b3[i]);
	}
	for (size_t i = 0; i < sizeof(bad_traceparent) / sizeof(*bad_traceparent); i++) {
		size_t size = strlen(bad_traceparent[i]);
		const char *text = guard(bad_traceparent[i], size);

		ck_assert_msg(blkin_context_extract_traceparent(&context, text, size) == -EINVAL,
			"\"%s\" is read", bad_traceparent[i]);
		assert_same(&context, &untouched, bad_traceparent[i]);
	}
	ck_assert_int_eq(blkin_context_extract_b3(&context, NULL, 0), -EINVAL);
	ck_assert_int_eq(blkin_context_extract_traceparent(&context, NULL, 0), -EINVAL);
	ck_assert_int_eq(blkin_context_unpack(&context, NULL, 0), -EINVAL);
}
END_TEST

/* Five headers: trace, span, parent, sampled, flags; "!" is one that did not come. */
struct multi {
	const char *headers;
	struct blkin_context context;
	const char *again; /* the same as they are sent */
};

static const struct multi multis[] = {
	{T1_ T0_ "\n" S_ "\n" P_ "\n1\n!", SAMPLED(T1, T0, S, P), T1_ T0_ "\n" S_ "\n" P_ "\n1\n"},
	{T0_ "\n" S_ "\n!\n1\n0", SAMPLED(0, T0, S, 0), T0_ "\n" S_ "\n\n1\n"},
	{T0_ "\n" S_ "\n!\ntrue\n!", SAMPLED(0, T0, S, 0), T0_ "\n" S_ "\n\n1\n"},
	{T0_ "\n" S_ "\n!\n!\n1", DEBUG(0, T0, S, 0), T0_ "\n" S_ "\n\n\n1"},
	{T0_ "\n" S_ "\n!\n0\n1", DEBUG(0, T0, S, 0), T0_ "\n" S_ "\n\n\n1"},
	{T1_ T0_ "\n" S_ "\n" P_ "\nfalse\n!", DENIED(T1, T0, S, P), T1_ T0_ "\n" S_ "\n" P_ "\n0\n"},
	{T0_ "\n" S_ "\n" P_ "\n!\n!", DEFERRED(0, T0, S, P), T0_ "\n" S_ "\n" P_ "\n\n"},
	{T0_ "\n51E0F2A3B4C5D697\n!\n!\n0", DEFERRED(0, T0, S, 0), T0_ "\n" S_ "\n\n\n"},
	{"!\n!\n!\n0\n!", DENIED(0, 0, 0, 0), "\n\n\n0\n"},
};

static struct blkin_b3_received lines(const char *text)
{
	const char *end = text + strlen(text);
	struct blkin_b3_received received;

	received.trace_id = rule_next_value(&text, end);
	received.span_id = rule_next_value(&text, end);
	received.parent_id = rule_next_value(&text, end);
	received.sampled = rule_next_value(&text, end);
	received.flags = rule_next_value(&text, end);
	return received;
}

START_TEST(test_multi)
{
	for (size_t i = 0; i < sizeof(multis) / sizeof(*multis); i++) {
		struct blkin_b3_received received = lines(multis[i].headers);
		struct blkin_context context = rule_untouched();
		struct blkin_b3_headers headers;
		char out[128];
		size_t count;

		ck_assert_int_eq(blkin_context_extract_b3_multi(&context, &received), 0);
		assert_same(&context, &multis[i].context, multis[i].headers);
		count = blkin_context_inject_b3_multi(&context, &headers);
		snprintf(out, sizeof(out), "%s\n%s\n%s\n%s\n%s", headers.trace_id, headers.span_id,
			headers.parent_id, headers.sampled, headers.flags);
		ck_assert_str_eq(out, multis[i].again);
		ck_assert_uint_eq(count, (size_t)((*headers.trace_id != 0) + (*headers.span_id != 0) +
						  (*headers.parent_id != 0) + (*headers.sampled != 0) +
						  (*headers.flags != 0)));
	}
}
END_TEST

START_TEST(test_multi_refused)
{
	static const char *const bad[] = {"!\n!\n!\n!\n!", "!\n!\n!\n!\n0", T0_ "\n!\n!\n1\n!",
		"!\n" S_ "\n!\n1\n!", "!\n!\n" P_ "\n1\n!", "!\n" S_ "\n" P_ "\n1\n!",
		T0_ "\n" S_ "\n!\n2\n!", T0_ "\n" S_ "\n!\n\n!", T0_ "\n" S_ "\n\n1\n!",
		T0_ "\n" S_ "\n!\nTRUE\n!", T0_ "\n" S_ "\n!\nd\n!", T0_ "\n" S_ "\n!\n1\n2",
		T0_ "\n" S_ "\n!\n1\n", T0_ "\n" S_ "\n" Z_ "\n1\n!", T0_ "\n" Z_ "\n!\n1\n!",
		Z_ "\n" S_ "\n!\n1\n!", T1_ T0_ "0\n" S_ "\n!\n1\n!", "0" T0_ "\n" S_ "\n!\n1\n!",
		T0_ "\n" S_ "0\n!\n1\n!", T0_ "\n" S_ "\n" P_ "0\n1\n!", T0_ " \n" S_ "\n!\n1\n!",
		"\n\n\n1\n"};
	struct blkin_context context = rule_untouched(), untouched = rule_untouched();

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct blkin_b3_received received = lines(bad[i]);

		ck_assert_msg(blkin_context_extract_b3_multi(&context, &received) == -EINVAL,
			"\"%s\" is read", bad[i]);
		assert_same(&context, &untouched, bad[i]);
	}
}
END_TEST

/* A header is as long as its size says, whatever stands behind it. */
START_TEST(test_multi_sizes)
{
	static const char hex[] = T1_ T0_ S_;

	for (size_t size = 0; size <= 40; size++) {
		struct blkin_b3_value value = {hex, size}, id = {hex, 16}, none = {NULL, 0};
		struct blkin_b3_received trace = {value, id, id, none, none},
					 span = {id, value, id, none, none};
		struct blkin_b3_received parent = {id, id, value, none, none};
		struct blkin_context context;

		ck_assert_int_eq(blkin_context_extract_b3_multi(&context, &trace),
			size == 16 || size == 32 ? 0 : -EINVAL);
		ck_assert_int_eq(blkin_context_extract_b3_multi(&context, &span), size == 16 ? 0 : -EINVAL);
		ck_assert_int_eq(blkin_context_extract_b3_multi(&context, &parent), size == 16 ? 0 : -EINVAL);
	}
}
END_TEST

START_TEST(test_packed)
{
	static const uint8_t bytes[] = {0x7a, 0x1c, 0x09, 0xd4, 0xe2, 0xb8, 0x5f, 0x36, 0x00, 0xd9, 0xe8,
		0xc7, 0xb6, 0xa5, 0x14, 0x23, 0x51, 0xe0, 0xf2, 0xa3, 0xb4, 0xc5, 0xd6, 0x97, 0x0c, 0x1d,
		0x2e, 0x3f, 0x4a, 0x5b, 0x6c, 0x7d, 0};
	static const struct blkin_context decided[] = {
		DENIED(T1, T0, S, P), SAMPLED(T1, T0, S, P), DEBUG(T1, T0, S, P), DEFERRED(T1, T0, S, P)};
	struct blkin_context context, nothing = {0};
	struct blkin_context_packed packed;

	ck_assert_uint_eq(sizeof(packed), sizeof(bytes));
	for (uint8_t decision = 0; decision < 4; decision++) {
		blkin_context_pack(&decided[decision], &packed);
		ck_assert_mem_eq(&packed, bytes, 32);
		ck_assert_uint_eq(packed.decision, decision);
		ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), 0);
		assert_same(&context, &decided[decision], "packed");
	}
	packed.decision = 4;
	ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), -EINVAL);
	ck_assert_int_eq(blkin_context_unpack(&context, bytes, sizeof(bytes) - 1), -EINVAL);

	memset(&packed, 0, sizeof(packed));
	ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), 0);
	assert_same(&context, &nothing, "all zero");
	packed.decision = BLKIN_DECISION_ACCEPT; /* sampled, but no trace */
	ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), -EINVAL);
	packed.decision = BLKIN_DECISION_DENY;
	packed.parent_id[7] = 1;
	ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), -EINVAL);
	packed.trace_id[7] = packed.parent_id[7] = 1; /* not sampled, a trace, but no span */
	ck_assert_int_eq(blkin_context_unpack(&context, &packed, sizeof(packed)), -EINVAL);
}
END_TEST

START_TEST(test_tracestate)
{
	static const char *const good[] = {
		"", "a=1", "rojo=x,congo=y", " a=1 ,\tb=~!", "1a-_*/@v=0", "not of the grammar"};
	static const char *const bad[] = {"a=1\r\nSet-Cookie: x", "a=\x7f", "a=\xc3\xa4", "a=\x01"};
	struct blkin_tracestate state = {NULL, 0};
	char out[BLKIN_TRACESTATE_SIZE], longest[513];

	ck_assert_uint_eq(blkin_tracestate_inject(&state, out), 0);
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		const char *text = guard(good[i], strlen(good[i]));

		ck_assert_int_eq(blkin_tracestate_extract(&state, text, strlen(good[i])), 0);
		ck_assert_uint_eq(blkin_tracestate_inject(&state, out), strlen(good[i]));
		ck_assert_str_eq(out, good[i]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		ck_assert_int_eq(blkin_tracestate_extract(&state, bad[i], strlen(bad[i])), -EINVAL);
	ck_assert_int_eq(blkin_tracestate_extract(&state, "a=\0b", 4), -EINVAL);

	memset(longest, 'a', sizeof(longest));
	ck_assert_int_eq(blkin_tracestate_extract(&state, longest, 513), -EINVAL);
	ck_assert_int_eq(blkin_tracestate_extract(&state, longest, 512), 0);
	ck_assert_uint_eq(blkin_tracestate_inject(&state, out), 512);
	ck_assert_uint_eq(strlen(out), 512);
}
END_TEST

START_TEST(test_classic)
{
	static const struct blkin_context contexts[] = {
		SAMPLED(T1, T0, S, P), DENIED(T1, T0, S, P), DEFERRED(T1, T0, S, 0)};
	static const struct blkin_context classic[] = {
		SAMPLED(0, T0, S, P), DENIED(0, 0, 0, 0), SAMPLED(0, T0, S, 0)};
	struct blkin_trace_info info = {0, 1, 2};
	struct blkin_context context = rule_untouched();

	blkin_context_from_info(&context, &info);
	assert_same(&context, &classic[1], "trace id 0");
	for (size_t i = 0; i < 3; i++) {
		blkin_context_to_info(&contexts[i], &info);
		blkin_context_from_info(&context, &info);
		assert_same(&context, &classic[i], "classic");
	}
	blkin_context_to_info(&contexts[0], &info);
	ck_assert(info.trace_id == (int64_t)T0 && info.span_id == (int64_t)S &&
		  info.parent_span_id == (int64_t)P);
}
END_TEST

/* ---- what a decision does ---- */

START_TEST(test_decide)
{
	struct blkin_context deferred = DEFERRED(T1, T0, S, P), denied = DENIED(T1, T0, S, P);
	struct blkin_context sampled = SAMPLED(T1, T0, S, P), debug = DEBUG(T1, T0, S, P);
	struct blkin_context unknown = DEFERRED(0, 0, 0, 0), nothing = {0}, context;

	context = debug;
	context.deferred = 1; /* debug implies that it is sampled */
	ck_assert_int_eq(blkin_context_decision(&context), BLKIN_DECISION_DEBUG);
	context = deferred;
	blkin_context_decide(&context, 0);
	assert_same(&context, &denied, "deferred, then denied");
	blkin_context_decide(&context, 1);
	assert_same(&context, &denied, "decided once");
	context = deferred;
	blkin_context_decide(&context, 1);
	assert_same(&context, &sampled, "deferred, then sampled");
	blkin_context_decide(&context, 0);
	assert_same(&context, &sampled, "decided once");
	context = debug;
	blkin_context_decide(&context, 0);
	assert_same(&context, &debug, "debug is decided");
	context = unknown;
	blkin_context_decide(&context, 0);
	assert_same(&context, &nothing, "unknown, then denied");
	context = unknown;
	blkin_context_decide(&context, 1);
	ck_assert(context.trace_id && !context.deferred);
}
END_TEST

/* Nothing known of a trace: no header. Known only that it is not sampled: each form says so. */
START_TEST(test_without_ids)
{
	struct blkin_context unknown = DEFERRED(0, 0, 0, 0), nothing = {0}, one, two;
	struct blkin_b3_headers headers;
	char out[BLKIN_B3_SIZE];

	ck_assert_uint_eq(blkin_context_inject_b3(&unknown, out), 0);
	ck_assert_uint_eq(blkin_context_inject_b3_multi(&unknown, &headers), 0);
	ck_assert_uint_eq(blkin_context_inject_traceparent(&unknown, out), 0);
	ck_assert_str_eq(out, "");

	ck_assert_uint_eq(blkin_context_inject_traceparent(&nothing, out), 55);
	ck_assert_int_eq(blkin_context_extract_traceparent(&one, out, 55), 0);
	ck_assert_uint_eq(blkin_context_inject_traceparent(&nothing, out), 55);
	ck_assert_int_eq(blkin_context_extract_traceparent(&two, out, 55), 0);
	ck_assert(one.trace_id == 0 && two.trace_id == 0);
	ck_assert(one.unsampled_id && two.unsampled_id && one.unsampled_id != two.unsampled_id);
	ck_assert(one.span_id && two.span_id && one.span_id != two.span_id);
}
END_TEST

/* A request that is not sampled crosses a program's spans and leaves as it came. */
START_TEST(test_unsampled_passes_spans)
{
	static const char text[] = T1_ T0_ "-" S_ "-0-" P_;
	struct blkin_span server, client;
	struct blkin_context received;
	char out[BLKIN_TRACEPARENT_SIZE], b3_out[BLKIN_B3_SIZE];

	ck_assert_int_eq(blkin_context_extract_b3(&received, text, strlen(text)), 0);
	ck_assert_uint_eq(received.trace_id, 0);
	blkin_span_join(&server, "in", NULL, &received);
	blkin_span_start(&client, BLKIN_CLIENT, "out", NULL, blkin_span_context(&server));
	blkin_context_inject_b3(blkin_span_context(&client), b3_out);
	ck_assert_str_eq(b3_out, text);
	blkin_context_inject_traceparent(blkin_span_context(&client), out);
	ck_assert_str_eq(out, "00-" T1_ T0_ "-" S_ "-00");
}
END_TEST

/* ---- properties ---- */

/* What is left of a context after a traceparent: no parent, no debug, and no third state. */
static struct blkin_context as_traceparent(struct blkin_context context)
{
	blkin_context_decide(&context, 0);
	context.parent_id = 0;
	context.debug = 0;
	return context;
}

START_TEST(test_round_trips)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct blkin_context context = random_context((enum blkin_decision)(i % 4)), read, want;
		struct blkin_context_packed packed;
		struct blkin_b3_received received;
		struct blkin_b3_headers headers;
		char text[BLKIN_B3_SIZE];
		size_t size;

		blkin_context_pack(&context, &packed);
		read = rule_untouched();
		ck_assert_int_eq(
			blkin_context_unpack(&read, guard(&packed, sizeof(packed)), sizeof(packed)), 0);
		assert_same(&read, &context, "packed");

		size = blkin_context_inject_b3(&context, text);
		read = rule_untouched();
		ck_assert_int_eq(blkin_context_extract_b3(&read, guard(text, size), size), 0);
		assert_same(&read, &context, text);

		blkin_context_inject_b3_multi(&context, &headers);
		received = rule_receive(&headers);
		read = rule_untouched();
		ck_assert_int_eq(blkin_context_extract_b3_multi(&read, &received), 0);
		assert_same(&read, &context, "X-B3-");

		size = blkin_context_inject_traceparent(&context, text);
		read = rule_untouched();
		want = as_traceparent(context);
		ck_assert_int_eq(blkin_context_extract_traceparent(&read, guard(text, size), size), 0);
		assert_same(&read, &want, text);
	}
}
END_TEST

/* Whatever bytes a program has in its context, what is sent is well formed. */
START_TEST(test_any_context)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t words[sizeof(struct blkin_context) / 8];
		struct blkin_context context;

		for (size_t n = 0; n < sizeof(words) / sizeof(*words); n++)
			words[n] = number() % 2 ? number() : 0;
		memcpy(&context, words, sizeof(context));
		assert_holds(rule_any_context(&context), "", 0);
	}
}
END_TEST

/* The grammars once more, as regular expressions: what is accepted must be exactly what they match. */
#define HEX16 "[0-9a-fA-F]{16}"
#define LOW16 "[0-9a-f]{16}"
#define B3_GRAMMAR "^([01dD]|(" HEX16 "){1,2}-" HEX16 "(-[01dD])?(-" HEX16 ")?)$"
#define TRACEPARENT_GRAMMAR                                                                                  \
	"^(00-" LOW16 LOW16 "-" LOW16 "-[0-9a-f]{2}"                                                         \
	"|([1-9a-e][0-9a-f]|0[1-9a-f]|f[0-9a-e])-" LOW16 LOW16 "-" LOW16 "-[0-9a-f]{2}(-[\t -~]*)?)$"

struct grammar {
	struct rule_form form;
	regex_t expression;
	long accepted, refused;
};

static void grammar_init(struct grammar *grammar, struct rule_form form, const char *expression)
{
	grammar->form = form;
	grammar->accepted = grammar->refused = 0;
	ck_assert_int_eq(regcomp(&grammar->expression, expression, REG_EXTENDED | REG_NOSUB), 0);
}

static void grammar_finish(struct grammar *grammar)
{
	regfree(&grammar->expression);
	/* A test that only ever refuses, or accepts, shows nothing. */
	ck_assert_int_gt(grammar->accepted, 100);
	ck_assert_int_gt(grammar->refused, 100);
}

static void assert_grammar(struct grammar *grammar, const char *bytes, size_t size)
{
	struct blkin_context context = rule_untouched();
	const char *text = guard(bytes, size);
	int accepted = grammar->form.extract(&context, text, size) == 0;
	char string[RULE_ROOM];
	int matches;

	memcpy(string, bytes, size);
	string[size] = '\0';
	matches = !memchr(bytes, '\0', size) && !regexec(&grammar->expression, string, 0, NULL, 0);
	ck_assert_msg(accepted == matches, "\"%.*s\" (%zu): accepted %d, matches %d", (int)size, bytes, size,
		accepted, matches);
	assert_holds(rule_text(&grammar->form, text, size), bytes, size);
	grammar->accepted += accepted;
	grammar->refused += !accepted;
}

/* Puts one random byte, of a kind that comes close, over, before or instead of one in @text. */
static size_t mutate(char *text, size_t size)
{
	static const char near[] = "0123456789abcdefABCDEFgG-_ \n";
	size_t at = number() % (size + 1);
	char byte = number() % 4 ? near[number() % sizeof(near)] : (char)(number() & 0xff); /* also NUL */

	switch (number() % 4) {
	case 0:
		if (at == size)
			return size;
		memmove(text + at, text + at + 1, size - at - 1);
		return size - 1;
	case 1:
		memmove(text + at + 1, text + at, size - at);
		text[at] = byte;
		return size + 1;
	default:
		if (at < size)
			text[at] = byte;
		return size;
	}
}

/* Every beginning of a header, and many that differ from it by a byte or three. */
static void assert_neighbours(struct grammar *grammar, const char *original, size_t size)
{
	char text[RULE_ROOM];

	for (size_t n = 0; n <= size; n++)
		assert_grammar(grammar, original, n);
	for (int i = 0; i < 200; i++) {
		size_t changed = size;

		memcpy(text, original, size);
		for (uint64_t n = number() % 3 + 1; n > 0; n--)
			changed = mutate(text, changed);
		assert_grammar(grammar, text, changed);
	}
}

/* A context whose ids are so large that no change of a few digits makes one 0, which the grammars allow. */
static struct blkin_context large_context(enum blkin_decision decision)
{
	struct blkin_context context = random_context(decision);

	context.trace_id |= decision == BLKIN_DECISION_DENY ? 0 : T0;
	context.unsampled_id |= decision == BLKIN_DECISION_DENY ? T0 : 0;
	context.span_id |= S;
	context.parent_id |= context.parent_id ? P : 0;
	return context;
}

START_TEST(test_grammars)
{
	struct grammar single, parent;

	grammar_init(&single, rule_b3(), B3_GRAMMAR);
	grammar_init(&parent, rule_traceparent(), TRACEPARENT_GRAMMAR);
	for (int i = 0; i < 80; i++) {
		struct blkin_context context = large_context((enum blkin_decision)(i % 4));
		char text[RULE_ROOM];
		size_t size = blkin_context_inject_b3(&context, text);

		assert_neighbours(&single, text, size);
		size = blkin_context_inject_traceparent(&context, text);
		assert_neighbours(&parent, text, size);
		memcpy(text, "3c", 2); /* a later version, with more */
		memcpy(text + size, "-t1", 3);
		assert_neighbours(&parent, text, size + 3);
	}
	grammar_finish(&single);
	grammar_finish(&parent);
}
END_TEST

/* Every truncation of a packed context is refused, and every change of a byte refused or kept. */
START_TEST(test_packed_neighbours)
{
	for (int i = 0; i < 40; i++) {
		struct blkin_context context = random_context((enum blkin_decision)(i % 4)), read;
		char bytes[sizeof(struct blkin_context_packed)];

		blkin_context_pack(&context, (struct blkin_context_packed *)(void *)bytes);
		for (size_t n = 0; n < sizeof(bytes); n++) {
			char was = bytes[n];

			ck_assert_int_eq(blkin_context_unpack(&read, guard(bytes, n), n), -EINVAL);
			for (int value = 0; value < 256; value++) {
				bytes[n] = (char)value;
				assert_holds(
					rule_packed(guard(bytes, sizeof(bytes)), sizeof(bytes)), "packed", 6);
			}
			bytes[n] = was;
		}
	}
}
END_TEST

/* The five headers, with bytes changed. */
START_TEST(test_multi_neighbours)
{
	for (size_t i = 0; i < ROUNDS; i++) {
		const char *original = multis[i % (sizeof(multis) / sizeof(*multis))].headers;
		size_t size = strlen(original);
		char text[RULE_ROOM];

		memcpy(text, original, size);
		for (uint64_t n = number() % 3 + 1; n > 0; n--)
			size = mutate(text, size);
		assert_holds(rule_b3_multi(guard(text, size), size), text, size);
	}
}
END_TEST

static Suite *suite(void)
{
	Suite *suite = suite_create("context");
	TCase *says = tcase_create("formats"), *properties = tcase_create("properties");

	tcase_add_checked_fixture(says, setup, teardown);
	tcase_add_test(says, test_b3);
	tcase_add_test(says, test_b3_alone);
	tcase_add_test(says, test_traceparent);
	tcase_add_test(says, test_refused);
	tcase_add_test(says, test_multi);
	tcase_add_test(says, test_multi_refused);
	tcase_add_test(says, test_multi_sizes);
	tcase_add_test(says, test_packed);
	tcase_add_test(says, test_tracestate);
	tcase_add_test(says, test_classic);
	tcase_add_test(says, test_decide);
	tcase_add_test(says, test_without_ids);
	tcase_add_test(says, test_unsampled_passes_spans);
	suite_add_tcase(suite, says);
	tcase_add_checked_fixture(properties, setup, teardown);
	tcase_set_timeout(properties, 60);
	tcase_add_test(properties, test_round_trips);
	tcase_add_test(properties, test_any_context);
	tcase_add_test(properties, test_grammars);
	tcase_add_test(properties, test_packed_neighbours);
	tcase_add_test(properties, test_multi_neighbours);
	suite_add_tcase(suite, properties);
	return suite;
}

int main(void)
{
	return run_all(srunner_create(suite()));
}
