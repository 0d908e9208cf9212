/* SPDX-License-Identifier: BSD-2-Clause */
#include "eventrig.h"

#include <string.h>

#include "queue/encoding.h"

/* What an output of that format makes of it. */
static void keep(struct buffer *out, const struct batch *events, enum batch_format format)
{
	struct batch *encoded = encode_batch(events, format, NULL);

	out->size = 0;
	buffer_put(out, encoded->spans.data, encoded->spans.size);
	batch_unref(encoded);
}

static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct event_rig *rig = data;

	(void)now;
	(void)at_once;
	rig->events += (int)change->row[EVENTS_AS_JSON];
	memset(change, 0, sizeof(*change));
	if (!items_count(&made->events))
		return;
	keep(&rig->json, made->events.batch, BATCH_EVENT_JSON);
	keep(&rig->otlp, made->events.batch, BATCH_EVENT_OTLP);
}

static void take(void *data, const bt_message *message)
{
	struct event_rig *rig = data;

	if (!foreign_take(rig->foreign, message, &(struct event){0}, NULL, 1))
		g_error("an event is not taken");
	pipeline_post(rig->pipeline);
}

void event_rig_begin(struct event_rig *rig)
{
	struct assembler_limits limits = {.linger_ns = 1, .grace_ns = 1, .max_bytes = 1 << 20};

	*rig = (struct event_rig){.maker = {.take = take, .user = rig}};
	rig->pipeline = pipeline_create(&limits, true, (struct pipeline_sink){.hand = hand, .data = rig});
}

/* Classes are not met again: their plans would only take memory. */
void event_rig_run(struct event_rig *rig, const uint8_t *data, size_t size)
{
	rig->foreign = foreign_create(rig->pipeline, NULL);
	event_maker_run(&rig->maker, data, size);
	foreign_destroy(rig->foreign);
}

void event_rig_end(struct event_rig *rig)
{
	event_maker_free(&rig->maker);
	pipeline_destroy(rig->pipeline);
	buffer_free(&rig->json);
	buffer_free(&rig->otlp);
}
