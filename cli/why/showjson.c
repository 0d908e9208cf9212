/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/json.h"
#include "why/show.h"
#include "why/words.h"
#include "write_out.h"

static void put_number(struct buffer *out, const char *key, int64_t number)
{
	json_key(out, key);
	json_int(out, number);
}

static void put_known(struct buffer *out, const char *key, int64_t number)
{
	if (number != KERNEL_UNKNOWN && number != AROUND_UNKNOWN)
		put_number(out, key, number);
}

/* Its members, in an object that is open. */
static void put_whom(struct buffer *out, const struct whom *whom)
{
	json_key(out, "kind");
	json_text(out, whom_kind_name(whom->kind));
	if (*whom->name) {
		json_key(out, "name");
		json_text(out, whom->name);
	}
	if (whom->kind == WHOM_THREAD)
		put_known(out, "tid", whom->number);
	else if (whom->kind == WHOM_INTERRUPT || whom->kind == WHOM_SOFTIRQ)
		put_known(out, "number", whom->number);
	if (whom->kind == WHOM_THREAD)
		put_known(out, "pid", whom->pid);
}

/* A system call whose name is not known, or that is of several, has null. */
static void put_call(struct buffer *out, const char *key, struct text name)
{
	json_key(out, key);
	if (name.size)
		json_string(out, name.data, name.size);
	else
		json_null(out);
}

static void put_parts(struct buffer *out, const struct tally *tally)
{
	json_key(out, "parts_ns");
	json_open(out, '{');
	for (enum part part = 0; part < PARTS; part++)
		put_number(out, part_name(part), tally->part[part]);
	json_close(out, '}');
}

static void put_runners(struct buffer *out, const GArray *runners)
{
	json_key(out, "ran_meanwhile");
	json_open(out, '[');
	for (guint i = 0; i < runners->len; i++) {
		const struct runner *runner = &g_array_index(runners, struct runner, i);

		json_open(out, '{');
		put_whom(out, &runner->whom);
		put_number(out, "ns", runner->time);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void put_waits(struct buffer *out, const GArray *waits)
{
	json_key(out, "waits");
	json_open(out, '[');
	for (guint i = 0; i < waits->len; i++) {
		const struct wait *wait = &g_array_index(waits, struct wait, i);

		json_open(out, '{');
		json_key(out, "part");
		json_text(out, part_name(wait->part));
		put_call(out, "syscall", wait->call);
		put_number(out, "count", (int64_t)wait->count);
		put_number(out, "ns", wait->time);
		put_number(out, "longest_ns", wait->longest);
		json_key(out, "woken_by");
		json_open(out, '{');
		put_whom(out, &wait->whom);
		json_close(out, '}');
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void put_calls(struct buffer *out, const GArray *calls)
{
	json_key(out, "syscalls");
	json_open(out, '[');
	for (guint i = 0; i < calls->len; i++) {
		const struct call *call = &g_array_index(calls, struct call, i);

		json_open(out, '{');
		put_call(out, "name", call->name);
		put_number(out, "count", (int64_t)call->count);
		put_number(out, "ns", call->time);
		put_number(out, "waited_ns", call->waited);
		put_number(out, "longest_ns", call->longest);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void put_sentence(void *out, const char *sentence)
{
	json_text(out, sentence);
}

static void put_cause(struct buffer *out, const struct why *why, const struct why_span *span)
{
	struct buffer words = {0};

	words_cause(&words, span, why);
	json_key(out, "cause");
	json_string(out, (const char *)words.data, words.size);
	json_key(out, "main");
	json_text(out, part_name(tally_main(&span->tally)));
	buffer_free(&words);
}

static void put_span(struct buffer *out, const struct why *why, const struct why_span *span)
{
	json_open(out, '{');
	json_key(out, "span");
	span2_put_json(span->whole, out);
	put_known(out, "pid", span->at->pid);
	put_known(out, "tid", span->at->tid);
	put_number(out, "duration_ns", why_duration(span));
	put_cause(out, why, span);
	put_parts(out, &span->tally);
	put_runners(out, span->tally.runners);
	put_waits(out, span->tally.waits);
	put_calls(out, span->tally.calls);
	json_key(out, "missing");
	json_open(out, '[');
	words_missing(why, put_sentence, out);
	json_close(out, ']');
	json_close(out, '}');
	buffer_put(out, "\n", 1);
}

bool why_show_json(const struct why *why)
{
	struct buffer out = {0};
	bool failed = false;

	for (guint i = 0; i < why->spans->len && !failed; i++) {
		out.size = 0;
		put_span(&out, why, &g_array_index(why->spans, struct why_span, i));
		if (!write_out(out.data, out.size, &failed))
			break;
	}
	buffer_free(&out);
	return !failed;
}
