/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/around.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "import/aroundevent.h"
#include "import/aroundshow.h"
#include "import/aroundspans.h"
#include "import/examine.h"
#include "import/guard.h"
#include "import/readtraces.h"
#include "queue/encoding.h"
#include "status/trace/span2.h"

/* What is shared with the child. */
struct around {
	struct guard guard;
	const struct config *config;
	const struct span_printer_options *how;
	uint64_t trace_id;
	const GPtrArray *traces;
	bool damaged, failed; /* a trace; standard output */
	bool found;
	uint64_t refused; /* spans that are too many */
	char error[256];
};

/* The child's. */
struct seeking {
	struct around *around;
	struct around_spans *spans;
	GPtrArray *whole; /* the trace's, as Zipkin would have them: of struct span2 */
};

bool around_parse(const char *text, uint64_t *trace_id)
{
	size_t size = strlen(text);
	const char *low = size > 16 ? text + size - 16 : text;

	if (!size || size > 32 || strspn(text, "0123456789abcdefABCDEF") != size)
		return false;
	if (trace_id)
		*trace_id = g_ascii_strtoull(low, NULL, 16);
	return true;
}

/* The spans */

static void note_span(void *data, const struct event *event, int64_t tid, int64_t cpu)
{
	struct seeking *seeking = data;

	(void)cpu;
	around_spans_take(seeking->spans, event, tid);
}

static void take_spans(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct seeking *seeking = data;

	(void)now, (void)at_once;
	memset(change, 0, sizeof(*change));
	seeking->around->refused +=
		traces_keep_spans(seeking->whole, &made->spans, seeking->around->trace_id, false);
}

/* The events */

static void keep_event(struct seeking *seeking, const char *json, size_t size, int64_t time)
{
	struct around_moment moment = {.time = time};
	struct around_span *span;

	if (!around_event_read(json, size, &moment))
		return;
	span = around_spans_find(seeking->spans, &moment);
	if (span)
		around_spans_put(seeking->spans, span, around_event_make(json, size, time));
}

static void take_events(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct seeking *seeking = data;
	struct batch *batch = encode_batch(made->events.batch, BATCH_EVENT_JSON, NULL);
	const uint8_t *at = batch->spans.data;

	(void)now, (void)at_once;
	memset(change, 0, sizeof(*change));
	for (uint32_t i = 0; i < batch->count; at += batch_sizes(batch)[i++])
		if (around_spans_reach(seeking->spans, batch_events(batch)[i]))
			keep_event(seeking, (const char *)at, batch_sizes(batch)[i], batch_events(batch)[i]);
	batch_unref(batch);
}

/* Reading */

static void read_traces(struct seeking *seeking, const struct traces_wanted *wanted)
{
	struct around *around = seeking->around;

	if (!traces_read(around->config, around->traces, wanted, &around->guard, around->error,
		    sizeof(around->error)))
		around->damaged = true;
}

static void seek(void *data)
{
	struct around *around = data;
	struct seeking seeking = {.around = around,
		.spans = around_spans_create(around->trace_id, around_event_free),
		.whole = g_ptr_array_new_with_free_func(span2_free)};

	guard_watch(&around->guard);
	signal(SIGPIPE, SIG_IGN);
	read_traces(&seeking,
		&(struct traces_wanted){.sink = {take_spans, &seeking}, .seen = note_span, .data = &seeking});
	around->found = seeking.whole->len > 0;
	if (around->found)
		read_traces(
			&seeking, &(struct traces_wanted){.events = true, .sink = {take_events, &seeking}});
	/* where the same are missing of both */
	around->refused = MAX(around->refused, around_spans_more(seeking.spans));
	if (around->found)
		around->failed =
			!around_show(around->how, seeking.whole, seeking.spans, &around->guard.steps);
	g_ptr_array_unref(seeking.whole);
	around_spans_destroy(seeking.spans);
	if (!around->damaged)
		return;
	around->guard.finished = true;
	_exit(EXIT_SUCCESS);
}

/* Runs the child; returns whether all was found, read and printed. */
static bool run_child(struct around *around)
{
	const char *how;

	if (!guard_run(&around->guard, seek, around, false, &how)) {
		if (!guard_interrupted())
			log_error("the traces were not read to their ends: %s", how);
		return false;
	}
	if (around->damaged)
		log_error("the traces were not read to their ends: %s", around->error);
	else if (!around->found)
		log_error("no span of trace %016" PRIx64 " is in these traces", around->trace_id);
	if (around->refused)
		log_error("the trace has %" PRIu64 " spans more, which are left out: %d are shown",
			around->refused, AROUND_SPANS_MAX);
	return around->found && !around->damaged && !around->failed && !around->refused;
}

int around_run(const struct config *config, const char *trace_id, const struct span_printer_options *how,
	const GPtrArray *traces)
{
	struct around *around = guard_share(sizeof(*around));
	g_autoptr(GPtrArray) good = g_ptr_array_new();
	bool whole;

	if (!around) {
		log_error("no memory left");
		return EXIT_FAILURE;
	}
	for (guint i = 0; i < traces->len; i++)
		g_ptr_array_add(good, traces->pdata[i]);
	whole = examine_leave_out_bad(good);
	around->config = config;
	around->how = how;
	around->traces = good;
	around_parse(trace_id, &around->trace_id);
	whole = good->len && !guard_interrupted() && run_child(around) && whole;
	guard_unshare(around, sizeof(*around));
	return whole ? EXIT_SUCCESS : EXIT_FAILURE;
}
