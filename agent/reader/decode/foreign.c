/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/foreign.h"

#include "base/clock.h"
#include "reader/decode/eventpack.h"

struct foreign {
	struct pipeline *pipeline;
	char *const *patterns;
	GHashTable *plans;               /* by event class */
	GHashTable *traces;              /* struct trace_facts, by trace */
	const struct event_plan *plan;   /* events of one class come in runs, */
	const struct trace_facts *trace; /* and of one trace, too */
	struct buffer record;            /* of the event at hand */
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
	g_free(foreign);
}

static const struct event_plan *find_plan(struct foreign *foreign, const bt_event *event)
{
	const bt_event_class *event_class = bt_event_borrow_class_const(event);
	struct event_plan *plan;

	if (foreign->plan && foreign->plan->event_class == event_class)
		return foreign->plan;
	plan = g_hash_table_lookup(foreign->plans, event_class);
	if (!plan) {
		plan = event_plan_create(event_class, foreign->patterns);
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

static void see(struct event_seen *seen, const bt_message *message, const bt_event *event,
	const struct clock_steps *steps)
{
	see_scopes(seen, event);
	seen->facts = event_facts_of(seen->plan, seen->trace, seen->scopes);
	seen->moment = moment_of(seen->plan, message);
	if (steps && seen->moment.kind == MOMENT_TIME)
		seen->moment.time = clock_steps_time(steps, (int64_t)seen->moment.cycles, seen->moment.time);
}

/* One that is too large is empty, so that each output counts it as such. */
static void take(struct foreign *foreign, const struct event_seen *seen, int64_t now)
{
	int64_t wall = clock_wall();

	foreign->record.size = 0;
	event_pack(&foreign->record, seen, wall);
	pipeline_foreign(foreign->pipeline, &foreign->record,
		seen->moment.kind == MOMENT_TIME ? seen->moment.time : wall, now);
}

bool foreign_take(
	struct foreign *foreign, const bt_message *message, const struct clock_steps *steps, int64_t now)
{
	bool wanted = pipeline_wants_events(foreign->pipeline);
	const bt_event *event = bt_message_event_borrow_event_const(message);
	struct event_seen seen = {0};

	if (wanted)
		seen.plan = find_plan(foreign, event);
	if (!wanted || !seen.plan->wanted)
		return false;
	seen.trace = find_trace(foreign, event);
	see(&seen, message, event, steps);
	take(foreign, &seen, now);
	return true;
}
