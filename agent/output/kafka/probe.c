/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe of Kafka: one message to the topic. */
#include "output/uplink/probe.h"
#include "output/kafka/inner.h"

#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "output/kafka/items.h"
#include "output/kafka/producer.h"
#include "output/uplink/payloads.h"
#include "queue/bytrace.h"

struct kafkaprobe {
	struct probe
		probe; /* with a deadline, as some brokers make librdkafka forget a message, and its own */
	const struct uplink_options *options;
	struct producer *producer; /* NULL: it cannot be had */
	struct event *begun;       /* what is wrong at once is said from the loop, too */
	struct event_base *base;
};

static void on_ended(void *cargo, const struct message_end *message, void *data)
{
	(void)cargo;
	probe_end(data,
		message->result == MESSAGE_KEPT      ? PROBE_ACCEPTED
		: message->result == MESSAGE_REFUSED ? PROBE_REFUSED
						     : PROBE_FAILED,
		message->fault, message->words);
}

static void put_spans(
	const struct kafkaprobe *probe, enum batch_format format, struct buffer *bytes, char key[BYTRACE_KEY])
{
	struct payload *payload = payload_create(format, false);
	const struct run *run = probe->probe.run;

	payload_append(payload, run, bytes);
	bytrace_key((uint8_t)format, run->spans, run->size, key);
	payload->destroy(payload);
}

static void send_message(struct kafkaprobe *probe)
{
	const struct output_config *is = probe->options->is;
	const enum kind kind = probe->options->kind;
	const enum batch_format format = uplink_format(is, kind);
	struct kafkaitem item = {{0}};
	struct message_end failed;

	if (settings_single(kind)) {
		kafkaitem_single(&item, format, probe->probe.run, !settings_topic(is, kind));
	} else {
		put_spans(probe, format, &item.bytes, item.key);
		item.label.key = settings_keyed(is, kind) ? item.key : NULL;
		item.label.key_size = strlen(item.key);
	}
	if (!producer_send(probe->producer, &item.label, &item.bytes, NULL, &failed))
		on_ended(NULL, &failed, probe);
}

static void on_answered(enum fault fault, const char *why, void *data)
{
	/* the brokers may be about to make the topic: then a message waits for it */
	if (fault == FAULT_NONE || fault == FAULT_TOPIC)
		send_message(data);
	else
		probe_end(data, PROBE_FAILED, fault, why);
}

static void on_cut_off(enum fault fault, const char *why, void *data)
{
	probe_end(data, PROBE_FAILED, fault, why);
}

static void on_broken(const char *why, void *data)
{
	probe_end(data, PROBE_FAILED, FAULT_UNFIT, why);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct kafkaprobe *probe = data;
	char why[64];

	(void)fd;
	(void)what;
	snprintf(why, sizeof(why), "no answer within %.0f s",
		(double)(clock_monotonic() - probe->probe.started) / 1e9);
	probe_end(&probe->probe, PROBE_FAILED, FAULT_NO_ANSWER, why);
}

static void on_begun(evutil_socket_t fd, short what, void *data)
{
	struct kafkaprobe *probe = data;
	const struct producer_handler handler = {on_ended, on_answered, on_cut_off, on_broken, probe};
	struct kafka_why why;

	(void)fd;
	(void)what;
	probe->producer =
		producer_create(probe->base, probe->options->is, probe->options->kind, &handler, &why);
	if (probe->producer)
		producer_ask(probe->producer);
	else
		probe_end(&probe->probe, PROBE_FAILED, why.fault, why.words);
}

static void destroy(struct probe *owned)
{
	struct kafkaprobe *probe = (struct kafkaprobe *)owned;

	if (probe->producer)
		producer_destroy(probe->producer);
	event_free(probe->begun);
	free(probe);
}

size_t kafkaprobe_begin(struct event_base *base, const struct uplink_options *options, const struct run *run,
	struct probe *probes[ADDRESSES_MAX])
{
	struct kafkaprobe *probe = memory_get(sizeof(*probe));

	probe->probe.destroy = destroy;
	/* one for the question about the topic, one for the message */
	probe_init(&probe->probe, base, run, 2 * options->is->timeout + NS_PER_SECOND, on_deadline);
	probe->base = base;
	probe->options = options;
	probe->probe.result.server = options->is->brokers;
	probe->begun = evtimer_new(base, on_begun, probe);
	if (!probe->begun)
		g_error("out of memory");
	event_active(probe->begun, EV_TIMEOUT, 1);
	probes[0] = &probe->probe;
	return 1;
}
