/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The thread that attends to a client of librdkafka, and does for the loop what may wait for a network that
 * does not answer: it asks a broker for the topic, and ends the client.
 */
#ifndef OUTPUT_KAFKA_ATTENDANT_H
#define OUTPUT_KAFKA_ATTENDANT_H

#include <stdbool.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

struct attendant;

/* Takes over the client and the topic, which may be NULL: then a broker is asked whether it is there. Adds 1
 * to the eventfd @fd when there is an answer. NULL, having taken over nothing, if no thread can be had. */
struct attendant *attendant_create(rd_kafka_t *client, rd_kafka_topic_t *topic, int64_t timeout_ns, int fd);

/* Asks, unless a question is open. */
void attendant_ask(struct attendant *attendant);

/* Whether there is an answer that was not taken yet: no error, if the topic is there, and all of its
 * partitions have leaders. */
bool attendant_take_answer(struct attendant *attendant, rd_kafka_resp_err_t *error);

/*
 * Ends the client, and then calls @release with @data: mostly before it returns, but later, and in the
 * thread, if that takes longer than @patience_ns, as the client waits for the network.
 */
void attendant_end(struct attendant *attendant, int64_t patience_ns, void (*release)(void *data), void *data);

#endif
