/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/eventfacts.h"

#include <string.h>

#include "reader/decode/fieldplan.h"

struct moment moment_of(const struct event_plan *plan, const bt_message *message)
{
	const bt_clock_snapshot *clock;
	struct moment moment = {MOMENT_CYCLES};

	if (!plan->has_clock)
		return (struct moment){MOMENT_NONE};
	clock = bt_message_event_borrow_default_clock_snapshot_const(message);
	moment.cycles = bt_clock_snapshot_get_value(clock);
	if (!plan->from_epoch)
		return moment;
	if (bt_clock_snapshot_get_ns_from_origin(clock, &moment.time) ==
		BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK)
		moment.kind = MOMENT_TIME;
	else
		bt_current_thread_clear_error();
	return moment;
}

/* Traces */

static const bt_value *entry_of(const bt_trace *trace, const char *name)
{
	return bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
}

static struct text text_entry(const struct trace_facts *facts, const char *name)
{
	const bt_value *value = entry_of(facts->trace, name);

	if (!value || !bt_value_is_string(value))
		return (struct text){"", 0};
	return field_plan_text(facts->texts, bt_value_string_get(value));
}

static struct known_number number_entry(const struct trace_facts *facts, const char *name)
{
	const bt_value *value = entry_of(facts->trace, name);

	if (!value || !bt_value_is_signed_integer(value))
		return (struct known_number){0};
	return (struct known_number){true, bt_value_integer_signed_get(value)};
}

/* LTTng gives a user's programs buffers of their own, and tells whose they are. */
static struct known_number user_entry(const struct trace_facts *facts)
{
	struct text scheme = text_entry(facts, "tracer_buffering_scheme");

	return strcmp(scheme.data, "uid") == 0 ? number_entry(facts, "tracer_buffering_id")
					       : (struct known_number){0};
}

struct trace_facts *trace_facts_create(const bt_trace *trace)
{
	struct trace_facts *facts = g_new0(struct trace_facts, 1);

	bt_trace_get_ref(trace);
	facts->trace = trace;
	facts->texts = g_string_chunk_new(256);
	facts->host = text_entry(facts, "hostname");
	facts->domain = text_entry(facts, "domain");
	facts->program = text_entry(facts, "procname");
	facts->pid = number_entry(facts, "vpid");
	facts->user = user_entry(facts);
	return facts;
}

void trace_facts_destroy(struct trace_facts *facts)
{
	g_string_chunk_free(facts->texts);
	bt_trace_put_ref(facts->trace);
	g_free(facts);
}

/* Events */

static const bt_field *field_of(const struct fact_source *source, const bt_field *const scopes[EVENT_SCOPES])
{
	const bt_field *scope = source->known ? scopes[source->scope] : NULL;

	return scope ? bt_field_structure_borrow_member_field_by_index_const(scope, source->index) : NULL;
}

static struct known_number number_of(const struct fact_source *source,
	const bt_field *const scopes[EVENT_SCOPES], struct known_number otherwise)
{
	const bt_field *field = field_of(source, scopes);
	uint64_t value;

	if (!field)
		return otherwise;
	if (source->plan->kind == FIELD_SIGNED)
		return (struct known_number){true, bt_field_integer_signed_get_value(field)};
	value = bt_field_integer_unsigned_get_value(field);
	return (struct known_number){value <= INT64_MAX, (int64_t)value};
}

struct event_facts event_facts_of(const struct event_plan *plan, const struct trace_facts *trace,
	const bt_field *const scopes[EVENT_SCOPES])
{
	static const struct known_number none;
	const bt_field *program = field_of(&plan->program, scopes);
	struct event_facts facts = {
		.cpu = number_of(&plan->cpu, scopes, none),
		.pid = number_of(&plan->pid, scopes, trace->pid),
		.tid = number_of(&plan->tid, scopes, none),
		.user = number_of(&plan->user, scopes, trace->user),
		.program = trace->program,
	};

	if (program)
		facts.program = (struct text){
			bt_field_string_get_value(program), (uint32_t)bt_field_string_get_length(program)};
	return facts;
}
