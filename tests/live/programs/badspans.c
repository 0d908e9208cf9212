/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Garbage by way of the header: what a program can do wrong without any trick, then what only a program could
 * do that calls the provider by itself. Each group is told apart by its service.
 */
#include <stdio.h>

#include <blkin/blkin.h>

#define LONG (64 * 1024)

static char long_text[LONG + 1];

static void span(const char *service, const char *name, const char *tag, const char *note, int port)
{
	struct blkin_endpoint here = {"10.3.0.1", (int16_t)port, service};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, name, &here, NULL);
	blkin_span_tag(&span, tag, tag);
	blkin_span_annotate(&span, note);
	blkin_span_finish(&span);
}

static void classic(const char *service, const char *name, const char *key, const char *ip, int port,
	int64_t trace_id, int64_t span_id)
{
	struct blkin_endpoint here = {ip, (int16_t)port, service};
	struct blkin_trace trace = {name, {trace_id, span_id, 0}, &here};

	BLKIN_TIMESTAMP(&trace, NULL, key);
	BLKIN_KEYVAL_STRING(&trace, NULL, key, key);
}

static void by_mistake(void)
{
	span("invalid utf-8", "na\xffme", "k\xc0\xaf", "\xed\xa0\x80 \xf8\x88\x80\x80\x80", 1);
	span("empty", "", "", "", 0);
	span("", "no service", "key", "note", 2);
	span("long", "long", long_text, long_text, 3);
	span("negative port", "port", "key", "note", -1);
	span("line breaks", "a\nb", "c\nd", "e\nf\n", 4);
	span("odd tags", "odd", "=+-@", "=", 5);
	span("long name", long_text, "key", "note", 6);
	span("service of\ntwo lines", "service", "!key", "note", 7);
	classic("invalid utf-8, classic", "na\xffme", "k\xc0\xaf", "10.3.0.1", 1, 101, 101);
	classic("empty, classic", "", "", "", 0, 102, 102);
	classic("long, classic", "long", long_text, "no address at all", 3, 103, 103);
	classic("negative port, classic", "port", "key", "::1", -1, 104, 104);
	classic("id 0, classic", "id", "key", "10.3.0.1", 6, 105, 0);
}

/* Writes a record as it is, which no program should. */
static void record(struct blkin_span_record record)
{
	if (blkin_tracing())
		blkin_provider_->span[BLKIN_INFO](&record);
}

#define HEAD "local 1 10.3.0.2 raw\n"

/* Twelve events: a good one first, a strange but good one last. */
static void on_purpose(void)
{
	static const char *const bad_data[] = {HEAD "!finish -1\n", HEAD "no newline, no key",
		HEAD "+soon no offset\n", HEAD "@70000 not-an-address\n", "unkind 1 10.3.0.2 raw\n",
		"local,high=1 1 10.3.0.2 raw\n", "local 65536 10.3.0.2 raw\n", ""};
	struct blkin_span_record good = {.trace_id = 201,
		.span_id = 201,
		.start = blkin_now() - 1000000,
		.name = "raw",
		.data = HEAD "key=value\n!finish +1000\n"};
	struct blkin_span_record bad;

	record(good);
	bad = good;
	bad.trace_id = 0;
	record(bad);
	bad = good;
	bad.span_id = 0;
	record(bad);
	bad = good;
	for (size_t i = 0; i < sizeof(bad_data) / sizeof(bad_data[0]); i++) {
		bad.data = bad_data[i];
		record(bad);
	}
	good.span_id = 202;
	good.data = "local 1 300.1.2.3 raw\nkey=value\n!pieces 60000\n"; /* none of which ever came */
	record(good);
}

int main(void)
{
	memset(long_text, 'x', LONG);
	by_mistake();
	on_purpose();
	return 0;
}
