/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registers events of provider `blkin` that it never logs, then waits.
 *
 *     registrar names|layouts COUNT FIELDS
 *
 * names: blkin:x0, blkin:x1 and so on. layouts: all of them are called blkin:span, each with other fields.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lttng/tracepoint.h>
#include <lttng/ust-events.h>

static const struct lttng_ust_type_integer integer = {
	.parent = {.type = lttng_ust_type_integer},
	.struct_size = sizeof(integer),
	.size = 64,
	.alignment = 8,
	.base = 10,
};

static void *get(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		exit(70);
	return memory;
}

static char *name(const char *prefix, unsigned number, unsigned field)
{
	char *text = get(48);

	snprintf(text, 48, "%s%u_%u", prefix, number, field);
	return text;
}

static void never(void)
{
}

static const struct lttng_ust_tracepoint_class *make_class(
	const struct lttng_ust_probe_desc *probe, unsigned number, unsigned count)
{
	struct lttng_ust_tracepoint_class *made = get(sizeof(*made));
	const struct lttng_ust_event_field **fields = get(count * sizeof(*fields));

	for (unsigned i = 0; i < count; i++) {
		struct lttng_ust_event_field *field = get(sizeof(*field));

		field->struct_size = sizeof(*field);
		field->name = name("a_field_of_", number, i);
		field->type = &integer.parent;
		fields[i] = field;
	}
	made->struct_size = sizeof(*made);
	made->fields = fields;
	made->nr_fields = count;
	made->probe_callback = never;
	made->signature = "int, number";
	made->probe_desc = probe;
	return made;
}

int main(int argc, char **argv)
{
	static const int level = 6, *const level_at = &level;
	static const char *model = "";
	unsigned count = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	const struct lttng_ust_event_desc **events = get((count + 1) * sizeof(*events));
	struct lttng_ust_probe_desc probe = {
		.struct_size = sizeof(probe),
		.provider_name = "blkin",
		.event_desc = events,
		.nr_events = count,
		.major = LTTNG_UST_PROVIDER_MAJOR,
		.minor = LTTNG_UST_PROVIDER_MINOR,
	};

	if (!count)
		return 64;
	for (unsigned i = 0; i < count; i++) {
		struct lttng_ust_event_desc *event = get(sizeof(*event));

		event->struct_size = sizeof(*event);
		event->event_name = strcmp(argv[1], "names") == 0 ? name("x", i, 0) : "span";
		event->probe_desc = &probe;
		event->tp_class = make_class(&probe, i, (unsigned)atoi(argv[3]));
		event->loglevel = (const int **)&level_at;
		event->model_emf_uri = &model;
		events[i] = event;
	}
	if (!lttng_ust_probe_register(&probe))
		return 70;
	puts("registered");
	fflush(stdout);
	for (;;)
		pause();
}
