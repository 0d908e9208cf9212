/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/kafkaprobe.h"

#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "kafka/producer.h"
#include "queue/bytrace.h"
#include "uplink/kafkaitems.h"

struct kafkaprobe {
	const struct uplink_options *options;
	const struct run *run;
	struct producer *producer; /* NULL: it cannot be had */
	struct event *begun;       /* what is wrong at once is said from the loop, too */
	struct event *deadline;    /* librdkafka has its own; some brokers make it forget a message */
	struct event_base *base;
	int64_t started;
	struct probe_result result;
	void (*ended)(void *data);
	void *data;
};

/* The first end counts. */
static void end(struct kafkaprobe *probe, enum probe_end how, enum fault fault, const char *words)
{
	struct probe_result *result = &probe->result;

	if (result->end != PROBE_OPEN)
		return;
	result->end = how;
	result->fault = fault;
	result->took_ns = clock_monotonic() - probe->started;
	g_strlcpy(result->words, words, sizeof(result->words));
	event_del(probe->deadline);
	probe->ended(probe->data);
}

static void on_ended(void *cargo, const struct message_end *message, void *data)
{
	(void)cargo;
	end(data,
		message->result == MESSAGE_KEPT      ? PROBE_ACCEPTED
		: message->result == MESSAGE_REFUSED ? PROBE_REFUSED
						     : PROBE_FAILED,
		message->fault, message->words);
}

static void put_spans(const struct kafkaprobe *probe, struct buffer *bytes, char key[BYTRACE_KEY])
{
	struct payload *payload = uplink_create_payload(probe->options->format, false);
	const struct run *run = probe->run;

	payload_append(payload, run, bytes);
	bytrace_key((uint8_t)probe->options->format, run->spans, run->size, key);
	payload->destroy(payload);
}

static void send_message(struct kafkaprobe *probe)
{
	const struct kafka_settings *is = &probe->options->kafka;
	struct kafkaitem item = {{0}};
	struct message_end failed;

	if (is->single) {
		kafkaitem_single(&item, probe->options->format, probe->run, !is->topic);
	} else {
		put_spans(probe, &item.bytes, item.key);
		item.label.key = is->keyed ? item.key : NULL;
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
		end(data, PROBE_FAILED, fault, why);
}

static void on_cut_off(enum fault fault, const char *why, void *data)
{
	end(data, PROBE_FAILED, fault, why);
}

static void on_broken(const char *why, void *data)
{
	end(data, PROBE_FAILED, FAULT_UNFIT, why);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct kafkaprobe *probe = data;
	char why[64];

	(void)fd;
	(void)what;
	snprintf(why, sizeof(why), "no answer within %.0f s",
		(double)(clock_monotonic() - probe->started) / 1e9);
	end(probe, PROBE_FAILED, FAULT_NO_ANSWER, why);
}

static void on_begun(evutil_socket_t fd, short what, void *data)
{
	struct kafkaprobe *probe = data;
	const struct producer_handler handler = {on_ended, on_answered, on_cut_off, on_broken, probe};
	struct kafka_why why;

	(void)fd;
	(void)what;
	probe->producer = producer_create(probe->base, &probe->options->kafka, &handler, &why);
	if (probe->producer)
		producer_ask(probe->producer);
	else
		end(probe, PROBE_FAILED, why.fault, why.words);
}

struct kafkaprobe *kafkaprobe_create(
	struct event_base *base, const struct uplink_options *options, const struct run *run)
{
	struct kafkaprobe *probe = memory_get(sizeof(*probe));
	/* one for the question about the topic, one for the message */
	struct timeval time = clock_timeval(2 * options->kafka.timeout_ns + NS_PER_SECOND);

	probe->base = base;
	probe->options = options;
	probe->run = run;
	probe->started = clock_monotonic();
	probe->result.server = options->kafka.brokers;
	probe->begun = evtimer_new(base, on_begun, probe);
	probe->deadline = evtimer_new(base, on_deadline, probe);
	if (!probe->begun || !probe->deadline)
		g_error("out of memory");
	event_add(probe->deadline, &time);
	event_active(probe->begun, EV_TIMEOUT, 1);
	return probe;
}

void kafkaprobe_on_end(struct kafkaprobe *probe, void (*ended)(void *data), void *data)
{
	probe->ended = ended;
	probe->data = data;
}

const struct probe_result *kafkaprobe_result(const struct kafkaprobe *probe)
{
	return &probe->result;
}

void kafkaprobe_destroy(struct kafkaprobe *probe)
{
	if (probe->producer)
		producer_destroy(probe->producer);
	event_free(probe->begun);
	event_free(probe->deadline);
	free(probe);
}
