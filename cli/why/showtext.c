/* SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "look/fit.h"
#include "printable.h"
#include "why/show.h"
#include "why/words.h"
#include "wrap.h"
#include "write_out.h"

/* One screen: of each kind the first few are shown, and how many are left out is said. */
#define ENTRIES 3
#define SPANS 30
#define DEPTH_MAX 10

#define LABEL 13
#define TIME 9
#define NAME 36

static const struct why_span *span_at(const struct why *why, guint index)
{
	return &g_array_index(why->spans, struct why_span, index);
}

/* Which span is to be looked at: the one with most time that is not its children's. */

static bool is_child(const struct why_span *of, const struct why_span *span)
{
	return of != span &&
	       (span->whole->parent_id == of->whole->id ||
		       (span->whole->id == of->whole->id && span->whole->shared && !of->whole->shared));
}

/* Those of one span by their starts, so that overlapping ones count once. */
static int64_t own_time(const struct why *why, const struct why_span *of)
{
	int64_t own = why_duration(of), until = of->at->start;

	for (guint i = 0; i < why->spans->len; i++) {
		const struct why_span *span = span_at(why, i);
		int64_t begin = MAX(span->at->start, until), end = MIN(span->at->end, of->at->end);

		if (!is_child(of, span) || end <= begin)
			continue;
		own -= end - begin;
		until = end;
	}
	return own;
}

static const struct why_span *find_culprit(const struct why *why)
{
	const struct why_span *worst = span_at(why, 0);
	int64_t most = own_time(why, worst);

	for (guint i = 1; i < why->spans->len; i++) {
		int64_t own = own_time(why, span_at(why, i));

		if (own > most) {
			most = own;
			worst = span_at(why, i);
		}
	}
	return worst;
}

/* Names */

static void put_text(struct buffer *out, const char *text)
{
	if (text)
		printable_put(out, text, strlen(text), 64);
	else
		buffer_put(out, "?", 1);
}

static const char *service_of(const struct why_span *span)
{
	return span->whole->local ? span->whole->local->service : NULL;
}

static void put_span_name(struct buffer *out, const struct why_span *span)
{
	buffer_printf(out, "`");
	put_text(out, span->whole->name);
	buffer_printf(out, "` of ");
	put_text(out, service_of(span));
}

/* Rows: a label, a time, a share, and what there is to say of it. */

static void begin_row(struct buffer *out, const char *label)
{
	buffer_put(out, "  ", 2);
	fit_put_left(out, label, LABEL);
}

static void put_share(struct buffer *out, const struct why_span *span, int64_t time)
{
	struct buffer text = {0};
	int64_t whole = why_duration(span);

	words_time(&text, time);
	buffer_put(&text, "", 1);
	fit_put_right(out, (const char *)text.data, TIME);
	buffer_printf(out, "  %3.0f %%", whole ? 100.0 * (double)time / (double)whole : 0.0);
	buffer_free(&text);
}

static void put_separator(struct buffer *out, guint index)
{
	buffer_printf(out, "%s", index ? "; " : "  ");
}

static void put_rest(struct buffer *out, guint rest)
{
	if (rest)
		buffer_printf(out, "; %u more", rest);
}

static void put_runners(struct buffer *out, const struct why_span *span)
{
	const GArray *runners = span->tally.runners;

	for (guint i = 0; i < MIN(runners->len, ENTRIES); i++) {
		const struct runner *runner = &g_array_index(runners, struct runner, i);

		put_separator(out, i);
		if (i == 0)
			buffer_printf(out, "there ran ");
		if (!words_whom(out, &runner->whom))
			buffer_printf(out, "who is not known");
		buffer_put(out, " ", 1);
		words_time(out, runner->time);
	}
	put_rest(out, runners->len - MIN(runners->len, ENTRIES));
}

static void put_wait(struct buffer *out, const struct wait *wait)
{
	bool rest = wait->whom.kind == WHOM_OTHERS;
	struct buffer whom = {0};

	if (wait->call.size)
		printable_put(out, wait->call.data, wait->call.size, 0);
	else if (rest)
		buffer_printf(out, "others");
	else if (wait->part != PART_FAULT)
		buffer_printf(out, "in no system call that is recorded");
	if (wait->call.size || rest || wait->part != PART_FAULT)
		buffer_put(out, " ", 1);
	words_time(out, wait->time);
	if (wait->count > 1)
		buffer_printf(out, " in %" PRIu64 " waits", wait->count);
	if (!rest && words_whom(&whom, &wait->whom))
		buffer_printf(out, ", woken by %.*s", (int)whom.size, (const char *)whom.data);
	buffer_free(&whom);
}

static void put_waits(struct buffer *out, const struct why_span *span, enum part part)
{
	guint shown = 0, rest = 0;

	for (guint i = 0; i < span->tally.waits->len; i++) {
		const struct wait *wait = &g_array_index(span->tally.waits, struct wait, i);

		if (wait->part != part)
			continue;
		if (shown == ENTRIES) {
			rest++;
			continue;
		}
		put_separator(out, shown++);
		put_wait(out, wait);
	}
	put_rest(out, rest);
}

static void put_parts(struct buffer *out, const struct why_span *span)
{
	for (enum part part = 0; part < PARTS; part++) {
		if (!span->tally.part[part])
			continue;
		begin_row(out, part_label(part));
		put_share(out, span, span->tally.part[part]);
		if (part == PART_RUNNABLE)
			put_runners(out, span);
		else
			put_waits(out, span, part);
		buffer_put(out, "\n", 1);
	}
}

static void put_calls(struct buffer *out, const struct why_span *span)
{
	const GArray *calls = span->tally.calls;
	guint shown = MIN(calls->len, 2 * ENTRIES);

	if (!calls->len)
		return;
	begin_row(out, "system calls");
	for (guint i = 0; i < shown; i++) {
		const struct call *call = &g_array_index(calls, struct call, i);

		put_separator(out, i);
		put_text(out, call->name.size ? call->name.data : "others");
		buffer_put(out, " ", 1);
		words_time(out, call->time);
		if (call->count > 1)
			buffer_printf(out, " (%" PRIu64 " times)", call->count);
	}
	put_rest(out, calls->len - shown);
	buffer_put(out, "\n", 1);
}

/* "lock 80.1 ms, futex" */
static void put_main(struct buffer *out, const struct why_span *span)
{
	enum part part = tally_main(&span->tally);
	const struct wait *wait = tally_main_wait(&span->tally, part);

	buffer_printf(out, "%s ", part_label(part));
	words_time(out, span->tally.part[part]);
	if (!wait || !wait->call.size)
		return;
	buffer_put(out, ", ", 2);
	printable_put(out, wait->call.data, wait->call.size, 0);
}

static void put_line(struct buffer *out, const struct why_span *span, unsigned depth)
{
	struct buffer name = {0}, time = {0};

	buffer_printf(&name, "%*s", (int)(2 * MIN(depth, DEPTH_MAX)), "");
	put_text(&name, span->whole->name);
	buffer_printf(&name, ", ");
	put_text(&name, service_of(span));
	buffer_put(&name, "", 1);
	buffer_printf(out, "  %016" PRIx64 "  ", span->at->id);
	fit_put_left(out, (const char *)name.data, NAME);
	words_time(&time, why_duration(span));
	buffer_put(&time, "", 1);
	fit_put_right(out, (const char *)time.data, TIME);
	buffer_printf(out, "  ");
	put_main(out, span);
	buffer_put(out, "\n", 1);
	buffer_free(&name);
	buffer_free(&time);
}

/* All spans, a line each: those of a parent below it. */
struct tree {
	struct buffer *out;
	const struct why *why;
	bool *is_put;
	guint count;
};

static void put_tree(struct tree *tree, guint index, unsigned depth)
{
	const struct why_span *span = span_at(tree->why, index);

	/* parents may go round in circles */
	if (tree->is_put[index])
		return;
	tree->is_put[index] = true;
	if (tree->count++ < SPANS)
		put_line(tree->out, span, depth);
	for (guint i = 0; i < tree->why->spans->len; i++)
		if (is_child(span, span_at(tree->why, i)))
			put_tree(tree, i, depth + 1);
}

static bool has_parent(const struct why *why, const struct why_span *span)
{
	for (guint i = 0; i < why->spans->len; i++)
		if (is_child(span_at(why, i), span))
			return true;
	return false;
}

static void put_lines(struct buffer *out, const struct why *why)
{
	g_autofree bool *is_put = g_new0(bool, why->spans->len);
	struct tree tree = {out, why, is_put, 0};

	if (why->spans->len < 2)
		return;
	buffer_put(out, "\n", 1);
	for (guint i = 0; i < why->spans->len; i++)
		if (!has_parent(why, span_at(why, i)))
			put_tree(&tree, i, 0);
	for (guint i = 0; i < why->spans->len; i++)
		put_tree(&tree, i, 0);
	if (tree.count > SPANS)
		buffer_printf(out,
			"  and %u more spans: `--json` has all of them, and `blkin why SPAN_ID` one\n",
			tree.count - SPANS);
}

static void put_missing(void *data, const char *sentence)
{
	struct buffer *out = data;

	buffer_put(out, "\n", 1);
	printable_put(out, sentence, strlen(sentence), 0);
	buffer_put(out, "\n", 1);
}

static void put_all(struct buffer *out, const struct why *why)
{
	const struct why_span *worst = find_culprit(why);

	put_span_name(out, worst);
	buffer_printf(out, ": ");
	words_cause(out, worst, why);
	buffer_printf(out, "\n\n");
	buffer_printf(out, "  %016" PRIx64 "  ", worst->at->id);
	put_span_name(out, worst);
	if (worst->at->tid != AROUND_UNKNOWN)
		buffer_printf(out, ", thread %" PRId64, worst->at->tid);
	buffer_printf(out, ", ");
	words_time(out, why_duration(worst));
	buffer_printf(out, "\n");
	put_parts(out, worst);
	put_calls(out, worst);
	put_lines(out, why);
	words_missing(why, put_missing, out);
}

bool why_show_text(const struct why *why)
{
	struct buffer out = {0};

	put_all(&out, why);
	fit_locale(&out);
	buffer_put(&out, "", 1);
	wrap_print(stdout, (const char *)out.data, wrap_width(stdout));
	buffer_free(&out);
	/* EPIPE: the reader has seen enough */
	if (fflush(stdout) == 0 || errno == EPIPE)
		return true;
	log_error("cannot write to standard output: %s", strerror(errno));
	return false;
}
