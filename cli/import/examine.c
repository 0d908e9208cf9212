/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "import/examine.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "import/guard.h"
#include "reader/decode/reader.h"

/* What is shared with the child, which goes on from trace to trace. */
struct examination {
	struct guard guard;
	const GPtrArray *dirs;
	unsigned long limit;
	unsigned begin;     /* the first trace that the child reads */
	atomic_uint at;     /* the one that it reads */
	atomic_ulong first; /* the guard's steps when it began that */
	bool failed;        /* babeltrace2 says that something is wrong with it */
	char error[256];
};

static void begin_trace(struct examination *examination, unsigned index)
{
	examination->at = index;
	/* a step of its own, so that each trace has all of the guard's time */
	examination->first = atomic_fetch_add(&examination->guard.steps, 1) + 1;
}

static bool read_trace(struct examination *examination, char *dir)
{
	enum reader_status status = READER_MORE;
	struct reader *reader =
		reader_open_files(&dir, 1, NULL, examination->error, sizeof(examination->error));

	if (!reader)
		return false;
	for (unsigned long i = 0; !examination->limit || i < examination->limit; i++) {
		status = reader_step(reader);
		if (status != READER_MORE && status != READER_IDLE)
			break;
		atomic_fetch_add(&examination->guard.steps, 1);
	}
	if (status == READER_ERROR)
		snprintf(examination->error, sizeof(examination->error), "%s", reader_error(reader));
	reader_close(reader);
	return status != READER_ERROR;
}

/* The child: until a trace is bad, as babeltrace2 has said then what is wrong. */
static void examine(void *data)
{
	struct examination *examination = data;

	reader_log_errors();
	guard_watch(&examination->guard);
	for (unsigned i = examination->begin; i < examination->dirs->len; i++) {
		begin_trace(examination, i);
		if (!read_trace(examination, examination->dirs->pdata[i])) {
			examination->failed = true;
			return;
		}
	}
}

/* Without the ": KEY=VALUE, ..." that follows in babeltrace2's log. */
static size_t length_of_message(const char *text)
{
	size_t line = strcspn(text, "\r\n"), end = 0;

	for (size_t i = 0; i + 2 < line; i++) {
		if (text[i] != ':' || text[i + 1] != ' ')
			continue;
		end = i + 2 + strspn(text + i + 2, "abcdefghijklmnopqrstuvwxyz0123456789-_");
		if (text[end] == '=')
			return i;
	}
	return line;
}

/* In the log of babeltrace2 the cause comes first, as "... [COMPONENT] MESSAGE"; or it is a failed assertion.
 */
static void find_reason(const char *said, const char *otherwise, char *reason, size_t size)
{
	const char *text = strstr(said, "] ");

	text = text ? text + 2 : strcasestr(said, "assert");
	if (!text)
		text = otherwise;
	snprintf(reason, size, "%.*s", (int)length_of_message(text), text);
	if (*reason && reason[strlen(reason) - 1] == '.')
		reason[strlen(reason) - 1] = '\0';
}

static void note(GArray *bad, const struct examination *examination, const char *how)
{
	struct bad_trace trace = {.dir = examination->dirs->pdata[examination->at],
		.steps = examination->guard.steps - examination->first,
		.ended = how != NULL};

	find_reason(
		examination->guard.said, how ? how : examination->error, trace.reason, sizeof(trace.reason));
	g_array_append_val(bad, trace);
}

GArray *examine_traces(const GPtrArray *dirs, unsigned long steps)
{
	struct examination *examination = guard_share(sizeof(*examination));
	GArray *bad = g_array_new(FALSE, FALSE, sizeof(struct bad_trace));
	const char *how;
	bool finished;

	if (!examination)
		return bad;
	examination->dirs = dirs;
	examination->limit = steps;
	while (examination->begin < dirs->len && !guard_interrupted()) {
		examination->at = examination->begin;
		examination->failed = false;
		finished = guard_run(&examination->guard, examine, examination, true, &how);
		if (finished && !examination->failed)
			break;
		if (!guard_interrupted())
			note(bad, examination, finished ? NULL : how);
		examination->begin = examination->at + 1;
	}
	guard_unshare(examination, sizeof(*examination));
	return bad;
}

bool examine_leave_out_bad(GPtrArray *traces)
{
	GArray *bad = examine_traces(traces, EXAMINE_BEGINNING);
	bool all = bad->len == 0;

	for (guint i = 0; i < bad->len; i++) {
		const struct bad_trace *trace = &g_array_index(bad, struct bad_trace, i);

		log_error("%s: skipped, as babeltrace2 cannot read it: %s", trace->dir, trace->reason);
		g_ptr_array_remove(traces, (gpointer)(uintptr_t)trace->dir);
	}
	g_array_unref(bad);
	return all;
}
