/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/decoder.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <glib.h>

#include "reader/assemble/spanfirst.h"

enum field_type {
	NUMBER, /* into a 64-bit integer, signed or not */
	STRING  /* into a struct text */
};

/* What an event of a type is made of: the fields' names in the trace, and where they go. */
struct field {
	const char *name;
	enum field_type type;
	size_t offset;
};

#define MAX_FIELDS 9
#define FIELD(name, type, member)                                                                            \
	{                                                                                                    \
		name, type, offsetof(struct event, member)                                                   \
	}

#define CLASSIC_FIELDS                                                                                       \
	FIELD("trace_name", STRING, name), FIELD("service_name", STRING, service),                           \
		FIELD("port_no", NUMBER, port), FIELD("ip", STRING, ip),                                     \
		FIELD("trace_id", NUMBER, trace_id), FIELD("span_id", NUMBER, span_id),                      \
		FIELD("parent_span_id", NUMBER, parent_id)

#define SPAN_FIELDS                                                                                          \
	FIELD("trace_id", NUMBER, trace_id), FIELD("span_id", NUMBER, span_id),                              \
		FIELD("parent_id", NUMBER, parent_id), FIELD("name", STRING, name)

static const struct layout {
	const char *event;
	enum event_type type;
	bool exact; /* it has no field but these; of classic events there are several layouts */
	struct field field[MAX_FIELDS + 1]; /* ends with a name of NULL */
} layouts[] = {
	{"blkin:span2", EVENT_SPAN, true, {FIELD("text", STRING, value)}},
	{"blkin:span2", EVENT_SPAN, true,
		{FIELD("text", STRING, value), FIELD("_text_length", NUMBER, number)}},
	{"blkin:span", EVENT_SPAN, true,
		{SPAN_FIELDS, FIELD("start", NUMBER, start), FIELD("data", STRING, value)}},
	{"blkin:annotation", EVENT_ANNOTATION, true,
		{SPAN_FIELDS, FIELD("head", STRING, head), FIELD("time", NUMBER, piece_time),
			FIELD("value", STRING, value)}},
	{"blkin:tag", EVENT_TAG, true,
		{SPAN_FIELDS, FIELD("head", STRING, head), FIELD("key", STRING, key),
			FIELD("value", STRING, value)}},
	{"blkin:timestamp", EVENT_TIMESTAMP, true, {CLASSIC_FIELDS, FIELD("event", STRING, value)}},
	{"blkin:keyval_string", EVENT_KEYVAL, true,
		{CLASSIC_FIELDS, FIELD("key", STRING, key), FIELD("val", STRING, value)}},
	{"blkin:keyval_integer", EVENT_KEYVAL_INTEGER, true,
		{CLASSIC_FIELDS, FIELD("key", STRING, key), FIELD("val", NUMBER, number)}},
	{"zipkin:timestamp", EVENT_TIMESTAMP, false, {CLASSIC_FIELDS, FIELD("event", STRING, value)}},
	{"zipkin:keyval_string", EVENT_KEYVAL, false,
		{CLASSIC_FIELDS, FIELD("key", STRING, key), FIELD("val", STRING, value)}},
	{"zipkin:keyval", EVENT_KEYVAL, false,
		{CLASSIC_FIELDS, FIELD("key", STRING, key), FIELD("val", STRING, value)}},
	{"zipkin:keyval_integer", EVENT_KEYVAL_INTEGER, false,
		{CLASSIC_FIELDS, FIELD("key", STRING, key), FIELD("val", NUMBER, number)}},
	{"blkin_canary:beat", EVENT_CANARY, true, {FIELD("number", NUMBER, number)}},
};

enum how { READ_UNSIGNED, READ_SIGNED, READ_STRING, READ_WAYS };

/* How to read the events of one event class. */
struct plan {
	const bt_event_class *event_class; /* owned: so that no other class gets its address */
	enum event_type type;
	bool first_line; /* ids and name are in the value */
	unsigned level;
	int64_t origin; /* what the tracing clock's 0 is, ns since the epoch */
	unsigned fields[READ_WAYS];
	struct step {
		uint64_t index; /* in the payload */
		size_t offset;  /* in struct event */
	} step[READ_WAYS][MAX_FIELDS];
};

struct event_decoder {
	GHashTable *plans;       /* by event class */
	const struct plan *last; /* events of one class come in runs */
	struct event event;      /* the last one's; fields that its class does not have are 0 */
};

static void plan_destroy(void *data)
{
	struct plan *plan = data;

	bt_event_class_put_ref(plan->event_class);
	g_free(plan);
}

struct event_decoder *event_decoder_create(void)
{
	struct event_decoder *decoder = g_new0(struct event_decoder, 1);

	decoder->plans = g_hash_table_new_full(NULL, NULL, NULL, plan_destroy);
	return decoder;
}

void event_decoder_destroy(struct event_decoder *decoder)
{
	g_hash_table_destroy(decoder->plans);
	g_free(decoder);
}

/* READ_WAYS: in no way that is known here. */
static enum how how_to_read(const bt_field_class *field_class)
{
	bt_field_class_type type = bt_field_class_get_type(field_class);

	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return READ_STRING;
	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return READ_UNSIGNED;
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER) ? READ_SIGNED : READ_WAYS;
}

/* Finds the field in the payload; returns false if it is not there, or not of its type. */
static bool plan_step(struct plan *plan, const bt_field_class *payload, const struct field *field)
{
	uint64_t count = bt_field_class_structure_get_member_count(payload);

	for (uint64_t i = 0; i < count; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);
		enum how how;

		if (strcmp(bt_field_class_structure_member_get_name(member), field->name) != 0)
			continue;
		how = how_to_read(bt_field_class_structure_member_borrow_field_class_const(member));
		if (how == READ_WAYS || (how == READ_STRING) != (field->type == STRING))
			return false;
		plan->step[how][plan->fields[how]++] = (struct step){i, field->offset};
		return true;
	}
	return false;
}

/* Our times are nanoseconds of the tracing clock: a trace with another clock says nothing about them. */
static bool plan_clock(struct plan *plan, const bt_event_class *event_class)
{
	const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(stream_class);

	if (!clock || bt_clock_class_get_frequency(clock) != 1000000000)
		return false;
	if (bt_clock_class_cycles_to_ns_from_origin(clock, 0, &plan->origin) ==
		BT_CLOCK_CLASS_CYCLES_TO_NS_FROM_ORIGIN_STATUS_OK)
		return true;
	bt_current_thread_clear_error(); /* with it, the next call would end the process */
	return false;
}

static uint64_t field_count(const struct layout *layout)
{
	uint64_t count = 0;

	while (layout->field[count].name)
		count++;
	return count;
}

static enum event_type plan_fields(struct plan *plan, const struct layout *layout)
{
	const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(plan->event_class);

	if (!payload || !plan_clock(plan, plan->event_class))
		return EVENT_MALFORMED;
	if (layout->exact && bt_field_class_structure_get_member_count(payload) != field_count(layout))
		return EVENT_MALFORMED;
	for (const struct field *field = layout->field; field->name; field++)
		if (!plan_step(plan, payload, field))
			return EVENT_MALFORMED;
	plan->first_line = !strcmp(layout->event, "blkin:span2");
	return layout->type;
}

/* Whether it is this one: of one name there may be several. */
static bool try_layout(struct plan *plan, const struct layout *layout)
{
	memset(plan->fields, 0, sizeof(plan->fields));
	plan->type = plan_fields(plan, layout);
	return plan->type != EVENT_MALFORMED;
}

/* blkin:span2_LEVEL is laid out as blkin:span2, which has the level info, and blkin:span_LEVEL as blkin:span;
 * gives the level, and the layout's name. */
static const char *layout_name(const char *name, unsigned *level)
{
	static const char *const spans[] = {"blkin:span2", "blkin:span"};

	*level = EVENT_LEVEL_INFO;
	for (size_t k = 0; name && k < G_N_ELEMENTS(spans); k++) {
		size_t size = strlen(spans[k]);

		if (strncmp(name, spans[k], size) != 0 || name[size] != '_')
			continue;
		for (unsigned i = 0; i < EVENT_LEVELS; i++) {
			if (i != EVENT_LEVEL_INFO && !strcmp(name + size + 1, event_level_names[i])) {
				*level = i;
				return spans[k];
			}
		}
	}
	return name;
}

static struct plan *plan_create(const bt_event_class *event_class)
{
	struct plan *plan = g_new0(struct plan, 1);
	const char *name = layout_name(bt_event_class_get_name(event_class), &plan->level);

	bt_event_class_get_ref(event_class);
	plan->event_class = event_class;
	plan->type = EVENT_FOREIGN;
	for (size_t i = 0; name && i < G_N_ELEMENTS(layouts); i++)
		if (!strcmp(name, layouts[i].event) && try_layout(plan, &layouts[i]))
			break;
	return plan;
}

static const struct plan *find_plan(struct event_decoder *decoder, const bt_event_class *event_class)
{
	struct plan *plan;

	if (decoder->last && decoder->last->event_class == event_class)
		return decoder->last;
	plan = g_hash_table_lookup(decoder->plans, event_class);
	if (!plan) {
		plan = plan_create(event_class);
		g_hash_table_insert(decoder->plans, (gpointer)(uintptr_t)event_class, plan);
	}
	decoder->last = plan;
	decoder->event = (struct event){.level = plan->level};
	return plan;
}

static void read_fields(const struct plan *plan, const bt_field *payload, struct event *event)
{
	char *to = (char *)event;

	for (unsigned i = 0; i < plan->fields[READ_UNSIGNED]; i++) {
		const struct step *step = &plan->step[READ_UNSIGNED][i];

		*(uint64_t *)(to + step->offset) = bt_field_integer_unsigned_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, step->index));
	}
	for (unsigned i = 0; i < plan->fields[READ_SIGNED]; i++) {
		const struct step *step = &plan->step[READ_SIGNED][i];

		*(int64_t *)(to + step->offset) = bt_field_integer_signed_get_value(
			bt_field_structure_borrow_member_field_by_index_const(payload, step->index));
	}
	for (unsigned i = 0; i < plan->fields[READ_STRING]; i++) {
		const struct step *step = &plan->step[READ_STRING][i];
		const bt_field *field =
			bt_field_structure_borrow_member_field_by_index_const(payload, step->index);

		*(struct text *)(to + step->offset) = (struct text){
			bt_field_string_get_value(field), (uint32_t)bt_field_string_get_length(field)};
	}
}

struct event *event_decode(struct event_decoder *decoder, const bt_message *message)
{
	const bt_event *source = bt_message_event_borrow_event_const(message);
	const struct plan *plan = find_plan(decoder, bt_event_borrow_class_const(source));
	struct event *event = &decoder->event;

	event->type = plan->type;
	if (plan->type == EVENT_FOREIGN || plan->type == EVENT_MALFORMED)
		return event;
	event->clock =
		bt_clock_snapshot_get_value(bt_message_event_borrow_default_clock_snapshot_const(message));
	if (__builtin_add_overflow(plan->origin, event->clock, &event->time)) {
		event->type = EVENT_MALFORMED;
		return event;
	}
	read_fields(plan, bt_event_borrow_payload_field_const(source), event);
	if (plan->first_line && !span_first_read(event))
		event->type = EVENT_MALFORMED;
	return event;
}
