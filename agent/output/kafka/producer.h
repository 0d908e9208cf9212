/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A producer of Kafka: messages go to a topic, or each to one of its own, and each ends once, when the
 * brokers that have to keep it said so, or when it is given up. The only place that sees librdkafka, which
 * has threads of its own, finds the brokers, connects again by itself, and sends nothing twice while it lives
 * and no message times out (enable.idempotence, acks=all).
 *
 * Everything is called in the loop's thread, and so are the handlers. What may wait for a network that does
 * not answer (to ask a broker for the topic, to end) is left to a thread.
 */
#ifndef OUTPUT_KAFKA_PRODUCER_H
#define OUTPUT_KAFKA_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/buffer.h"
#include "core/fault.h"
#include "output/kafka/messageend.h"
#include "output/kafka/settings.h"

struct producer_handler {
	/* A message ended; @cargo is what it was sent with. */
	void (*ended)(void *cargo, const struct message_end *end, void *data);
	/* The answer to producer_ask: the topic can be written, if @fault is FAULT_NONE. */
	void (*answered)(enum fault fault, const char *why, void *data);
	/* No broker can be reached; told again with each try that fails. It goes on trying. */
	void (*cut_off)(enum fault fault, const char *why, void *data);
	/* It can send no more, and has to be replaced by another one. */
	void (*broken)(const char *why, void *data);
	void *data;
};

struct producer;

/* For what @is says of items of the kind; borrowed for the call. @handler is copied. NULL if it cannot be
 * had, with the fault and one sentence in @why, of @size bytes. */
struct producer *producer_create(struct event_base *base, const struct output_config *is, enum kind kind,
	const struct producer_handler *handler, struct kafka_why *why);

/* What a message has beside its bytes; copied. */
struct message_label {
	const char *topic; /* NULL: that of the settings */
	const void *key;   /* NULL: none */
	size_t key_size;
	const void *category; /* the header `category`; NULL: none */
	size_t category_size;
};

/*
 * Sends @message, whose memory it takes over. If it cannot be sent, it returns false, and how the message
 * ended in @end: then the handler is not called.
 */
bool producer_send(struct producer *producer, const struct message_label *label, struct buffer *message,
	void *cargo, struct message_end *end);

/* Messages that have no end yet. */
uint32_t producer_open(const struct producer *producer);

/* Has a broker asked whether the topic is there and has leaders. One question at a time. */
void producer_ask(struct producer *producer);

/* Ends all open messages, as far as is known, and the producer. Waits a little for a network that hangs. */
void producer_destroy(struct producer *producer);
/* The same, but its threads end when they do: for one that is replaced, again and again, while others wait
 * for the loop. */
void producer_abandon(struct producer *producer);

#endif
