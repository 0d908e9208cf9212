/* SPDX-License-Identifier: BSD-2-Clause */
/* What the page makes of answers of `blkin why`: of whole ones, and of files that are anything else. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "status/answerbar.h"
#include "status/trace/answer.h"
#include "status/tracefind.h"
#include "status/waterfall.h"

#include "run.h"

#define TRACE UINT64_C(0x60609aef70af5592)
#define NAME "60609aef70af5592"
#define SPAN                                                                                                 \
	"\"span\":{\"traceId\":\"" NAME                                                                      \
	"\",\"id\":\"00000000000000aa\",\"name\":\"lock\",\"timestamp\":1000000,\"duration\":85,"            \
	"\"localEndpoint\":{\"serviceName\":\"slow\"}}"
#define LINE                                                                                                 \
	"{" SPAN ",\"pid\":4300,\"tid\":4311,\"duration_ns\":85000,\"cause\":\"mostly waiting for a lock\"," \
	"\"main\":\"lock\",\"parts_ns\":{\"cpu\":5000,\"interrupted\":0,\"runnable\":10000,\"disk\":0,"      \
	"\"lock\":70000,\"network\":0,\"sleep\":0,\"page_fault\":0,\"other\":0,\"unknown\":0},"              \
	"\"ran_meanwhile\":[{\"kind\":\"thread\",\"name\":\"hog\",\"tid\":7,\"pid\":6,\"ns\":10000}],"       \
	"\"waits\":[{\"part\":\"lock\",\"syscall\":\"futex\",\"count\":2,\"ns\":70000,\"longest_ns\":60000," \
	"\"woken_by\":{\"kind\":\"thread\",\"name\":\"holder\",\"tid\":4312}}],"                             \
	"\"syscalls\":[{\"name\":\"futex\",\"count\":2,\"ns\":80000,\"waited_ns\":70000,\"longest_ns\":"     \
	"61000}],"                                                                                           \
	"\"missing\":[\"No system call is recorded.\"]}"

static char folder[] = "/tmp/blkin-answer-XXXXXX", *path;

static void setup(void)
{
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	ck_assert_ptr_nonnull(g_mkdtemp(folder));
	path = g_build_filename(folder, NAME ".jsonl", NULL);
}

static void teardown(void)
{
	remove(path);
	g_free(path);
	rmdir(folder);
}

static struct answer parse(const char *text)
{
	struct answer answer;

	answer_parse(&answer, text, strlen(text), 0, TRACE);
	return answer;
}

/* All that the page shows of the trace, as text; g_free. It must be well-formed. */
static char *show(void)
{
	const struct config config = {
		.ui = "", .kernel_events = "", .kernel_syscalls = "*", .kernel_functions = ""};
	static const GMarkupParser parser = {NULL};
	GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, NULL, NULL);
	struct buffer html = {0};
	struct found_trace found;
	GError *error = NULL;

	ck_assert_ptr_null(tracefind(&found, NULL, folder, "id=" NAME));
	buffer_printf(&html, "<main>");
	waterfall_write(&html, &found, &config);
	buffer_printf(&html, "</main>");
	if (!g_markup_parse_context_parse(context, (const char *)html.data, (gssize)html.size, &error) ||
		!g_markup_parse_context_end_parse(context, &error))
		ck_abort_msg("%s in: %.*s", error->message, (int)html.size, (const char *)html.data);
	g_markup_parse_context_free(context);
	found_trace_clear(&found);
	buffer_put(&html, "", 1);
	return (char *)html.data;
}

static void write_file(const char *text)
{
	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static void shows(const char *expected)
{
	char *shown = show();

	ck_assert_msg(strstr(shown, expected) != NULL, "no `%s` in: %.3000s", expected, shown);
	free(shown);
}

static void shows_not(const char *unexpected)
{
	char *shown = show();

	ck_assert_msg(!strstr(shown, unexpected), "`%s` in: %.3000s", unexpected, shown);
	free(shown);
}

START_TEST(all_is_read)
{
	struct answer answer = parse(LINE "\n");
	const struct answer_span *span = answer_about(&answer, 0xaa, SPAN2_LOCAL);

	ck_assert(answer.is && !answer.error && !answer.damaged && !answer.cut);
	ck_assert_uint_eq(answer.spans->len, 1);
	ck_assert_ptr_nonnull(span);
	ck_assert_ptr_null(answer_about(&answer, 0xaa, SPAN2_SERVER));
	ck_assert_ptr_null(answer_about(&answer, 0xab, SPAN2_LOCAL));
	ck_assert_str_eq(span->span->name, "lock");
	ck_assert_int_eq(span->tid, 4311);
	ck_assert_int_eq(span->duration, 85000);
	ck_assert_int_eq(span->part[PART_CPU], 5000);
	ck_assert_int_eq(span->part[PART_RUNNABLE], 10000);
	ck_assert_int_eq(span->part[PART_LOCK], 70000);
	ck_assert_str_eq(span->cause, "mostly waiting for a lock");
	ck_assert_uint_eq(span->runner_count, 1);
	ck_assert_str_eq(span->runners[0].whom.name, "hog");
	ck_assert_int_eq(span->runners[0].time, 10000);
	ck_assert_uint_eq(span->wait_count[PART_LOCK], 1);
	ck_assert_str_eq(span->waits[PART_LOCK][0].call, "futex");
	ck_assert_int_eq(span->waits[PART_LOCK][0].by.number, 4312);
	ck_assert_int_eq(span->waits[PART_LOCK][0].count, 2);
	ck_assert_uint_eq(span->call_count, 1);
	ck_assert_int_eq(span->calls[0].time, 80000);
	ck_assert_uint_eq(answer.missing->len, 1);
	ck_assert_str_eq(answer.missing->pdata[0], "No system call is recorded.");
	answer_clear(&answer);
}
END_TEST

/* Names of a newer version: a part counts as another wait, the rest does not matter. */
START_TEST(newer_ones_are_understood)
{
	struct answer answer = parse("{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":1,\"gpu\":3,\"tpu\":"
				     "1},\"new\":{\"a\":[1,2.5,null]},"
				     "\"waits\":[{\"part\":\"gpu\",\"new\":true,\"syscall\":null,\"woken_"
				     "by\":{\"kind\":\"martian\"}}]}");
	const struct answer_span *span = answer_about(&answer, 0xaa, SPAN2_LOCAL);

	ck_assert(span && !answer.damaged);
	ck_assert_int_eq(span->part[PART_OTHER], 4);
	ck_assert_uint_eq(span->wait_count[PART_OTHER], 1);
	ck_assert_int_eq(span->waits[PART_OTHER][0].by.kind, WHOM_UNKNOWN);
	ck_assert_str_eq(span->cause, "");
	answer_clear(&answer);
}
END_TEST

static const char *const damaged[] = {
	"",
	"x",
	"{",
	"{}",
	"null",
	"[1]",
	LINE "x",
	"{" SPAN "}x",
	/* not about this trace, or about none */
	"{\"span\":{\"traceId\":\"1111111111111111\",\"id\":\"00000000000000aa\"},\"duration_ns\":0,\"parts_"
	"ns\":{}}",
	"{\"span\":{\"id\":\"00000000000000aa\"},\"duration_ns\":0,\"parts_ns\":{}}",
	"{\"span\":[],\"duration_ns\":0}",
	"{\"duration_ns\":5,\"parts_ns\":{\"cpu\":5}}",
	/* parts that are no parts */
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":4}}",
	"{" SPAN ",\"duration_ns\":5}",
	"{" SPAN ",\"duration_ns\":0,\"parts_ns\":{\"cpu\":5,\"lock\":-5}}",
	"{" SPAN ",\"duration_ns\":-5,\"parts_ns\":{\"cpu\":-5}}",
	"{" SPAN ",\"duration_ns\":5.5,\"parts_ns\":{\"cpu\":5.5}}",
	"{" SPAN ",\"duration_ns\":\"5\",\"parts_ns\":{\"cpu\":\"5\"}}",
	"{" SPAN ",\"duration_ns\":9999999999999999999,\"parts_ns\":{\"cpu\":9999999999999999999}}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"a\":900000000000000000,\"b\":900000000000000000,\"c\":"
	"900000000000000000,\"d\":"
	"900000000000000000,\"e\":900000000000000000,\"f\":900000000000000000,\"g\":900000000000000000,\"h\":"
	"900000000000000000,"
	"\"i\":900000000000000000,\"j\":900000000000000000,\"k\":900000000000000000,\"l\":900000000000000000}"
	"}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":[5]}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":5},\"waits\":{}}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":5},\"cause\":\"\x1b[31m\"}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":5},\"cause\":\"\xff\"}",
	"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"cpu\":5},\"cause\":\"\\ud80\"}",
};

/* They are left out, and counted; what is whole beside them is shown. */
START_TEST(damage_is_said)
{
	g_autofree char *both = g_strconcat(damaged[_i], "\n" LINE "\n", NULL);
	struct answer answer = parse(damaged[_i]);

	ck_assert_uint_eq(answer.spans->len, 0);
	ck_assert_uint_eq(answer.damaged, 1);
	answer_clear(&answer);
	write_file(damaged[_i]);
	shows("<p>What the flight recorder has kept of this trace is damaged.</p>");
	write_file(both);
	shows("Of what the flight recorder has kept of this trace, 1 line is damaged, and left out.");
	shows("<details class=\"cause\"><summary><bdi>mostly waiting for a lock</bdi></summary>");
}
END_TEST

START_TEST(it_is_shown)
{
	write_file(LINE "\n");
	shows("aria-label=\"running 5.00 µs, 6 %; runnable 10.0 µs, 12 %; lock 70.0 µs, 82 %\"");
	/* of the span's bar, which is all of the trace's */
	shows("<rect class=\"part0\" y=\"0\" height=\"10\" x=\"0.0\" width=\"58.8\"");
	shows("<rect class=\"part2\" y=\"0\" height=\"10\" x=\"58.8\" width=\"117.6\"");
	shows("<rect class=\"part4\" y=\"0\" height=\"10\" x=\"176.5\" width=\"823.5\"");
	shows("there ran <bdi>hog</bdi> (7) 10.0 µs");
	shows("<bdi>futex</bdi> 70.0 µs in 2 waits, woken by <bdi>holder</bdi> (4312)");
	shows("<bdi>futex</bdi> 80.0 µs (2 times)");
	shows("<p><bdi>No system call is recorded.</bdi></p>");
	/* the spans themselves are gone: those of the answer are here */
	shows("<summary><bdi>lock</bdi>");
	shows("href=\"/why.json?id=" NAME "\"");
	shows_not("flight recorder");
	shows_not("blkin why");
}
END_TEST

START_TEST(without_one_the_command_is_named)
{
	shows("<code>blkin why " NAME "</code> says that");
	shows_not("flight recorder");
}
END_TEST

/* Of another trace with the same lower half there is nothing, and nothing is wrong. */
START_TEST(other_traces_are_not_meant)
{
	struct answer answer;
	g_autofree char *line = g_strdup(LINE);
	char *id = strstr(line, NAME);
	g_autofree char *wide = NULL;

	*id = '\0';
	wide = g_strconcat(line, "00000000000000ff" NAME, id + strlen(NAME), NULL);
	answer_parse(&answer, wide, strlen(wide), 0xfe, TRACE);
	ck_assert(!answer.spans->len && !answer.damaged && !answer.missing->len);
	answer_clear(&answer);
	for (uint64_t high = 0; high < 0x100; high += 0xff) {
		answer_parse(&answer, wide, strlen(wide), high, TRACE);
		ck_assert_uint_eq(answer.spans->len, 1);
		answer_clear(&answer);
	}
}
END_TEST

START_TEST(names_are_text)
{
	static const char text[] =
		"{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"runnable\":3,\"lock\":2},"
		"\"cause\":\"<script>alert(1)</script>\\u001b[31m\\u202e\","
		"\"ran_meanwhile\":[{\"kind\":\"thread\",\"name\":\"\\\"><img src=x>\",\"tid\":1,\"ns\":3}],"
		"\"waits\":[{\"part\":\"lock\",\"syscall\":\"</"
		"td>\\u0000x\",\"count\":1,\"ns\":2,\"woken_by\":{\"kind\":"
		"\"interrupt\",\"name\":\"<b>é\\u0007\",\"number\":3}}],"
		"\"syscalls\":[{\"name\":\"'\\\"<i>\",\"count\":3,\"ns\":1}],\"missing\":[\"<h1>no</"
		"h1>\\n\"]}";
	char *shown;

	write_file(text);
	shown = show();
	for (const char *c = shown; *c; c++)
		ck_assert_msg(
			(unsigned char)*c >= ' ' || *c == '\n', "a control character in: %.3000s", shown);
	free(shown);
	shows("<bdi>&lt;script&gt;alert(1)&lt;/script&gt;␛[31m\xef\xbf\xbd</bdi>");
	shows("<bdi>&quot;&gt;&lt;img src=x&gt;</bdi> (1)");
	shows("woken by <bdi>&lt;b&gt;é␇</bdi> (interrupt 3)");
	shows("<bdi>&#39;&quot;&lt;i&gt;</bdi> 0.00 µs (3 times)");
	shows_not("<img");
	shows_not("<h1>");
}
END_TEST

/* Long lists are cut, and it is said. */
START_TEST(lists_are_bounded)
{
	g_autoptr(GString) text =
		g_string_new("{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"lock\":5},\"waits\":[");

	for (int i = 0; i < 70; i++)
		g_string_append_printf(
			text, "%s{\"part\":\"lock\",\"syscall\":\"call%d\",\"ns\":1}", i ? "," : "", i);
	g_string_append(text, "],\"missing\":[\"0\"");
	for (int i = 1; i < 70; i++)
		g_string_append_printf(text, ",\"%0*d\"", 3000, i);
	g_string_append(text, "]}");
	write_file(text->str);
	shows("<bdi>call2</bdi> 0.00 µs; 67 more</td>");
	shows_not("call3");
	shows("…</bdi></p>");
}
END_TEST

/* So much of a file is read, and the rest is said to be there. */
START_TEST(files_are_bounded)
{
	struct answer answer;
	FILE *file = fopen(path, "w");
	size_t size = 0;

	while (size <= ANSWER_BYTES_MAX) {
		g_autofree char *line = g_strdup_printf("{\"x\":\"%0*d\","
							"%s\n",
			60000, 0, LINE + 1);

		size += fwrite(line, 1, strlen(line), file);
	}
	fclose(file);
	answer_read(&answer, folder, 0, TRACE);
	ck_assert(answer.is && answer.cut && !answer.damaged);
	ck_assert_uint_eq(
		answer.spans->len, ANSWER_BYTES_MAX / (60000 + strlen("{\"x\":\"\",") + strlen(LINE)));
	answer_clear(&answer);
	shows("more of this trace than is shown here: <code>blkin why --json " NAME "</code> has it all.");

	file = fopen(path, "w");
	for (int i = 0; i < ANSWER_SPANS_MAX + 1; i++)
		fputs("{" SPAN ",\"duration_ns\":5,\"parts_ns\":{\"lock\":5}}\n", file);
	fclose(file);
	answer_read(&answer, folder, 0, TRACE);
	ck_assert(answer.cut && answer.spans->len == ANSWER_SPANS_MAX);
	answer_clear(&answer);

	/* one that has no end, and no line */
	file = fopen(path, "w");
	ck_assert_int_eq(ftruncate(fileno(file), INT64_C(1) << 40), 0);
	fclose(file);
	answer_read(&answer, folder, 0, TRACE);
	ck_assert(answer.is && answer.cut && !answer.spans->len);
	answer_clear(&answer);
	shows("more of this trace than is shown here");
}
END_TEST

/* Nothing is waited for, followed, or taken for a file. */
START_TEST(other_files_are_not_read)
{
	struct answer answer;

	answer_read(&answer, "/nowhere", 0, TRACE);
	ck_assert(!answer.is && !answer.error);
	answer_clear(&answer);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	shows("cannot be read: it is no regular file");
	remove(path);
	ck_assert_int_eq(symlink("/etc/passwd", path), 0);
	shows("cannot be read: it is a symbolic link");
	remove(path);
	ck_assert_int_eq(g_mkdir(path, 0700), 0);
	shows("cannot be read: it is no regular file");
	ck_assert_int_eq(rmdir(path), 0);
}
END_TEST

/* The list in JSON is that of the lines, which are not changed. */
START_TEST(json_has_the_lines)
{
	struct answer answer = parse("x\n" LINE "\n" LINE);
	struct buffer out = {0};

	answer_put_json(&out, &answer);
	buffer_put(&out, "", 1);
	ck_assert_str_eq((const char *)out.data, "[" LINE "," LINE "]\n");
	answer_clear(&answer);
	answer = parse("");
	out.size = 0;
	answer_put_json(&out, &answer);
	buffer_put(&out, "", 1);
	ck_assert_str_eq((const char *)out.data, "[]\n");
	answer_clear(&answer);
	buffer_free(&out);
}
END_TEST

/* Whatever harm is done to a line, nothing is read beyond it, and what is taken adds up. */
START_TEST(harmed_lines)
{
	GRand *random = g_rand_new_with_seed((guint32)_i);
	static const char bytes[] = "\"\\{}[]:,0-9anu\n\x1b\xff\x80";
	unsigned taken = 0;

	for (int i = 0; i < 3000; i++) {
		g_autofree char *line = g_strdup(LINE);
		size_t size = strlen(line);
		struct answer answer;

		for (int harm = g_rand_int_range(random, 1, 4); harm > 0; harm--) {
			size_t at = (size_t)g_rand_int_range(random, 0, (gint32)size);

			if (g_rand_boolean(random))
				line[at] = bytes[g_rand_int_range(random, 0, sizeof(bytes) - 1)];
			else if (g_rand_int_range(random, 0, 8) == 0)
				size = at + 1;
			else
				memmove(line + at, line + at / 2, size - at);
		}
		answer_parse(&answer, line, size, 0, TRACE);
		for (guint k = 0; k < answer.spans->len; k++) {
			const struct answer_span *span = answer.spans->pdata[k];
			struct buffer html = {0};
			int64_t sum = 0;

			for (enum part part = 0; part < PARTS; part++) {
				ck_assert_int_ge(span->part[part], 0);
				sum += span->part[part];
			}
			ck_assert_int_eq(sum, span->duration);
			answerbar_write(&html, span, 1000, 0, 1000);
			buffer_free(&html);
			taken++;
		}
		answer_clear(&answer);
	}
	ck_assert_uint_gt(taken, 0);
	g_rand_free(random);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("answer");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_set_timeout(cases, 60);
	tcase_add_test(cases, all_is_read);
	tcase_add_test(cases, newer_ones_are_understood);
	tcase_add_loop_test(cases, damage_is_said, 0, G_N_ELEMENTS(damaged));
	tcase_add_test(cases, it_is_shown);
	tcase_add_test(cases, without_one_the_command_is_named);
	tcase_add_test(cases, other_traces_are_not_meant);
	tcase_add_test(cases, names_are_text);
	tcase_add_test(cases, lists_are_bounded);
	tcase_add_test(cases, files_are_bounded);
	tcase_add_test(cases, other_files_are_not_read);
	tcase_add_test(cases, json_has_the_lines);
	tcase_add_loop_test(cases, harmed_lines, 0, 8);
	return run_cases("answer", cases);
}
