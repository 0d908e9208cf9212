/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of an answer. What has a name that is not known here comes from a newer version, and is left alone.
 */
#include <string.h>

#include "encode/jsonread.h"
#include "encode/spanread.h"
#include "status/trace/answer.h"
#include "status/trace/spanof.h"

struct line {
	struct jsonread from;
	struct answer_span *span;
	GPtrArray *missing; /* NULL: nobody wants them */
	int64_t sum;        /* of the parts */
};

/* Values */

static void get_name(struct jsonread *from, answer_call_name name)
{
	struct text text = {"", 0};
	size_t size;

	if (jsonread_is_null(from))
		jsonread_skip(from);
	else
		text = jsonread_text(from);
	size = MIN(text.size, sizeof(answer_call_name) - 1);
	memcpy(name, text.data, size);
	name[size] = '\0';
}

static int64_t get_amount(struct jsonread *from)
{
	int64_t amount = jsonread_number(from);

	from->failed |= amount < 0;
	return amount;
}

static char *get_sentence(struct jsonread *from)
{
	struct text text = jsonread_text(from);

	/* one byte more, so that who shows it knows that there is more */
	return g_strndup(text.data, MIN(text.size, ANSWER_SENTENCE_MAX + 1));
}

static enum part find_part(struct text name)
{
	for (enum part part = 0; part < PARTS; part++)
		if (text_is(name, part_name(part)))
			return part;
	return PART_OTHER;
}

static enum whom_kind find_kind(struct text name)
{
	for (enum whom_kind kind = 0; kind < WHOM_KINDS; kind++)
		if (text_is(name, whom_kind_name(kind)))
			return kind;
	return WHOM_UNKNOWN;
}

static struct whom nobody(void)
{
	return (struct whom){.number = WHOM_NO_NUMBER, .pid = WHOM_NO_NUMBER};
}

static void get_whom_member(struct jsonread *from, struct text key, struct whom *whom)
{
	if (text_is(key, "kind"))
		whom->kind = find_kind(jsonread_text(from));
	else if (text_is(key, "name"))
		whom_name(whom, jsonread_text(from));
	else if (text_is(key, "tid") || text_is(key, "number"))
		whom->number = jsonread_number(from);
	else if (text_is(key, "pid"))
		whom->pid = jsonread_number(from);
	else
		jsonread_skip(from);
}

static struct whom get_whom(struct jsonread *from)
{
	struct whom whom = nobody();
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key))
		get_whom_member(from, key, &whom);
	return whom;
}

/* Lists: the longest come first */

static void get_runner(struct jsonread *from, struct answer_span *span)
{
	struct answer_runner runner = {.whom = nobody()};
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key))
		if (text_is(key, "ns"))
			runner.time = get_amount(from);
		else
			get_whom_member(from, key, &runner.whom);
	if (span->runner_count < ANSWER_RUNNERS)
		span->runners[span->runner_count] = runner;
	span->runner_count++;
}

static void get_wait(struct jsonread *from, struct answer_span *span)
{
	struct answer_wait wait = {.by = nobody()};
	enum part part = PART_OTHER;
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key))
		if (text_is(key, "part"))
			part = find_part(jsonread_text(from));
		else if (text_is(key, "syscall"))
			get_name(from, wait.call);
		else if (text_is(key, "count"))
			wait.count = get_amount(from);
		else if (text_is(key, "ns"))
			wait.time = get_amount(from);
		else if (text_is(key, "woken_by"))
			wait.by = get_whom(from);
		else
			jsonread_skip(from);
	if (span->wait_count[part] < ANSWER_WAITS)
		span->waits[part][span->wait_count[part]] = wait;
	span->wait_count[part]++;
}

static void get_call(struct jsonread *from, struct answer_span *span)
{
	struct answer_call call = {0};
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key))
		if (text_is(key, "name"))
			get_name(from, call.name);
		else if (text_is(key, "count"))
			call.count = get_amount(from);
		else if (text_is(key, "ns"))
			call.time = get_amount(from);
		else
			jsonread_skip(from);
	if (span->call_count < ANSWER_CALLS)
		span->calls[span->call_count] = call;
	span->call_count++;
}

static void get_list(struct line *line, void (*get)(struct jsonread *from, struct answer_span *span))
{
	jsonread_open(&line->from, '[');
	while (jsonread_element(&line->from))
		get(&line->from, line->span);
}

/* Of the answer's own */

static void get_parts(struct line *line)
{
	struct jsonread *from = &line->from;
	struct text key;

	jsonread_open(from, '{');
	while (jsonread_key(from, &key)) {
		enum part part = find_part(key);
		int64_t time = get_amount(from);

		if (time > INT64_MAX - line->sum)
			from->failed = true;
		if (from->failed)
			return;
		line->span->part[part] += time;
		line->sum += time;
	}
}

static void get_span(struct line *line)
{
	struct span_memory memory = {0};
	const char *begin = line->from.at;
	struct span span;

	jsonread_skip(&line->from);
	span2_free(line->span->span);
	line->span->span = NULL;
	if (!line->from.failed &&
		spanread_json(&span, (const uint8_t *)begin, (size_t)(line->from.at - begin), &memory))
		line->span->span = spanof(&span);
	span_memory_free(&memory);
}

static void get_missing(struct line *line)
{
	jsonread_open(&line->from, '[');
	while (jsonread_element(&line->from)) {
		if (line->missing && line->missing->len < ANSWER_SENTENCES_MAX)
			g_ptr_array_add(line->missing, get_sentence(&line->from));
		else
			jsonread_skip(&line->from);
	}
}

static void get_cause(struct line *line)
{
	g_free(line->span->cause);
	line->span->cause = get_sentence(&line->from);
}

static void get_member(struct line *line, struct text key)
{
	if (text_is(key, "span"))
		get_span(line);
	else if (text_is(key, "tid"))
		line->span->tid = jsonread_number(&line->from);
	else if (text_is(key, "duration_ns"))
		line->span->duration = get_amount(&line->from);
	else if (text_is(key, "cause"))
		get_cause(line);
	else if (text_is(key, "parts_ns"))
		get_parts(line);
	else if (text_is(key, "ran_meanwhile"))
		get_list(line, get_runner);
	else if (text_is(key, "waits"))
		get_list(line, get_wait);
	else if (text_is(key, "syscalls"))
		get_list(line, get_call);
	else if (text_is(key, "missing"))
		get_missing(line);
	else
		jsonread_skip(&line->from);
}

/* Whether it says where all of a span's time went. */
static bool is_whole(struct line *line)
{
	struct answer_span *span = line->span;

	if (!jsonread_is_over(&line->from) || !span->span || span->duration != line->sum)
		return false;
	span->id = span->span->id;
	span->kind = span->span->kind;
	if (!span->cause)
		span->cause = g_strdup("");
	return true;
}

struct answer_span *answer_read_line(struct text text, GPtrArray *missing)
{
	struct line line = {.from = {.at = text.data, .end = text.data + text.size}, .missing = missing};
	struct buffer room = {0};
	struct text key;
	bool whole;

	if (!g_utf8_validate(text.data, text.size, NULL))
		return NULL;
	line.span = g_new0(struct answer_span, 1);
	line.span->tid = WHOM_NO_NUMBER;
	line.from.room = (char *)buffer_reserve(&room, text.size);
	jsonread_open(&line.from, '{');
	while (jsonread_key(&line.from, &key))
		get_member(&line, key);
	whole = is_whole(&line);
	buffer_free(&room);
	if (whole)
		return line.span;
	answer_span_free(line.span);
	return NULL;
}

void answer_span_free(void *data)
{
	struct answer_span *span = data;

	span2_free(span->span);
	g_free(span->cause);
	g_free(span);
}
