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

/* Nine events: a good one first, a strange but good one last. */
static void on_purpose(void)
{
	struct blkin_span_record good = {.trace_id = 201,
		.span_id = 201,
		.start = blkin_now() - 1000000,
		.port = 1,
		.name = "raw",
		.service = "raw",
		.ip = "10.3.0.2",
		.data = "key=value\n"};
	struct blkin_span_record bad;

	good.finish = good.start + 1000;
	record(good);
	bad = good;
	bad.trace_id = 0;
	record(bad);
	bad = good;
	bad.span_id = 0;
	record(bad);
	bad = good;
	bad.finish = bad.start - 1;
	record(bad);
	bad = good;
	bad.data = "no newline, no key";
	record(bad);
	bad = good;
	bad.data = "+99999999999999999999999 far away\n";
	record(bad);
	bad = good;
	bad.data = "@70000 not-an-address\n";
	record(bad);
	bad = good;
	bad.flags = 0xffff;
	record(bad);
	good.span_id = 202;
	good.pieces = 60000; /* none of which ever came */
	good.ip = "300.1.2.3";
	record(good);
}

int main(void)
{
	memset(long_text, 'x', LONG);
	by_mistake();
	on_purpose();
	return 0;
}
