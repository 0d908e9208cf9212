/* SPDX-License-Identifier: BSD-2-Clause */
/* Assembly: what events become which spans, and that the ledger's rows add up whatever comes. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "base/digits.h"
#include "base/memfind.h"
#include "reader/assemble/assembler.h"
#include "reader/assemble/endpoint.h"
#include "reader/assemble/spanevent.h"
#include "reader/assemble/spannumber.h"

#include "run.h"
#include "texts.h"

#define MS INT64_C(1000000)
#define T0 INT64_C(1700000000000000000) /* ns since the epoch; the tracing clock is CLOCK0 then */
#define CLOCK0 UINT64_C(5000000000)

static struct ledger rows;
static GString *emitted; /* a line for each span that was emitted */
static int64_t emitted_count;

/* Writes the span as one line, times relative to T0 in microseconds. */
static void note(void *data, const struct span *span)
{
	(void)data;
	emitted_count++;
	g_string_append_printf(emitted,
		"%" G_GINT64_MODIFIER "x/%" G_GINT64_MODIFIER "x<%" G_GINT64_MODIFIER
		"x kind%d%s %.*s@%.*s %+d/%d",
		span->trace_id, span->id, span->parent_id, span->kind, span->shared ? " shared" : "",
		(int)span->name.size, span->name.data, (int)span->local.service.size,
		span->local.service.data, (int)(span_timestamp_us(span) - T0 / 1000),
		(int)span_duration_us(span));
	for (size_t i = 0; i < span->annotation_count; i++)
		g_string_append_printf(emitted, " %.*s%+d", (int)span->annotations[i].value.size,
			span->annotations[i].value.data, (int)(span->annotations[i].time / 1000 - T0 / 1000));
	for (size_t i = 0; i < span->tag_count; i++)
		g_string_append_printf(emitted, " %.*s=%.*s", (int)span->tags[i].key.size,
			span->tags[i].key.data, (int)span->tags[i].value.size, span->tags[i].value.data);
	if (span->has_remote)
		g_string_append_printf(emitted, " remote:%.*s:%d", (int)span->remote.service.size,
			span->remote.service.data, span->remote.port);
	g_string_append_c(emitted, '\n');
}

static struct assembler *assembler;
static const struct assembler_limits limits = {1000 * MS, 100 * MS, 64 * 1024};

static void setup(void)
{
	memset(&rows, 0, sizeof(rows));
	emitted = g_string_new(NULL);
	emitted_count = 0;
	assembler = assembler_create(&limits, &rows, note, NULL);
}

static void teardown(void)
{
	const int64_t *row = rows.row;

	assembler_flush(assembler);
	ck_assert_int_eq(row[SPANS_PENDING], 0);
	ck_assert_int_eq(row[SPANS_MADE], emitted_count);
	ck_assert_uint_eq(assembler_bytes(assembler), 0);
	assembler_destroy(assembler);
	g_string_free(emitted, TRUE);
}

static struct event classic(
	enum event_type type, uint64_t span, int64_t at_ms, const char *key, const char *value)
{
	return (struct event){.type = type,
		.time = T0 + at_ms * MS,
		.clock = CLOCK0 + (uint64_t)(at_ms * MS),
		.trace_id = 0xa,
		.span_id = span,
		.parent_id = 0xb,
		.port = 6800,
		.name = literal("op"),
		.service = literal("svc"),
		.ip = literal("10.0.0.1"),
		.key = literal(key),
		.value = literal(value)};
}

static void take(struct event event, int64_t now_ms)
{
	assembler_take(assembler, &event, now_ms * MS);
}

/* A span's event, of the data that is given as it is. */
static struct event raw(const char *data)
{
	return (struct event){.type = EVENT_SPAN,
		.time = T0,
		.clock = CLOCK0,
		.start = CLOCK0 - 5 * MS,
		.trace_id = 0xa,
		.span_id = 0x1,
		.level = EVENT_LEVEL_INFO,
		.name = literal("op"),
		.value = literal(data)};
}

#define HEAD "client 80 ::1 svc"

/* The same, with the lines behind a head. */
static struct event whole(const char *lines)
{
	static char data[8192];

	g_snprintf(data, sizeof(data), HEAD "\n%s", lines);
	return raw(data);
}

static struct event piece(enum event_type type, const char *key, const char *value)
{
	struct event event = raw(value);

	event.type = type;
	event.head = literal(HEAD);
	event.key = literal(key);
	event.piece_time = CLOCK0 - 1 * MS;
	return event;
}

static void assert_emitted(const char *expected)
{
	ck_assert_str_eq(emitted->str, expected);
	g_string_truncate(emitted, 0);
}

START_TEST(test_classic_ends_with_its_core_annotation)
{
	struct event number = classic(EVENT_KEYVAL_INTEGER, 1, 2, "n", "");

	number.number = INT64_MIN;
	take(classic(EVENT_TIMESTAMP, 1, 0, "", "cs"), 0);
	take(number, 2);
	take(classic(EVENT_TIMESTAMP, 1, 3, "", "cr"), 3);
	take(classic(EVENT_KEYVAL, 1, 4, "late", "yes"), 50);
	assembler_expire(assembler, 102 * MS);
	assert_emitted("");
	assembler_expire(assembler, 103 * MS);
	assert_emitted("a/1<b kind0 op@svc +0/4000 cs+0 cr+3000 n=-9223372036854775808 late=yes\n");
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 4);
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 0);
}
END_TEST

START_TEST(test_classic_lingers_out)
{
	take(classic(EVENT_TIMESTAMP, 1, 0, "", "start"), 0);
	take(classic(EVENT_TIMESTAMP, 2, 1, "", "start"), 1);
	take(classic(EVENT_TIMESTAMP, 1, 900, "", "more"), 900);
	assembler_expire(assembler, 1500 * MS);
	assert_emitted("a/2<b kind0 op@svc +1000/1 start+1000\n");
	assembler_expire(assembler, 1900 * MS);
	assert_emitted("a/1<b kind0 op@svc +0/900000 start+0 more+900000\n");
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 2);
}
END_TEST

START_TEST(test_services_and_traces_are_kept_apart)
{
	struct event other = classic(EVENT_TIMESTAMP, 1, 1, "", "x"), trace = other;

	other.service = literal("other");
	trace.trace_id = 0xc;
	take(classic(EVENT_TIMESTAMP, 1, 0, "", "x"), 0);
	take(other, 1);
	take(trace, 2);
	assembler_flush(assembler);
	assert_emitted("a/1<b kind0 op@svc +0/1 x+0\na/1<b kind0 op@other +1000/1 x+1000\nc/1<b kind0 op@svc "
		       "+1000/1 x+1000\n");
}
END_TEST

/* A log entry carries one span: client and server of one service under one id go in two. */
START_TEST(test_loopback_is_split)
{
	take(classic(EVENT_TIMESTAMP, 1, 0, "", "cs"), 0);
	take(classic(EVENT_TIMESTAMP, 1, 1, "", "sr"), 1);
	take(classic(EVENT_TIMESTAMP, 1, 2, "", "between"), 2);
	take(classic(EVENT_TIMESTAMP, 1, 3, "", "ss"), 3);
	take(classic(EVENT_TIMESTAMP, 1, 4, "", "cr"), 4);
	assembler_flush(assembler);
	assert_emitted("a/1<b kind0 shared op@svc +0/4000 sr+1000 ss+3000\na/1<b kind0 op@svc +0/4000 cs+0 "
		       "between+2000 cr+4000\n");
	ck_assert_int_eq(rows.row[SPANS_MADE], 2);
}
END_TEST

/* The order of each half's annotations is that in which they came. */
START_TEST(test_halves_keep_their_order)
{
	static const char *const words[] = {"sr", "ss", "cs", "cr", "xx", "s", "srs"};
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (int round = 0; round < 500; round++) {
		g_autoptr(GString) server = g_string_new(" sr+0"), client = g_string_new(" cs+0");
		g_autofree char *expected = NULL;
		int last = g_rand_int_range(random, 1, 40);

		take(classic(EVENT_TIMESTAMP, 1, 0, "", "cs"), 0);
		take(classic(EVENT_TIMESTAMP, 1, 0, "", "sr"), 0);
		for (int at = 1; at <= last; at++) {
			guint word = g_rand_int_range(random, 0, G_N_ELEMENTS(words));

			take(classic(EVENT_TIMESTAMP, 1, at, "", words[word]), 0);
			g_string_append_printf(word < 2 ? server : client, " %s+%d", words[word], at * 1000);
		}
		expected = g_strdup_printf("a/1<b kind0 shared op@svc +0/%d%s\na/1<b kind0 op@svc +0/%d%s\n",
			last * 1000, server->str, last * 1000, client->str);
		assembler_flush(assembler);
		assert_emitted(expected);
	}
}
END_TEST

START_TEST(test_whole_span)
{
	take(whole("+1000000 hit = miss\n-2000 early\nkey=a=b\nempty=\n@50000 10.0.0.2 my db\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 hit = miss-4000 early-5002 key=a=b empty= remote:my "
		       "db:50000\n");
}
END_TEST

START_TEST(test_explicit_finish)
{
	take(whole("!finish +1234567\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/1234\n");
	take(whole("!finish -0\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/1\n");
}
END_TEST

/* Times are cut to microseconds each; a duration is what is then between them. */
START_TEST(test_a_child_stays_within_its_parent)
{
	struct event parent = whole("!finish +2100\n"), child;

	parent.start += 100; /* 0.1 to 2.2 us */
	take(parent, 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/2\n");
	child = whole("!finish +1300\n");
	child.start += 900; /* 0.9 to 2.2 us: 1.3 us, but it ends when its parent does */
	take(child, 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/2\n");
}
END_TEST

START_TEST(test_level_is_a_tag)
{
	struct event event = whole("k=v\n");

	event.level = 3;
	take(event, 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 k=v level=err\n");
}
END_TEST

/* What the encoder gets to see of a head line. */
static struct span_head read_head(const char *line)
{
	struct span_head head;

	memset(&head, 0xff, sizeof(head));
	ck_assert_msg(span_head_read(&head, literal(line), NULL), "%s", line);
	return head;
}

START_TEST(test_heads)
{
	struct span_head head = read_head("local 0 - ");

	ck_assert(head.kind == SPAN_LOCAL && !head.shared && !head.debug && !head.trace_id_high);
	ck_assert(head.local.port == 0 && head.local.address_size == 0 && head.local.service.size == 0);
	head = read_head("server,shared,debug,high=00000000deadbeef 65535 10.0.0.1 my  service ");
	ck_assert(head.kind == SPAN_SERVER && head.shared && head.debug && head.trace_id_high == 0xdeadbeef);
	ck_assert(head.local.port == 65535 && head.local.address_size == 4);
	ck_assert_mem_eq(head.local.address, "\12\0\0\1", 4);
	ck_assert_uint_eq(head.local.service.size, 12);
	ck_assert_mem_eq(head.local.service.data, "my  service ", 12);
	ck_assert_int_eq(read_head("producer,debug 1 ::1 x").kind, SPAN_PRODUCER);
	ck_assert_int_eq(read_head("consumer,high=ffffffffffffffff 1 300.1.2.3 x").local.address_size, 0);
	ck_assert_uint_eq(read_head("client,high=fedcba9876543210 1 - x").trace_id_high, 0xfedcba9876543210);
}
END_TEST

/* Lines that no client writes, and each beginning of the longest one that it does. */
START_TEST(test_bad_heads)
{
	static const char *const lines[] = {"", " ", "client", "client ", "client 1", "client 1 ",
		"client 1 ::1", "client  ::1 x", "client -1 ::1 x", "client 65536 ::1 x",
		"client 1111111111111111111 ::1 x", "client 0x1 ::1 x", "Client 1 ::1 x", "clients 1 ::1 x",
		"clien 1 ::1 x", ",shared 1 ::1 x", "client, 1 ::1 x", "client,,shared 1 ::1 x",
		"client,shared, 1 ::1 x", "client,share 1 ::1 x", "shared,client 1 ::1 x",
		"client,high= 1 ::1 x", "client,high=1 1 ::1 x", "client,high=0123456789abcde 1 ::1 x",
		"client,high=0123456789abcdef0 1 ::1 x", "client,high=0123456789ABCDEF 1 ::1 x",
		"client,high=0123456789abcdeg 1 ::1 x", "client,high 1 ::1 x", "\xff 1 ::1 x",
		"client\t1\t::1\tx", "+1 x", "k=v"};
	const char *longest = "producer,shared,debug,high=0123456789abcdef 65535 ::1 ";
	struct span_head head;

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++) {
		/* in memory of its own size: the sanitizer watches its end */
		struct text line = {g_memdup2(lines[i], strlen(lines[i]) + 1), (uint32_t)strlen(lines[i])};

		ck_assert_msg(!span_head_read(&head, line, NULL), "%s", lines[i]);
		g_free((char *)line.data);
	}
	ck_assert(span_head_read(&head, literal(longest), NULL));
	for (uint32_t size = 0; size < strlen(longest); size++) {
		char *copy = g_memdup2(longest, size);

		ck_assert(!span_head_read(&head, (struct text){copy ? copy : "", size}, NULL));
		g_free(copy);
	}
}
END_TEST

START_TEST(test_pieces_join_their_span)
{
	take(piece(EVENT_TAG, "big\nkey", "big=value"), 0);
	take(piece(EVENT_ANNOTATION, "", "two\nlines"), 0);
	assert_emitted("");
	take(whole("k=v\n!pieces 2\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 two\nlines-1000 big\nkey=big=value k=v\n");
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 3);
	ck_assert_int_eq(rows.row[SPANS_MADE], 1);
}
END_TEST

/* Pieces are the span's whose head is theirs: the server's half under the same id is another span. */
START_TEST(test_pieces_of_two_halves)
{
	struct event server = piece(EVENT_TAG, "s", "1"), high = piece(EVENT_TAG, "h", "1");

	server.head = literal("server,shared 80 ::1 svc");
	high.head = literal("client,high=0000000000000001 80 ::1 svc");
	take(server, 0);
	take(high, 0);
	take(piece(EVENT_TAG, "c", "1"), 0);
	take(whole("!pieces 1\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 c=1\n");
	take(raw("server,shared 80 ::1 svc\n!pieces 1\n"), 0);
	assert_emitted("a/1<0 kind2 shared op@svc -5000/5000 s=1\n");
	take(raw("client,high=0000000000000001 80 ::1 svc\n!pieces 1\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 h=1\n");
}
END_TEST

static bool load(struct assembler *of, const struct buffer *saved, size_t size, int64_t now)
{
	struct unpacker from = unpacker_of(saved->data, size);

	return assembler_load(of, &from, now);
}

/* Whoever else knows a span's ids neither adds to it nor takes of it. */
START_TEST(test_pieces_of_two_users)
{
	struct event mine = piece(EVENT_TAG, "mine", "1"), other = piece(EVENT_TAG, "other", "1");
	struct event end = whole("!pieces 1\n");
	struct buffer saved = {0};

	mine.has_user = other.has_user = end.has_user = true;
	mine.user = 1001;
	other.user = end.user = 1002;
	take(mine, 0);
	take(other, 0);
	assembler_save(assembler, 0, &saved);
	assembler_destroy(assembler);
	rows.row[SPANS_MADE] -= rows.row[SPANS_PENDING];
	rows.row[SPANS_PENDING] = 0;
	assembler = assembler_create(&limits, &rows, note, NULL);
	ck_assert(load(assembler, &saved, saved.size, 0));
	buffer_free(&saved);
	take(end, 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 other=1\n");
	end.user = 1001;
	take(end, 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 mine=1\n");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 0);
}
END_TEST

/* The program died before the span finished: what it had written is sent, of unknown duration. */
START_TEST(test_pieces_without_their_span)
{
	take(piece(EVENT_TAG, "k", "v"), 0);
	assembler_expire(assembler, 1000 * MS);
	assert_emitted("a/1<0 kind1 op@svc +0/0 k=v\n");
	ck_assert_int_eq(rows.row[SPANS_CUT_SHORT], 1);
}
END_TEST

/* Of the pieces that the program has written, LTTng has discarded some, or all. */
START_TEST(test_pieces_that_do_not_come)
{
	const struct misuse *misuse = &assembler_misuses(assembler)->of[MISUSE_TRUNCATED];

	take(piece(EVENT_TAG, "k", "v"), 0);
	take(whole("a=b\n!pieces 3\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 k=v a=b "
		       "blkin.truncated=2 of 3 annotations and tags\n");
	take(whole("a=b\n!pieces 1\n"), 0);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 a=b blkin.truncated=1 of 1 annotations and tags\n");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 2);
	ck_assert_int_eq(assembler_misuses(assembler)->fresh, 1u << MISUSE_TRUNCATED);
	ck_assert_str_eq(misuse->service, "svc");
	ck_assert_str_eq(misuse->span, "op");
	ck_assert_str_eq(misuse->what, "2 of the 3"); /* the first case, as nobody has taken it */
}
END_TEST

/* A span that takes longer than its pieces may wait has them in a part of its own: none is missing. */
START_TEST(test_pieces_that_go_ahead)
{
	take(piece(EVENT_TAG, "early", "1"), 0);
	assembler_expire(assembler, 1000 * MS);
	assert_emitted("a/1<0 kind1 op@svc +0/0 early=1\n");
	take(piece(EVENT_TAG, "late", "1"), 2000);
	take(whole("!pieces 2\n"), 2000);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000 late=1\n");
	take(piece(EVENT_TAG, "early", "1"), 3000);
	assembler_expire(assembler, 4000 * MS);
	assert_emitted("a/1<0 kind1 op@svc +0/0 early=1\n");
	take(whole("!pieces 1\n"), 5000);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000\n");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 0);
}
END_TEST

/* Nor is one if the reader has started again since. */
START_TEST(test_pieces_that_went_ahead_of_a_restart)
{
	struct event end = whole("!pieces 1\n");
	struct buffer saved = {0};

	take(piece(EVENT_TAG, "early", "1"), 0);
	assembler_expire(assembler, 1000 * MS);
	assert_emitted("a/1<0 kind1 op@svc +0/0 early=1\n");
	assembler_save(assembler, 1000 * MS, &saved);
	assembler_destroy(assembler);
	assembler = assembler_create(&limits, &rows, note, NULL);
	ck_assert(load(assembler, &saved, saved.size, 0));
	buffer_free(&saved);
	take(end, 6000);
	assert_emitted("a/1<0 kind1 op@svc -5000/5000\n");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 0);
	end.span_id = 2;
	end.start = CLOCK0;
	end.clock += 5 * MS;
	take(end, 6000);
	assert_emitted("a/2<0 kind1 op@svc -5000/5000 blkin.truncated=1 of 1 annotations and tags\n");
	ck_assert_int_eq(rows.row[SPANS_TRUNCATED], 1);
}
END_TEST

static void assert_explained(struct event event, enum misuse_kind kind, const char *what)
{
	struct misuses *misuses = assembler_misuses(assembler);

	misuses->fresh = 0;
	event.has_user = true;
	event.user = 7;
	take(event, 0);
	ck_assert_uint_eq(misuses->fresh, 1u << kind);
	ck_assert_str_eq(misuses->of[kind].what, what);
	ck_assert_uint_eq(misuses->of[kind].user, 7);
}

START_TEST(test_rejections_are_explained)
{
	struct event event = whole("!finish +3600005000000\n");

	assert_explained(event, MISUSE_TIME, "finishes at a time 3600.000 s after it was recorded");
	assert_explained(whole("!finish -2000000\n"), MISUSE_TIME, "finishes 0.002 s before it starts");
	event.start = event.clock + 1000 * MS;
	assert_explained(event, MISUSE_TIME, "starts at a time 1.000 s after it was recorded");
	ck_assert_str_eq(assembler_misuses(assembler)->of[MISUSE_TIME].service, "svc");
	event = piece(EVENT_ANNOTATION, "", "note");
	event.piece_time = event.clock + 1000 * MS;
	assert_explained(event, MISUSE_TIME, "has an annotation at a time 1.000 s after it was recorded");
	event = whole("k=v\n");
	event.span_id = 0;
	assert_explained(event, MISUSE_ID, "span id 0");
	assert_explained(raw("nonsense"), MISUSE_MALFORMED, "its `data` cannot be parsed");
	ck_assert_str_eq(emitted->str, "");
}
END_TEST

static void assert_rejected(struct event event, enum ledger_row row)
{
	int64_t before = rows.row[row];

	take(event, 0);
	ck_assert_int_eq(rows.row[row], before + 1);
	ck_assert_str_eq(emitted->str, "");
}

START_TEST(test_rejections)
{
	static const char *const lines[] = {"no newline", "+\n", "+12\n", "+x y\n", "+9999999999999999999y\n",
		"novalue\n", "@1\n", "@1 10.0.0.1\n", "@99999 10.0.0.1 x\n", "@ 10.0.0.1 x\n", "\n",
		"ok=1\n+5", "!\n", "!finish\n", "!finish \n", "!finish 5\n", "!finish +\n", "!finish +5 \n",
		"!finish +-5\n", "!finish +9999999999999999999x\n", "!finish -9223372036854775808-\n",
		"!pieces \n", "!pieces -1\n", "!pieces 1x\n", "!pieces 9999999999999999999\n", "!unknown 1\n",
		"!finish +5", HEAD "\n"};
	static const char *const data[] = {
		"", "\n", HEAD, "k=v\n", "\n" HEAD "\n", "client\nk=v\n", "+1 x\n" HEAD "\n", "\xff\xfe\n"};
	struct event event;

	for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
		assert_rejected(whole(lines[i]), EVENTS_REJECTED_MALFORMED);
	for (size_t i = 0; i < G_N_ELEMENTS(data); i++)
		assert_rejected(raw(data[i]), EVENTS_REJECTED_MALFORMED);
	event = piece(EVENT_TAG, "k", "v");
	event.head = literal("what");
	assert_rejected(event, EVENTS_REJECTED_MALFORMED);
	event = piece(EVENT_ANNOTATION, "", "v");
	event.piece_time = CLOCK0 + 1;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	event = classic(EVENT_TIMESTAMP, 1, 0, "", "x");
	event.port = -40000;
	assert_rejected(event, EVENTS_REJECTED_MALFORMED);
	event = whole("");
	event.trace_id = 0;
	assert_rejected(event, EVENTS_REJECTED_ID);
	assert_rejected(classic(EVENT_TIMESTAMP, 0, 0, "", "x"), EVENTS_REJECTED_ID);
	event = whole("");
	event.start = 0;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	event = whole("");
	event.start = event.clock + 1;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	assert_rejected(whole("!finish -1\n"), EVENTS_REJECTED_TIME);
	assert_rejected(whole("!finish +5000001\n"), EVENTS_REJECTED_TIME); /* after the event */
	assert_rejected(whole("!finish +999999999999999999\n"), EVENTS_REJECTED_TIME);
	assert_rejected(whole("!finish +18446744073709551615\n"), EVENTS_REJECTED_TIME);
	assert_rejected(whole("!finish -9223372036854775808\n"), EVENTS_REJECTED_TIME);
	event = whole("");
	event.time = INT64_MIN;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	event.time = INT64_MAX;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	event = whole("");
	event.clock = UINT64_MAX;
	assert_rejected(event, EVENTS_REJECTED_TIME);
	ck_assert_int_eq(rows.row[EVENTS_IN_SPANS], 0);
}
END_TEST

START_TEST(test_too_many_lines)
{
	GString *data = g_string_new(NULL);

	for (int i = 0; i < 1025; i++)
		g_string_append(data, "k=v\n");
	assert_rejected(whole(data->str), EVENTS_REJECTED_MALFORMED);
	g_string_truncate(data, 1024 * strlen("k=v\n"));
	g_string_append(data, "!pieces 1\n@1 ::1 x\n&1=x\n!finish +1\n"); /* as many as there may be */
	take(whole(data->str), 0);
	ck_assert_int_eq(emitted_count, 1);
	g_string_truncate(emitted, 0);
	g_string_free(data, TRUE);
}
END_TEST

/* Spans that never end cannot take more memory than they may: the oldest go, cut short, and nothing is lost.
 */
START_TEST(test_memory_is_bounded)
{
	for (uint64_t i = 1; i <= 5000; i++) {
		take(classic(EVENT_TIMESTAMP, i, 0, "", "never ends"), 0);
		ck_assert_uint_le(assembler_bytes(assembler), 64 * 1024);
	}
	ck_assert_int_eq(rows.row[SPANS_MADE], 5000);
	ck_assert_int_gt(rows.row[SPANS_CUT_SHORT], 4000);
	ck_assert_int_eq(rows.row[SPANS_PENDING] + emitted_count, 5000);
}
END_TEST

/* One span with annotations without end goes out in pieces. */
START_TEST(test_one_endless_span)
{
	char value[1000];

	memset(value, 'x', sizeof(value) - 1);
	value[sizeof(value) - 1] = '\0';
	for (int i = 0; i < 1000; i++) {
		take(classic(EVENT_KEYVAL, 1, 0, "k", value), 0);
		ck_assert_uint_le(assembler_bytes(assembler), 64 * 1024);
	}
	ck_assert_int_gt(rows.row[SPANS_MADE], 10);
}
END_TEST

/* An endpoint is read the same from what is known of it; there are more than the cache has places for. */
START_TEST(test_known_endpoints)
{
	struct endpoint_cache *cache = endpoint_cache_create();
	static const char *const forms[] = {"%d 10.0.0.1 osd.%d", "%d ::1 a service of the name of osd.%d",
		"%d - %d", "6800 10.0.%d.1 osd.%d", "%d 10.0.0.1", "x%d 10.0.0.1 osd.%d",
		"1%d 1.2.3.4 %0100d"};

	for (int i = 0; i < 4000; i++) {
		g_autofree char *text =
			g_strdup_printf(forms[i % G_N_ELEMENTS(forms)], i / 7 % 130, i / 7 % 130);
		const char *end = text + strlen(text);
		struct endpoint known = {0}, fresh = {0};
		bool good = endpoint_read(&fresh, text, end);

		ck_assert_int_eq(endpoint_cache_read(cache, &known, text, end), good);
		if (!good)
			continue;
		ck_assert_ptr_eq(known.service.data, fresh.service.data);
		ck_assert_uint_eq(known.service.size, fresh.service.size);
		ck_assert_uint_eq(known.port, fresh.port);
		ck_assert_uint_eq(known.address_size, fresh.address_size);
		ck_assert(memcmp(known.address, fresh.address, fresh.address_size) == 0);
	}
	endpoint_cache_destroy(cache);
}
END_TEST

/* A head line, too: of all kinds, with and without words, good and bad, again and again. */
START_TEST(test_known_heads)
{
	struct endpoint_cache *cache = endpoint_cache_create();
	static const char *const forms[] = {"client 6800 10.0.0.1 osd.%d", "server,shared 1 ::1 osd.%d",
		"local 0 - %d", "local,debug 0 - %d", "client,high=00000000000000%02x 1 10.0.0.1 %d",
		"nobody 6800 10.0.0.1 osd.%d", "client,what 6800 10.0.0.1 osd.%d", "client 10.0.0.1 %d",
		"producer 7 10.0.0.1 %0100d"};

	for (int i = 0; i < 4000; i++) {
		int number = 16 + i / 9 % 70;
		g_autofree char *text = g_strdup_printf(forms[i % G_N_ELEMENTS(forms)], number, number);
		struct text line = {text, (uint32_t)strlen(text)};
		struct span_head known = {0}, fresh = {0};
		bool good = span_head_read(&fresh, line, NULL);
		struct known_head *found = endpoint_cache_find_head(cache, line);

		ck_assert(good || !found);
		ck_assert_int_eq(span_head_read(&known, line, cache), good);
		if (!good)
			continue;
		if (found) {
			known = found->head;
			known.local.service.data = text + line.size - known.local.service.size;
		}
		ck_assert_int_eq(known.kind, fresh.kind);
		ck_assert_int_eq(known.shared, fresh.shared);
		ck_assert_int_eq(known.debug, fresh.debug);
		ck_assert_uint_eq(known.trace_id_high, fresh.trace_id_high);
		ck_assert_ptr_eq(known.local.service.data, fresh.local.service.data);
		ck_assert_uint_eq(known.local.service.size, fresh.local.service.size);
		ck_assert_uint_eq(known.local.port, fresh.local.port);
		ck_assert_uint_eq(known.local.address_size, fresh.local.address_size);
	}
	endpoint_cache_destroy(cache);
}
END_TEST

/* An endpoint that is known is no head line. */
START_TEST(test_an_endpoint_is_no_head)
{
	take(raw("client,high=00000000000000ff 6800 10.0.0.1 osd.4\n"), 0);
	assert_emitted("a/1<0 kind1 op@osd.4 -5000/5000\n");
	assert_rejected(raw("6800 10.0.0.1 osd.4\n"), EVENTS_REJECTED_MALFORMED);
}
END_TEST

/* What is known of the spans before, of head and process, is taken for another's only where it is the same.
 */
START_TEST(test_what_is_known)
{
	static const char
		*const heads[] = {HEAD, HEAD "2", HEAD " ", "server 80 ::1 svc", "local 0 - x",
			"client,high=00000000000000ff 80 ::1 svc", "client,high=00000000000000fe 80 ::1 svc"},
		       *const processes[] = {"", "&12=prog\n", "&12=prog2\n", "&123=prog\n", "&0=x\n",
			       "&12=\n", "&x=y\n", "k=&12=prog\n", "+1 &12=prog\n", "&12=prog\n&13=last\n",
			       "&13=last\nk=v\n", "&13=last\n&12=prog\n",
			       "&12=a program's name that is longer than any that a client could write\n"};

	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (unsigned i = 0; i < 2000; i++) {
		const char *head = heads[g_rand_int_range(random, 0, G_N_ELEMENTS(heads))],
			   *process = processes[g_rand_int_range(random, 0, G_N_ELEMENTS(processes))];
		g_autofree char *data = g_strdup_printf("%s\n%s%s", head, i % 2 ? "k=v\n" : "", process);
		struct event event = raw(data);
		struct span_data fresh = {0};
		static struct span_data used;
		struct span one, other;

		ck_assert_int_eq(span_event_read(&fresh, &event, &one), EVENTS_IN_SPANS);
		ck_assert_int_eq(span_event_read(&used, &event, &other), EVENTS_IN_SPANS);
		ck_assert_int_eq(one.kind, other.kind);
		ck_assert_uint_eq(one.trace_id_high, other.trace_id_high);
		ck_assert_ptr_eq(one.local.service.data, other.local.service.data);
		ck_assert_uint_eq(one.local.service.size, other.local.service.size);
		ck_assert_uint_eq(one.local.port, other.local.port);
		ck_assert_uint_eq(one.pid, other.pid);
		ck_assert_uint_eq(one.program.size, other.program.size);
		ck_assert(!one.program.size || one.program.data == other.program.data);
		ck_assert_uint_eq(one.tag_count, other.tag_count);
		ck_assert_uint_eq(one.annotation_count, other.annotation_count);
		span_data_free(&fresh);
	}
}
END_TEST

/* Nothing of an event that is gone is left in the spans after it: who repairs a span's texts looks at all. */
START_TEST(test_nothing_is_left)
{
	struct span_data lines = {0};
	struct event with = raw(HEAD "\n@80 1.2.3.4 far away\n&12=prog\n"), without = raw(HEAD "\n");
	struct span span;

	ck_assert_int_eq(span_event_read(&lines, &with, &span), EVENTS_IN_SPANS);
	ck_assert_uint_eq(span.remote.service.size, 8);
	ck_assert_int_eq(span_event_read(&lines, &without, &span), EVENTS_IN_SPANS);
	ck_assert(!span.has_remote);
	ck_assert_uint_eq(span.remote.service.size, 0);
	ck_assert_uint_eq(span.program.size, 0);
	span_data_free(&lines);
}
END_TEST

/* The byte is found wherever it stands in a text of whatever size, and none beyond. */
START_TEST(test_finds)
{
	for (size_t size = 0; size < 200; size++) {
		for (size_t step = 1; step < 70; step++) {
			char *text = g_malloc(MAX(size, 1)); /* the sanitizer sees a byte too many */
			const char *at, *first = size ? memchr(text, '\n', size) : NULL;

			for (size_t i = 0; i < size; i++)
				text[i] = i % step == step - 1 ? '\n' : 'x';
			first = size ? memchr(text, '\n', size) : NULL;
			at = find_near(text, text + size, '\n');
			ck_assert_ptr_eq(at, first);
			if (first) {
				ck_assert_ptr_eq(find_sure(text, text + size, '\n'), first);
				ck_assert_ptr_eq(find_either(text, text + size, '\n', '='), first);
				ck_assert_ptr_eq(find_either(text, text + size, '=', '\n'), first);
				text[(first - text) / 2] = '=';
				ck_assert_ptr_eq(
					find_either(text, text + size, '=', '\n'), text + (first - text) / 2);
			}
			g_free(text);
		}
	}
}
END_TEST

/* Offsets of as many digits as there may be, and more, anywhere before the text's end; and what looks like
 * digits. */
START_TEST(test_numbers)
{
	static const char wrong[] = {'/', ':', '\n', 'p', '\x80', '\xb1', '\xff'};

	for (unsigned digits = 1; digits <= 20; digits++) {
		for (unsigned more = 0; more < 12; more++) {
			g_autofree char *line = g_strdup_printf("+%.*s %.*s\n", (int)digits,
				"98765432109876543210", (int)more, "values and so on");
			struct span_data lines = {0};
			g_autofree char *data = g_strconcat(HEAD "\n", line, NULL);
			struct text text = {data, (uint32_t)strlen(data)};

			ck_assert(span_data_read(&lines, text, 0));
			ck_assert_int_eq(lines.annotations[0].time,
				digits <= 18 ? strtoll(line, NULL, 10) : (int64_t)SPAN_OFFSET_MAX);
			for (unsigned i = 0; i < digits * sizeof(wrong); i++) {
				data[strlen(HEAD) + 2 + i / sizeof(wrong)] = wrong[i % sizeof(wrong)];
				ck_assert(!span_data_read(&lines, text, 0));
				memcpy(data + strlen(HEAD) + 1, line, strlen(line));
			}
			span_data_free(&lines);
		}
	}
}
END_TEST

START_TEST(test_digits)
{
	static const char others[] = {'/', ':', ' ', '-', '\x80', '\xb1', '\xff', '\0'};

	ck_assert(!digits_only("", 0));
	for (size_t size = 1; size < 40; size++) {
		char *text = g_malloc(size); /* the sanitizer sees a byte too many */

		for (size_t i = 0; i < size; i++)
			text[i] = (char)('0' + i % 10);
		ck_assert(digits_only(text, size));
		for (size_t i = 0; i < size * sizeof(others); i++) {
			size_t at = i / sizeof(others);

			text[at] = others[i % sizeof(others)];
			ck_assert(!digits_only(text, size));
			text[at] = '9';
		}
		g_free(text);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("assemble");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, test_classic_ends_with_its_core_annotation);
	tcase_add_test(tests, test_classic_lingers_out);
	tcase_add_test(tests, test_services_and_traces_are_kept_apart);
	tcase_add_test(tests, test_loopback_is_split);
	tcase_add_test(tests, test_halves_keep_their_order);
	tcase_add_test(tests, test_whole_span);
	tcase_add_test(tests, test_explicit_finish);
	tcase_add_test(tests, test_a_child_stays_within_its_parent);
	tcase_add_test(tests, test_level_is_a_tag);
	tcase_add_test(tests, test_heads);
	tcase_add_test(tests, test_known_endpoints);
	tcase_add_test(tests, test_known_heads);
	tcase_add_test(tests, test_an_endpoint_is_no_head);
	tcase_add_test(tests, test_what_is_known);
	tcase_add_test(tests, test_nothing_is_left);
	tcase_add_test(tests, test_finds);
	tcase_add_test(tests, test_numbers);
	tcase_add_test(tests, test_digits);
	tcase_add_test(tests, test_bad_heads);
	tcase_add_test(tests, test_pieces_join_their_span);
	tcase_add_test(tests, test_pieces_of_two_halves);
	tcase_add_test(tests, test_pieces_of_two_users);
	tcase_add_test(tests, test_pieces_without_their_span);
	tcase_add_test(tests, test_pieces_that_do_not_come);
	tcase_add_test(tests, test_pieces_that_go_ahead);
	tcase_add_test(tests, test_pieces_that_went_ahead_of_a_restart);
	tcase_add_test(tests, test_rejections_are_explained);
	tcase_add_test(tests, test_rejections);
	tcase_add_test(tests, test_too_many_lines);
	tcase_add_test(tests, test_memory_is_bounded);
	tcase_add_test(tests, test_one_endless_span);
	return run_cases("span", tests);
}
