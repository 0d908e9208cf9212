/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An uplink to Kafka: batches become messages of a topic.
 *
 * The producer finds the brokers and retries by itself for a while. What it cannot get rid of in that time
 * comes back, and waits in the queue or in the spool until the topic answers; then one message is tried
 * before the others follow.
 */
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/kafka/inner.h"
#include "output/kafka/items.h"
#include "output/kafka/producer.h"
#include "output/uplink/backoff.h"
#include "output/uplink/delivery.h"
#include "output/uplink/health.h"
#include "output/uplink/ratelimit.h"
#include "queue/aside.h"
#include "queue/bytrace.h"

/* With keys, messages are small; librdkafka takes no more than 100,000. */
#define KEYED_WINDOW 100
#define KEYED_MAX 50000

struct kafkauplink {
	struct uplink uplink;
	struct event_base *base;
	struct queue *queue;
	const struct output_config *is; /* a reference */
	enum kind kind;                 /* of the items */
	struct kafkaitems items;
	struct producer *producer; /* NULL: until the next try */
	struct delivery delivery;
	struct health health;
	struct backoff backoff;
	struct ratelimit rate;
	struct event *paced;   /* when the rate limit allows more */
	struct event *checked; /* conclusions are drawn from what came, outside of the producer's calls */
	char label[512];       /* in the log */
	bool known;            /* the topic answered since the last failure */
	bool took;             /* the same of a message */
	bool asking, broken;
	char refusal[256]; /* the latest */
	void (*drained)(void *data);
	void *drained_data;
};

static uint32_t open_messages(const struct kafkauplink *kafka)
{
	return kafka->producer ? producer_open(kafka->producer) : 0;
}

/* Failures */

/* What is on its way may still arrive; the rest waits in the queue, where the spool finds it. */
static void fail(struct kafkauplink *kafka, enum fault fault, const char *why)
{
	if (fault_row(fault) != ACCOUNT_ROWS)
		account_add(queue_account(kafka->queue), fault_row(fault), 1);
	health_failing(&kafka->health, fault, why, health_waits(kafka->health.kind));
	kafka->known = kafka->took = false;
	queue_set_delivering(kafka->queue, false);
	if (!kafka->backoff.on)
		backoff_begin(&kafka->backoff, 0);
	event_active(kafka->checked, EV_TIMEOUT, 1);
}

static void fail_refusing(struct kafkauplink *kafka)
{
	char why[300];

	snprintf(why, sizeof(why), "the brokers refuse everything: \"%s\"", kafka->refusal);
	bisect_give_up(&kafka->delivery.bisect);
	fail(kafka, FAULT_REFUSES_ALL, why);
}

/* Messages */

/* Those with keys share a request, which may be what is too large: then the batch's messages go one by one,
 * also those that were refused with the first. */
static void take_refusal(struct kafkauplink *kafka, struct piece *piece, const char *words)
{
	struct entry *entry = piece->parcel->entry;

	account_add(queue_account(kafka->queue), OUTPUT_ERRORS_REFUSED, 1);
	g_strlcpy(kafka->refusal, words, sizeof(kafka->refusal));
	if (kafka->items.topics) { /* the next one goes elsewhere, and may be taken */
		delivery_drop(&kafka->delivery, piece, words);
		health_refused(&kafka->health, 1, words);
	} else if (kafka->items.keyed && !kafka->delivery.alone) {
		entry->alone = true;
		delivery_put_back(&kafka->delivery, piece);
	} else if (delivery_refused(&kafka->delivery, piece, words)) {
		health_refused(&kafka->health, 1, words);
	}
}

static void take_end(struct kafkauplink *kafka, struct piece *piece, const struct message_end *end)
{
	switch (end->result) {
	case MESSAGE_KEPT:
		if (end->maybe_twice)
			delivery_repeated(&kafka->delivery, piece);
		delivery_took(&kafka->delivery, piece, 0);
		kafka->took = kafka->known = true;
		backoff_connected(&kafka->backoff);
		backoff_good(&kafka->backoff, clock_monotonic());
		health_took(&kafka->health);
		queue_set_delivering(kafka->queue, true);
		break;
	case MESSAGE_REFUSED:
		take_refusal(kafka, piece, end->words);
		break;
	case MESSAGE_FAILED:
		piece->sent_before |= end->maybe_kept;
		delivery_put_back(&kafka->delivery, piece);
		if (end->fault != FAULT_NONE)
			fail(kafka, end->fault, end->words);
		break;
	}
}

static void send_piece(struct kafkauplink *kafka, struct piece *piece)
{
	struct kafkaitem item;
	struct message_end end;
	bool good = kafkaitems_make(&kafka->items, &kafka->delivery, piece, &item, &end);

	if (good)
		ratelimit_spend(&kafka->rate, item.bytes.size, clock_monotonic());
	if (!good || !producer_send(kafka->producer, &item.label, &item.bytes, piece, &end))
		take_end(kafka, piece, &end);
}

static uint32_t window(const struct kafkauplink *kafka)
{
	if (kafka->health.failing || !kafka->took)
		return 1;
	return kafka->items.keyed || settings_single(kafka->kind)
		       ? MIN((uint32_t)kafka->is->window * KEYED_WINDOW, KEYED_MAX)
		       : (uint32_t)kafka->is->window;
}

static struct piece *take(struct kafkauplink *kafka)
{
	struct piece *piece = delivery_take(&kafka->delivery, DELIVERY_ANY, open_messages(kafka));
	struct entry *entry;

	while (!piece && !kafka->delivery.held && (entry = aside_take(kafka->queue)))
		piece = delivery_add(&kafka->delivery, entry);
	return piece;
}

static bool may_send(const struct kafkauplink *kafka)
{
	return kafka->producer && kafka->known && !kafka->broken && open_messages(kafka) < window(kafka);
}

static void pump(struct kafkauplink *kafka)
{
	struct timeval time;
	struct piece *piece;
	int64_t wait = 0;

	while (may_send(kafka)) {
		wait = ratelimit_wait(&kafka->rate, clock_monotonic());
		piece = wait ? NULL : take(kafka);
		if (!piece)
			break;
		send_piece(kafka, piece);
	}
	time = clock_timeval(wait);
	if (wait)
		event_add(kafka->paced, &time);
	else if (kafka->known && open_messages(kafka) == 0 && bisect_stuck(&kafka->delivery.bisect))
		fail_refusing(kafka);
}

/* From the producer: nothing may be destroyed in these calls. */

static void on_ended(void *cargo, const struct message_end *end, void *data)
{
	struct kafkauplink *kafka = data;

	take_end(kafka, cargo, end);
	event_active(kafka->checked, EV_TIMEOUT, 1);
}

static void on_answered(enum fault fault, const char *why, void *data)
{
	struct kafkauplink *kafka = data;

	kafka->asking = false;
	if (fault != FAULT_NONE) {
		fail(kafka, fault, why);
		return;
	}
	kafka->known = true;
	health_connected(&kafka->health);
	pump(kafka);
	/* With nothing at hand to try it with, others may have something, as the spool. */
	if (open_messages(kafka) == 0)
		queue_set_delivering(kafka->queue, true);
	event_active(kafka->checked, EV_TIMEOUT, 1);
}

static void on_cut_off(enum fault fault, const char *why, void *data)
{
	fail(data, fault, why);
}

static void on_broken(const char *why, void *data)
{
	struct kafkauplink *kafka = data;

	kafka->broken = true;
	fail(kafka, FAULT_UNFIT, why);
}

/* The producer */

static void end_producer(struct kafkauplink *kafka, void (*end)(struct producer *producer))
{
	struct producer *producer = kafka->producer;

	kafka->producer = NULL;
	kafka->asking = kafka->broken = kafka->known = false;
	if (producer)
		end(producer);
}

static void make_producer(struct kafkauplink *kafka)
{
	const struct producer_handler handler = {on_ended, on_answered, on_cut_off, on_broken, kafka};
	struct kafka_why why;

	kafkaitems_forget(&kafka->items);
	kafka->producer = producer_create(kafka->base, kafka->is, kafka->kind, &handler, &why);
	if (!kafka->producer)
		fail(kafka, why.fault, why.words);
}

/* The files of TLS and of the password may be others now. */
static bool needs_another(const struct kafkauplink *kafka)
{
	enum fault fault = kafka->health.fault;

	return kafka->broken || fault == FAULT_LOGIN || fault == FAULT_PASSWORD ||
	       (fault >= FAULT_TLS_CERTIFICATE && fault <= FAULT_TLS);
}

static void try_again(struct kafkauplink *kafka)
{
	if (kafka->producer && kafka->health.failing && needs_another(kafka))
		end_producer(kafka, producer_abandon);
	if (!kafka->producer)
		make_producer(kafka);
	if (!kafka->producer || kafka->asking)
		return;
	kafka->asking = true;
	producer_ask(kafka->producer);
}

/* The loop */

static void check_drained(struct kafkauplink *kafka)
{
	void (*drained)(void *data) = kafka->drained;

	if (!drained || !queue_done(kafka->queue))
		return;
	kafka->drained = NULL;
	drained(kafka->drained_data);
}

/* After anything that came. The last call may destroy the uplink. */
static void on_checked(evutil_socket_t fd, short what, void *data)
{
	struct kafkauplink *kafka = data;

	(void)fd;
	(void)what;
	if (!kafka->known && open_messages(kafka) == 0)
		delivery_give_back(&kafka->delivery);
	else if (bisect_hopeless(&kafka->delivery.bisect))
		fail_refusing(kafka);
	pump(kafka);
	check_drained(kafka);
}

static void on_rested(evutil_socket_t fd, short what, void *data)
{
	struct kafkauplink *kafka = data;

	(void)fd;
	(void)what;
	backoff_end(&kafka->backoff);
	if (!kafka->known)
		try_again(kafka);
}

/* For the owner of the uplink */

/* A stop may find the queue empty. */
static void wake(struct uplink *owned)
{
	struct kafkauplink *kafka = (struct kafkauplink *)owned;

	pump(kafka);
	if (kafka->drained)
		event_active(kafka->checked, EV_TIMEOUT, 1);
}

/* A stop has no time for long waits. */
static void when_drained(struct uplink *owned, void (*done)(void *data), void *data)
{
	struct kafkauplink *kafka = (struct kafkauplink *)owned;

	kafka->drained = done;
	kafka->drained_data = data;
	backoff_reset(&kafka->backoff);
	if (kafka->backoff.on)
		backoff_begin(&kafka->backoff, 0);
	event_active(kafka->checked, EV_TIMEOUT, 1);
}

static void read_state(const struct uplink *owned, struct uplink_state *state)
{
	const struct kafkauplink *kafka = (const struct kafkauplink *)owned;
	struct uplink_server_state *one = &state->servers[0];

	memset(state, 0, sizeof(*state));
	one->server = kafka->is->brokers;
	one->serving = true;
	one->up = kafka->known && !kafka->health.error[0];
	health_read(&kafka->health, one);
	state->server_count = 1;
	state->up = one->up;
	state->type = "kafka";
	state->server = one->server;
	state->calls_open = open_messages(kafka);
	memcpy(state->error, one->error, sizeof(state->error));
}

static void destroy(struct uplink *owned)
{
	struct kafkauplink *kafka = (struct kafkauplink *)owned;

	end_producer(kafka, producer_destroy);
	delivery_give_back(&kafka->delivery);
	backoff_free(&kafka->backoff);
	event_free(kafka->paced);
	event_free(kafka->checked);
	kafkaitems_free(&kafka->items);
	output_config_unref(kafka->is);
	g_free(kafka);
}

static const struct uplink_kind kind = {
	.destroy = destroy,
	.wake = wake,
	.when_drained = when_drained,
	.read_state = read_state,
};

struct uplink *kafkauplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options)
{
	const struct output_config *is = options->is;
	struct kafkauplink *kafka;
	struct tls *tls;

	/* files that do not do are better found before librdkafka does, which says less of them */
	if (!uplink_create_tls(options, &tls))
		return NULL;
	tls_free(tls);
	kafka = g_new0(struct kafkauplink, 1);
	kafka->uplink.kind = &kind;
	kafka->base = base;
	kafka->queue = queue;
	kafka->is = output_config_ref(is);
	kafka->kind = options->kind;
	kafka->rate.limit = is->rate_limit;
	kafkaitems_init(&kafka->items, options);
	health_label(kafka->label, sizeof(kafka->label), options->name, is->brokers);
	delivery_init(&kafka->delivery, queue, uplink_format(is, options->kind));
	kafka->delivery.by_trace = kafka->items.keyed;
	health_init(&kafka->health, kafka->label, options->kind);
	backoff_init(&kafka->backoff, base, on_rested, kafka);
	backoff_set_pace(&kafka->backoff, is->retry_min, is->retry_max);
	kafka->paced = evtimer_new(base, on_checked, kafka);
	kafka->checked = evtimer_new(base, on_checked, kafka);
	if (!kafka->paced || !kafka->checked)
		g_error("out of memory");
	/* Not from here: what is made in a reload that fails after all must not touch anything. */
	event_active(kafka->backoff.timer, EV_TIMEOUT, 1);
	return &kafka->uplink;
}
