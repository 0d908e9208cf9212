/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/foreign.h"

#include <string.h>

#include "base/clock.h"
#include "reader/decode/eventpack.h"
#include "reader/pair/pairfields.h"

struct foreign {
	struct pipeline *pipeline;
	char *const *patterns;
	GHashTable *plans;               /* by event class */
	GHashTable *traces;              /* struct trace_facts, by trace */
	const struct event_plan *plan;   /* events of one class come in runs, */
	const struct trace_facts *trace; /* and of one trace, too */
	struct buffer record;            /* of the event at hand */
	struct buffer fields;            /* of one that is half of a pair */
};

static void destroy_plan(void *plan)
{
	event_plan_destroy(plan);
}

static void destroy_trace(void *trace)
{
	trace_facts_destroy(trace);
}

struct foreign *foreign_create(struct pipeline *pipeline, char *const *patterns)
{
	struct foreign *foreign = g_new0(struct foreign, 1);

	foreign->pipeline = pipeline;
	foreign->patterns = patterns;
	foreign->plans = g_hash_table_new_full(NULL, NULL, NULL, destroy_plan);
	foreign->traces = g_hash_table_new_full(NULL, NULL, NULL, destroy_trace);
	return foreign;
}

void foreign_destroy(struct foreign *foreign)
{
	g_hash_table_unref(foreign->plans);
	g_hash_table_unref(foreign->traces);
	buffer_free(&foreign->record);
	buffer_free(&foreign->fields);
	g_free(foreign);
}

/* Whose events it has is the trace's to say: LTTng's do. */
static bool is_of_kernel(const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	const bt_value *domain = bt_trace_borrow_environment_entry_value_by_name_const(trace, "domain");

	return domain && bt_value_is_string(domain) && !strcmp(bt_value_string_get(domain), "kernel");
}

static const struct event_plan *find_plan(struct foreign *foreign, const bt_event *event)
{
	const bt_event_class *event_class = bt_event_borrow_class_const(event);
	struct event_plan *plan;

	if (foreign->plan && foreign->plan->event_class == event_class)
		return foreign->plan;
	plan = g_hash_table_lookup(foreign->plans, event_class);
	if (!plan) {
		plan = event_plan_create(event_class, foreign->patterns, pipeline_pairing(foreign->pipeline),
			is_of_kernel(event));
		g_hash_table_insert(foreign->plans, (gpointer)(uintptr_t)event_class, plan);
	}
	foreign->plan = plan;
	return plan;
}

static const struct trace_facts *find_trace(struct foreign *foreign, const bt_event *event)
{
	const bt_trace *trace = bt_stream_borrow_trace_const(bt_event_borrow_stream_const(event));
	struct trace_facts *facts;

	if (foreign->trace && foreign->trace->trace == trace)
		return foreign->trace;
	facts = g_hash_table_lookup(foreign->traces, trace);
	if (!facts) {
		facts = trace_facts_create(trace);
		g_hash_table_insert(foreign->traces, (gpointer)(uintptr_t)trace, facts);
	}
	foreign->trace = facts;
	return facts;
}

/* Those that the class does not have are NULL, without a question to babeltrace2. */
static void see_scopes(struct event_seen *seen, const bt_event *event)
{
	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		if (seen->plan->scope[scope].exists)
			seen->scopes[scope] = event_scope_field(event, scope);
}

/* Returns the time as the trace has it. */
static int64_t see(
	struct event_seen *seen, const bt_message *message, const bt_event *event, struct clock_steps *steps)
{
	int64_t traced;

	see_scopes(seen, event);
	seen->facts = event_facts_of(seen->plan, seen->trace, seen->scopes);
	seen->moment = moment_of(seen->plan, message);
	traced = seen->moment.time;
	if (steps && seen->moment.kind == MOMENT_TIME)
		seen->moment.time = clock_steps_time(steps, (int64_t)seen->moment.cycles, seen->moment.time);
	return traced;
}

/* The moment, as a number that is the same in each trace and for each reader, whatever the offset of its
 * clock is taken for. Without a uuid the clock may be any. */
static uint64_t number_of_moment(const struct event_seen *seen, int64_t traced)
{
	return seen->plan->clock ? seen->plan->clock ^ seen->moment.cycles : (uint64_t)traced;
}

/* What is known of the event as half of a pair; it borrows from the event's record, which may be empty. */
static struct pair_event half_of(struct foreign *foreign, const struct event_seen *seen, int64_t traced)
{
	struct pair_event half = {
		.kernel = text_is(seen->trace->domain, "kernel"),
		.time = seen->moment.kind == MOMENT_TIME ? seen->moment.time : 0,
		.traced = traced,
		.moment = number_of_moment(seen, traced),
		.pid = seen->facts.pid,
		.tid = seen->facts.tid,
		.host = seen->trace->host,
		.program = seen->facts.program,
	};
	struct event_record record;

	foreign->fields.size = 0;
	half.is_cut = !event_record_open(&record, foreign->record.data, foreign->record.size) ||
		      !pair_fields_put(&foreign->fields, &record) || foreign->fields.size > PAIR_FIELDS_MAX;
	if (!half.is_cut)
		half.fields =
			(struct text){(const char *)foreign->fields.data, (uint32_t)foreign->fields.size};
	/* each processor has a thread 0 of its own, in which it is idle, and takes interrupts */
	if (half.kernel && half.tid.known && !half.tid.value && seen->facts.cpu.known)
		half.tid.value = -2 - seen->facts.cpu.value;
	if (foreign->record.size)
		half.space = pair_fields_context(&record, "pid_ns");
	return half;
}

static struct text text_of(const char *string)
{
	return (struct text){string ? string : "", string ? (uint32_t)strlen(string) : 0};
}

/* Returns the event's row, if it goes nowhere else: that of a span, if one of its halves is in a span. */
static enum ledger_row take_halves(struct foreign *foreign, const struct event_seen *seen,
	const struct event *event, int64_t traced, int64_t now)
{
	struct pair_event half = half_of(foreign, seen, traced);
	enum ledger_row row = EVENTS_IGNORED;

	half.has_user = event->has_user;
	half.user = event->user;
	for (guint i = 0; i < seen->plan->halves->len; i++) {
		const struct pair_half *is = seen->plan->halves->pdata[i];
		enum ledger_row one;

		half.exits = is->exits;
		half.exit = is->number;
		half.number = is->pair_number;
		half.pair = text_of(is->pair);
		half.name = text_of(is->name);
		one = pipeline_pair(foreign->pipeline, &half, now);
		row = row == EVENTS_IN_SPANS ? row : one;
	}
	return row;
}

/* One that is too large is empty, so that each output counts it as such. */
static void take(struct foreign *foreign, const struct event_seen *seen, const struct event *event,
	int64_t traced, bool wanted, int64_t now)
{
	int64_t wall = clock_wall(), time = seen->moment.kind == MOMENT_TIME ? seen->moment.time : wall;
	enum ledger_row row = EVENTS_IGNORED;

	foreign->record.size = 0;
	event_pack(&foreign->record, seen, wall);
	if (seen->plan->halves)
		row = take_halves(foreign, seen, event, traced, now);
	if (wanted)
		pipeline_foreign(foreign->pipeline, &foreign->record, time, now);
	else
		pipeline_paired(foreign->pipeline, row, time, now);
}

bool foreign_take(struct foreign *foreign, const bt_message *message, const struct event *whose,
	struct clock_steps *steps, int64_t now)
{
	bool wanted = pipeline_wants_events(foreign->pipeline);
	const bt_event *event = bt_message_event_borrow_event_const(message);
	struct event_seen seen = {0};
	int64_t traced;

	if (!wanted && !pipeline_pairing(foreign->pipeline))
		return false;
	seen.plan = find_plan(foreign, event);
	wanted = wanted && seen.plan->wanted;
	if (!wanted && !seen.plan->halves)
		return false;
	seen.trace = find_trace(foreign, event);
	traced = see(&seen, message, event, steps);
	take(foreign, &seen, whose, traced, wanted, now);
	return true;
}
