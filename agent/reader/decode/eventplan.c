/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/eventplan.h"

#include <string.h>

#include <fnmatch.h>

#include "reader/decode/fieldplan.h"

#define LEVEL(name, severity)                                                                                \
	{                                                                                                    \
		{name, sizeof(name) - 1}, severity                                                           \
	}

/* By bt_event_class_log_level. OTLP's numbers are those of its data model's appendix for syslog. */
static const struct event_level levels[] = {
	LEVEL("emerg", 21),
	LEVEL("alert", 19),
	LEVEL("crit", 18),
	LEVEL("err", 17),
	LEVEL("warning", 13),
	LEVEL("notice", 10),
	LEVEL("info", 9),
	LEVEL("debug_system", 5),
	LEVEL("debug_program", 5),
	LEVEL("debug_process", 5),
	LEVEL("debug_module", 5),
	LEVEL("debug_unit", 5),
	LEVEL("debug_function", 5),
	LEVEL("debug_line", 5),
	LEVEL("debug", 5),
};

static struct event_level level_of(const bt_event_class *event_class)
{
	bt_event_class_log_level level;

	if (bt_event_class_get_log_level(event_class, &level) != BT_PROPERTY_AVAILABILITY_AVAILABLE ||
		(size_t)level >= G_N_ELEMENTS(levels))
		return (struct event_level){0};
	return levels[level];
}

static bool is_wanted(const char *name, char *const *patterns)
{
	if (!patterns)
		return true;
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, name ? name : "", 0) == 0)
			return true;
	return false;
}

/* Facts: what LTTng's contexts say about who logged the event. */

static bool is_number(const struct field_plan *plan)
{
	return plan->kind == FIELD_UNSIGNED || plan->kind == FIELD_SIGNED;
}

/* The first of the names that is there, in any of the scopes; @text: a string, or else a number. */
static struct fact_source find_fact(const struct event_plan *plan, enum event_scope first,
	enum event_scope last, const char *const *names, bool text)
{
	for (; *names; names++)
		for (enum event_scope scope = first; scope <= last; scope++)
			for (uint32_t i = 0; i < plan->scope[scope].plan.count; i++) {
				const struct field_plan *part = &plan->scope[scope].plan.parts[i];

				if (strcmp(part->name.data, *names) == 0 &&
					(text ? part->kind == FIELD_STRING : is_number(part)))
					return (struct fact_source){true, scope, i, part};
			}
	return (struct fact_source){0};
}

/* In a container, the numbers with a v are those within it: the others say more. */
static void find_facts(struct event_plan *plan)
{
	static const char *const cpu[] = {"cpu_id", NULL}, *const pid[] = {"pid", "vpid", NULL},
				 *const tid[] = {"tid", "vtid", NULL}, *const user[] = {"uid", "vuid", NULL},
				 *const program[] = {"procname", NULL};

	plan->cpu = find_fact(plan, SCOPE_PACKET, SCOPE_PACKET, cpu, false);
	plan->pid = find_fact(plan, SCOPE_COMMON, SCOPE_SPECIFIC, pid, false);
	plan->tid = find_fact(plan, SCOPE_COMMON, SCOPE_SPECIFIC, tid, false);
	plan->user = find_fact(plan, SCOPE_COMMON, SCOPE_SPECIFIC, user, false);
	plan->program = find_fact(plan, SCOPE_COMMON, SCOPE_SPECIFIC, program, true);
}

static void make_scopes(struct event_plan *plan, const bt_stream_class *stream_class)
{
	const bt_field_class *of[EVENT_SCOPES] = {
		[SCOPE_PACKET] = bt_stream_class_borrow_packet_context_field_class_const(stream_class),
		[SCOPE_COMMON] = bt_stream_class_borrow_event_common_context_field_class_const(stream_class),
		[SCOPE_SPECIFIC] =
			bt_event_class_borrow_specific_context_field_class_const(plan->event_class),
		[SCOPE_PAYLOAD] = bt_event_class_borrow_payload_field_class_const(plan->event_class),
	};
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++) {
		if (scope != SCOPE_SPECIFIC) /* it is written into the same object as the common context */
			g_hash_table_remove_all(names);
		plan->scope[scope].exists = of[scope] != NULL;
		plan->scope[scope].plan = field_plan_scope(plan->texts, of[scope], names);
	}
	g_hash_table_unref(names);
}

/* Those of programs that are recorded for pairs only are not wanted otherwise. */
static void find_halves(struct event_plan *plan, const char *name, const struct pairing *pairing, bool kernel)
{
	plan->halves = pair_rules_match(&pairing->rules, name, kernel);
	if (plan->halves && !kernel && pairing->names)
		plan->wanted = plan->wanted && is_wanted(name, pairing->names);
}

static uint64_t number_of_clock(const bt_clock_class *clock)
{
	bt_uuid uuid = clock ? bt_clock_class_get_uuid(clock) : NULL;
	uint64_t halves[2] = {0, 0};

	if (uuid)
		memcpy(halves, uuid, sizeof(halves));
	return halves[0] ^ halves[1];
}

struct event_plan *event_plan_create(
	const bt_event_class *event_class, char *const *patterns, const struct pairing *pairing, bool kernel)
{
	struct event_plan *plan = g_new0(struct event_plan, 1);
	const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(stream_class);
	const char *name = bt_event_class_get_name(event_class);

	bt_event_class_get_ref(event_class);
	plan->event_class = event_class;
	plan->id = bt_event_class_get_id(event_class);
	plan->texts = g_string_chunk_new(256);
	plan->wanted = is_wanted(name, patterns);
	if (pairing && name)
		find_halves(plan, name, pairing, kernel);
	if (!plan->wanted && !plan->halves)
		return plan;
	plan->has_clock = clock != NULL;
	plan->from_epoch = clock && bt_clock_class_origin_is_unix_epoch(clock);
	plan->clock = number_of_clock(clock);
	if (name)
		plan->name = field_plan_text(plan->texts, name);
	plan->level = level_of(event_class);
	make_scopes(plan, stream_class);
	find_facts(plan);
	return plan;
}

void event_plan_destroy(struct event_plan *plan)
{
	for (enum event_scope scope = 0; scope < EVENT_SCOPES; scope++)
		field_plan_free(&plan->scope[scope].plan);
	g_clear_pointer(&plan->halves, g_ptr_array_unref);
	g_string_chunk_free(plan->texts);
	bt_event_class_put_ref(plan->event_class);
	g_free(plan);
}

const bt_field *event_scope_field(const bt_event *event, enum event_scope scope)
{
	const bt_packet *packet;

	switch (scope) {
	case SCOPE_PACKET:
		packet = bt_stream_class_supports_packets(
				 bt_stream_borrow_class_const(bt_event_borrow_stream_const(event)))
				 ? bt_event_borrow_packet_const(event)
				 : NULL;
		return packet ? bt_packet_borrow_context_field_const(packet) : NULL;
	case SCOPE_COMMON:
		return bt_event_borrow_common_context_field_const(event);
	case SCOPE_SPECIFIC:
		return bt_event_borrow_specific_context_field_const(event);
	default:
		return bt_event_borrow_payload_field_const(event);
	}
}
