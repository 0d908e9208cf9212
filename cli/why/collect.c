/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/collect.h"

#include <string.h>

#include "import/aroundshow.h"
#include "import/numbers.h"
#include "import/readtraces.h"
#include "why/declared.h"
#include "why/machine.h"
#include "why/twice.h"

void why_init(struct why *why, uint64_t id)
{
	memset(why, 0, sizeof(*why));
	why->id = id;
	why->first = UINT64_MAX;
	why->in_trace = around_spans_create(id, NULL);
	why->alone = around_spans_create(id, NULL);
	why->whole = g_ptr_array_new_with_free_func(span2_free);
	why->spans = g_array_new(FALSE, TRUE, sizeof(struct why_span));
	why->numbers = numbers_create();
	why->records = g_array_new(FALSE, FALSE, sizeof(struct why_record));
	why->heard = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	why->silent = KERNEL_UNKNOWN;
}

void why_free(struct why *why)
{
	for (guint i = 0; i < why->spans->len; i++)
		tally_free(&g_array_index(why->spans, struct why_span, i).tally);
	if (why->machine)
		machine_destroy(why->machine);
	g_array_unref(why->spans);
	g_array_unref(why->records);
	g_hash_table_unref(why->heard);
	g_ptr_array_unref(why->whole);
	around_spans_destroy(why->in_trace);
	around_spans_destroy(why->alone);
	numbers_destroy(why->numbers);
	g_free(why->host);
	g_free(why->other);
	g_free(why->foreign);
	if (why->twice)
		twice_destroy(why->twice);
}

/* First, the spans, and what is recorded at all */

static void note_record(struct why *why, int64_t cpu, int64_t time)
{
	const struct why_record record = {cpu, time};

	if (cpu >= 0 && why->records->len < AROUND_SPANS_MAX)
		g_array_append_val(why->records, record);
}

static void note_span(void *data, const struct event *event, int64_t tid, int64_t cpu)
{
	struct why *why = data;
	struct event copy = *event;

	if (event->trace_id == why->id || event->span_id == why->id) {
		why->first = MIN(why->first, event->type == EVENT_SPAN ? event->start : event->clock);
		why->last = MAX(why->last, event->clock);
		note_record(why, cpu, event->time);
	}
	around_spans_take(why->in_trace, event, tid);
	if (event->span_id != why->id)
		return;
	copy.trace_id = why->id; /* whatever its trace is */
	around_spans_take(why->alone, &copy, tid);
}

static void note_host(struct why *why, struct text host)
{
	if (!why->host)
		why->host = g_strndup(host.data, host.size);
	else if (!why->other && !text_is(host, why->host))
		why->other = g_strndup(host.data, host.size);
}

/* From when to when a processor has events; of more processors than there are, not. */
static void note_processor(struct why *why, const struct kernel_event *event)
{
	struct why_heard *heard = g_hash_table_lookup(why->heard, &event->cpu);

	if (!heard && event->cpu != KERNEL_UNKNOWN && g_hash_table_size(why->heard) < MACHINE_CPUS_MAX) {
		heard = g_new(struct why_heard, 1);
		*heard = (struct why_heard){event->cpu, event->time, event->time};
		g_hash_table_insert(why->heard, &heard->cpu, heard);
	}
	if (!heard)
		return;
	heard->first = MIN(heard->first, event->time);
	heard->last = MAX(heard->last, event->time);
}

static void note_event(struct why *why, const struct kernel_event *event)
{
	why->kernel_first = why->any_kernel ? MIN(why->kernel_first, event->time) : event->time;
	why->kernel_last = why->any_kernel ? MAX(why->kernel_last, event->time) : event->time;
	why->any_kernel = true;
	why->recorded[event->kind] = true;
	note_host(why, event->host);
	note_processor(why, event);
	numbers_learn(why->numbers, event);
}

/* Then, what their threads did */

static void each_event(struct why *why, const struct items *made,
	void (*take)(struct why *why, const struct kernel_event *event))
{
	const uint8_t *at = made->batch->spans.data;
	struct kernel_event event;

	for (uint32_t i = 0; i < made->batch->count; at += batch_sizes(made->batch)[i++])
		if (kernel_event_read(&event, at, batch_sizes(made->batch)[i]))
			take(why, &event);
}

static void analyse_event(struct why *why, const struct kernel_event *event)
{
	if (!why->twice || !twice_has(why->twice, event))
		machine_take(why->machine, event);
}

static void take_first(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct why *why = data;

	(void)now, (void)at_once;
	memset(change, 0, sizeof(*change));
	why->refused += traces_keep_spans(why->whole, &made->spans, why->id, true);
	each_event(why, &made->events, note_event);
}

/* What is missing begins before the event at hand. What programs' rings lost says nothing of the kernel's. */
static void take_second(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct why *why = data;

	(void)now, (void)at_once;
	why->discarded += made->kernel_events_lost;
	why->overwritten += made->kernel_packets_lost;
	if (made->kernel_gap)
		machine_doubt(why->machine, made->kernel_gap_until);
	memset(change, 0, sizeof(*change));
	each_event(why, &made->events, analyse_event);
}

/* Reading */

static bool read_traces(struct why *why, const struct config *config, const GPtrArray *traces, bool events,
	struct pipeline_sink sink, struct guard *guard, char *error, size_t error_size)
{
	const struct traces_wanted wanted = {
		.events = events, .sink = sink, .seen = why->machine ? NULL : note_span, .data = why};

	return traces_read(config, traces, &wanted, guard, error, error_size);
}

static void add_span(struct why *why, const struct around_span *at)
{
	struct why_span span = {.at = at, .whole = around_whole(why->whole, at), .thread = THREAD_UNKNOWN};

	if (!span.whole || why->spans->len >= WHY_SPANS_MAX)
		return;
	tally_init(&span.tally);
	if (at->tid != AROUND_UNKNOWN)
		span.thread = numbers_find(why->numbers, at->pid, at->tid) == NUMBER_AMBIGUOUS
				      ? THREAD_AMBIGUOUS
				      : THREAD_KNOWN;
	g_array_append_val(why->spans, span);
}

static void find_spans(struct why *why)
{
	struct around_spans *spans = why->in_trace;
	uint64_t all;

	why->of_span = around_spans_list(spans)->len == 0;
	if (why->of_span)
		spans = why->alone;
	for (guint i = 0; i < around_spans_list(spans)->len; i++)
		add_span(why, around_spans_list(spans)->pdata[i]);
	all = around_spans_list(spans)->len + around_spans_more(spans);
	if (why->refused)
		all = MAX(all, why->whole->len + why->refused);
	why->left_out = all - why->spans->len;
}

static bool can_tell(const struct why *why, const struct why_span *span)
{
	return span->thread == THREAD_KNOWN && why->any_kernel && !why->other && !why->spread;
}

static void want_thread(struct why *why, struct why_span *span)
{
	const struct around_span *at = span->at;
	int64_t tid = numbers_find(why->numbers, at->pid, at->tid);

	machine_want(why->machine, tid, at->start, at->end, &span->tally);
	machine_prove(why->machine, tid, at->seen);
	/* usually it began the span, too */
	if (why->silent != KERNEL_UNKNOWN)
		machine_prove(why->machine, tid, at->start);
}

static void want_threads(struct why *why)
{
	if (why->twice)
		twice_destroy(why->twice);
	why->twice = why->kernels > 1 ? twice_create() : NULL;
	why->machine = machine_create(why->recorded, why->all_calls);
	for (guint i = 0; i < why->spans->len; i++) {
		struct why_span *span = &g_array_index(why->spans, struct why_span, i);
		const struct around_span *at = span->at;

		if (can_tell(why, span))
			want_thread(why, span);
		else
			span->tally.part[PART_UNKNOWN] = at->end - at->start;
	}
}

/* A processor where something was recorded, and of which there are no events of that time. */
static void find_silent(struct why *why)
{
	for (guint i = 0; i < why->records->len && why->silent == KERNEL_UNKNOWN; i++) {
		const struct why_record *record = &g_array_index(why->records, struct why_record, i);
		const struct why_heard *heard = g_hash_table_lookup(why->heard, &record->cpu);

		if (!heard || record->time < heard->first || record->time > heard->last)
			why->silent = record->cpu;
	}
}

static void forget_parts(struct why *why)
{
	for (guint i = 0; i < why->spans->len; i++) {
		struct tally *tally = &g_array_index(why->spans, struct why_span, i).tally;

		tally_free(tally);
		tally_init(tally);
	}
	why->discarded = why->overwritten = 0;
}

/* Events are missing: once more, now that it is known of which times. */
static bool read_again(struct why *why, const struct config *config, const GPtrArray *traces,
	struct guard *guard, char *error, size_t error_size)
{
	const struct pipeline_sink sink = {.hand = take_second, .data = why, .spans = 1};
	struct machine *wrong = why->machine;
	bool whole;

	why->wrong = true;
	forget_parts(why);
	want_threads(why);
	machine_correct(why->machine, wrong);
	whole = read_traces(why, config, traces, true, sink, guard, error, error_size);
	machine_end(why->machine);
	machine_destroy(wrong);
	return whole;
}

bool why_collect(struct why *why, const struct config *config, const GPtrArray *traces, struct guard *guard,
	char *error, size_t error_size)
{
	/* each event by itself, as it matters between which two some are missing */
	const struct pipeline_sink first = {take_first, why},
				   second = {.hand = take_second, .data = why, .spans = 1};
	bool whole = read_traces(why, config, traces, true, first, guard, error, error_size);

	why->all_calls = declared_all_calls(traces);
	find_spans(why);
	if (!why->spans->len)
		return whole;
	if (why->recorded[KERNEL_SWITCH] && !why->other && !why->spread)
		find_silent(why);
	want_threads(why);
	if (why->any_kernel && !why->other)
		whole = read_traces(why, config, traces, true, second, guard, error, error_size) && whole;
	machine_end(why->machine);
	if (machine_is_wrong(why->machine))
		whole = read_again(why, config, traces, guard, error, error_size) && whole;
	for (guint i = 0; i < why->spans->len; i++)
		tally_sort(&g_array_index(why->spans, struct why_span, i).tally);
	return whole;
}

bool why_read_spans(struct why *why, const struct config *config, const GPtrArray *traces,
	struct guard *guard, char *error, size_t error_size)
{
	const struct pipeline_sink sink = {take_first, why};

	return read_traces(why, config, traces, false, sink, guard, error, error_size);
}
