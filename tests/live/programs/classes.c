/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Registers many events of provider `foreign`, each a class of its own in the trace's metadata: 31 numbers
 * and a sequence of BYTES bytes. It waits until they are recorded, and then records each of them, from the
 * first to the last, ROUNDS times.
 *
 *     classes COUNT BYTES ROUNDS
 *
 * Prints `registered`, and `recorded` with the number; it stays until it is ended.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "classes.h"

typedef void (*probe_call)(void *data, uint64_t number, const uint8_t *bytes, uint32_t count);

static void *get(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		exit(70);
	return memory;
}

/* The same class for all; LTTng writes its fields for each event. */
static struct lttng_ust_tracepoint **make_events(unsigned count, struct lttng_ust_probe_desc *probe)
{
	static int used;
	const struct lttng_ust_event_desc *model = &lttng_ust__event_desc___foreign_template;
	const struct lttng_ust_event_desc **events = get(count * sizeof(*events));
	struct lttng_ust_tracepoint **points = get(count * sizeof(*points));

	for (unsigned i = 0; i < count; i++) {
		struct lttng_ust_event_desc *event = get(sizeof(*event));
		char *name = get(32);

		snprintf(name, 32, "event_%u", i);
		*event = *model;
		event->event_name = name;
		event->probe_desc = probe;
		events[i] = event;
		points[i] = get(sizeof(*points[i]));
		*points[i] = (struct lttng_ust_tracepoint){
			.struct_size = sizeof(*points[i]),
			.provider_name = "foreign",
			.event_name = name,
			.tracepoint_provider_ref = &used,
			.signature = model->tp_class->signature,
		};
	}
	*probe = (struct lttng_ust_probe_desc){
		.struct_size = sizeof(*probe),
		.provider_name = "foreign",
		.event_desc = events,
		.nr_events = count,
		.major = LTTNG_UST_PROVIDER_MAJOR,
		.minor = LTTNG_UST_PROVIDER_MINOR,
	};
	return points;
}

static void record(
	const struct lttng_ust_tracepoint *point, uint64_t number, const uint8_t *bytes, uint32_t count)
{
	const struct lttng_ust_tracepoint_probe *probe = point->probes;

	if (probe && probe->func)
		((probe_call)probe->func)(probe->data, number, bytes, count);
}

int main(int argc, char **argv)
{
	static struct lttng_ust_probe_desc probe;
	unsigned count = argc == 4 ? (unsigned)atoi(argv[1]) : 0,
		 rounds = argc == 4 ? (unsigned)atoi(argv[3]) : 0;
	uint32_t size = argc == 4 ? (uint32_t)atol(argv[2]) : 0;
	uint8_t *bytes = get(size + 1);
	struct lttng_ust_tracepoint **points;
	unsigned long recorded = 0;

	if (!count)
		return 64;
	points = make_events(count, &probe);
	if (lttng_ust_tracepoint_dlopen_ptr->lttng_ust_tracepoint_module_register(points, (int)count) ||
		!lttng_ust_probe_register(&probe))
		return 70;
	puts("registered");
	fflush(stdout);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < count; i++) {
			while (!*(volatile int *)&points[i]->state)
				usleep(1000);
			record(points[i], recorded++, bytes, size);
			if (recorded % 100 == 0)
				usleep(1000);
		}
	printf("recorded %lu\n", recorded);
	fflush(stdout);
	for (;;)
		pause();
}
