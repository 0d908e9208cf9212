/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/kernelevent.h"

#include "core/eventrecord.h"

/* What is needed of an event is a few numbers and texts, by their names. */

static int64_t number_of(enum field_kind kind, struct event_cursor *from)
{
	uint64_t number;

	if (kind == FIELD_SIGNED || kind == FIELD_SIGNED_ENUM)
		return event_take_signed(from);
	number = event_take_unsigned(from);
	return number > INT64_MAX ? KERNEL_UNKNOWN : (int64_t)number;
}

static void skip_value(struct event_cursor *from, enum field_kind kind);

static void skip_whole(struct event_cursor *from, enum field_kind kind)
{
	uint64_t count;

	if (!event_enter(from))
		return;
	count = kind == FIELD_VARIANT ? 1 : event_take_count(from);
	for (; count && !from->failed; count--) {
		if (kind != FIELD_ARRAY)
			event_take_text(from);
		skip_value(from, event_take_kind(from));
	}
	event_leave(from);
}

static void skip_labels(struct event_cursor *from)
{
	for (uint64_t count = event_take_count(from); count && !from->failed; count--)
		event_take_text(from);
}

static void skip_value(struct event_cursor *from, enum field_kind kind)
{
	switch (kind) {
	case FIELD_BOOL:
		event_take_bool(from);
		break;
	case FIELD_BITS:
	case FIELD_UNSIGNED:
	case FIELD_SIGNED:
		event_take_unsigned(from);
		break;
	case FIELD_UNSIGNED_ENUM:
	case FIELD_SIGNED_ENUM:
		event_take_unsigned(from);
		skip_labels(from);
		break;
	case FIELD_SINGLE:
	case FIELD_DOUBLE:
		event_take_real(from);
		break;
	case FIELD_STRING:
		event_take_text(from);
		break;
	case FIELD_STRUCTURE:
	case FIELD_ARRAY:
	case FIELD_VARIANT:
		skip_whole(from, kind);
		break;
	case FIELD_OPTION:
	case FIELD_CUT:
	case FIELD_KINDS:
		break;
	}
}

/* A field that is wanted: a number or a text; one of another type is left as it is. */
struct wanted {
	const char *name;
	int64_t *number;
	struct text *text;
};

static const struct wanted *find(const struct wanted *wanted, struct text name)
{
	for (; wanted->name; wanted++)
		if (text_is(name, wanted->name))
			return wanted;
	return NULL;
}

static void take_value(struct event_cursor *from, const struct wanted *wanted)
{
	enum field_kind kind = event_take_kind(from);

	if (wanted && wanted->number && kind >= FIELD_BITS && kind <= FIELD_SIGNED_ENUM) {
		*wanted->number = number_of(kind, from);
		if (kind >= FIELD_UNSIGNED_ENUM)
			skip_labels(from);
	} else if (wanted && wanted->text && kind == FIELD_STRING) {
		*wanted->text = event_take_text(from);
	} else {
		skip_value(from, kind);
	}
}

static void take_fields(
	const struct event_record *record, enum event_scope scope, const struct wanted *wanted)
{
	struct event_cursor from = record->scope[scope];

	if (!(record->scopes >> scope & 1))
		return;
	for (uint64_t count = event_take_count(&from); count && !from.failed; count--)
		take_value(&from, find(wanted, event_take_text(&from)));
}

/* Names */

static bool begins(struct text *text, const char *with)
{
	uint32_t size = (uint32_t)strlen(with);

	if (text->size < size || memcmp(text->data, with, size) != 0)
		return false;
	text->data += size;
	text->size -= size;
	return true;
}

static bool ends(struct text text, const char *with)
{
	uint32_t size = (uint32_t)strlen(with);

	return text.size >= size && !memcmp(text.data + text.size - size, with, size);
}

static const struct named {
	const char *name;
	enum kernel_kind kind;
} names[] = {
	{"sched_switch", KERNEL_SWITCH},
	{"sched_waking", KERNEL_WAKING},
	{"sched_wakeup", KERNEL_WAKEUP},
	{"sched_wakeup_new", KERNEL_WAKEUP},
	{"sched_migrate_task", KERNEL_MIGRATE},
	{"block_rq_complete", KERNEL_BLOCK_COMPLETE},
	{"block_bio_complete", KERNEL_BLOCK_COMPLETE},
	{"irq_handler_entry", KERNEL_IRQ_ENTRY},
	{"irq_handler_exit", KERNEL_IRQ_EXIT},
	{"softirq_entry", KERNEL_SOFTIRQ_ENTRY},
	{"irq_softirq_entry", KERNEL_SOFTIRQ_ENTRY},
	{"softirq_exit", KERNEL_SOFTIRQ_EXIT},
	{"irq_softirq_exit", KERNEL_SOFTIRQ_EXIT},
	{"filemap_fault_entry", KERNEL_FAULT_ENTRY},
	{"filemap_fault_exit", KERNEL_FAULT_EXIT},
	{"do_swap_page_entry", KERNEL_FAULT_ENTRY},
	{"do_swap_page_exit", KERNEL_FAULT_EXIT},
	{"timer_hrtimer_expire_entry", KERNEL_TIMER_ENTRY},
	{"timer_hrtimer_expire_exit", KERNEL_TIMER_EXIT},
};

/* Sets the kind, and a system call's name. */
static void name(struct kernel_event *event, struct text name)
{
	struct text rest = name;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (text_is(name, names[i].name))
			event->kind = names[i].kind;
	begins(&rest, "compat_");
	if (begins(&rest, "syscall_entry_"))
		event->kind = KERNEL_CALL_ENTRY;
	else if (begins(&rest, "syscall_exit_"))
		event->kind = KERNEL_CALL_EXIT;
	if (event->kind == KERNEL_CALL_ENTRY || event->kind == KERNEL_CALL_EXIT)
		event->name = rest;
	else if (ends(name, "page_fault_user") || ends(name, "page_fault_kernel"))
		event->kind = KERNEL_FAULT;
}

/* The payload; a system call's arguments have any names. */
static void take_payload(struct kernel_event *event, const struct event_record *record)
{
	const struct wanted wanted[] = {
		{"prev_tid", &event->prev, NULL},
		{"prev_state", &event->prev_state, NULL},
		{"next_tid", &event->next, NULL},
		{"next_comm", NULL, &event->next_name},
		{"tid", &event->other, NULL},
		{"target_cpu", &event->target, NULL},
		{"dest_cpu", &event->target, NULL},
		{"irq", &event->number, NULL},
		{"vec", &event->number, NULL},
		{"name", NULL, &event->name},
		{0},
	};

	if (event->kind != KERNEL_ANOTHER && event->kind != KERNEL_CALL_ENTRY &&
		event->kind != KERNEL_CALL_EXIT)
		take_fields(record, SCOPE_PAYLOAD, wanted);
}

static void take_context(struct kernel_event *event, const struct event_record *record)
{
	const struct wanted wanted[] = {
		{"pid", &event->pid, NULL},
		{"tid", &event->tid, NULL},
		{"vpid", &event->vpid, NULL},
		{"vtid", &event->vtid, NULL},
		{"procname", NULL, &event->program},
		{0},
	};

	take_fields(record, SCOPE_COMMON, wanted);
	take_fields(record, SCOPE_SPECIFIC, wanted);
}

bool kernel_event_read(struct kernel_event *event, const uint8_t *bytes, size_t size)
{
	struct event_record record;

	if (!event_record_open(&record, bytes, size) || record.head.moment.kind != MOMENT_TIME ||
		!text_is(record.head.domain, "kernel"))
		return false;
	*event = (struct kernel_event){
		.time = record.head.moment.time,
		.cpu = record.head.facts.cpu.known ? record.head.facts.cpu.value : KERNEL_UNKNOWN,
		.host = record.head.host,
		.pid = KERNEL_UNKNOWN,
		.tid = KERNEL_UNKNOWN,
		.vpid = KERNEL_UNKNOWN,
		.vtid = KERNEL_UNKNOWN,
		.prev = KERNEL_UNKNOWN,
		.next = KERNEL_UNKNOWN,
		.prev_state = KERNEL_UNKNOWN,
		.other = KERNEL_UNKNOWN,
		.target = KERNEL_UNKNOWN,
		.number = KERNEL_UNKNOWN,
	};
	if (record.head.name.data)
		name(event, record.head.name);
	take_context(event, &record);
	take_payload(event, &record);
	return true;
}
