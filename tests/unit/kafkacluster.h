/* SPDX-License-Identifier: BSD-2-Clause */
/* A cluster of librdkafka's mock brokers, on loopback, and what is in its topic. */
#ifndef KAFKACLUSTER_H
#define KAFKACLUSTER_H

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

/* What is called with each message of the topic, its partition's number, and its key ("" for none). */
typedef void kafkacluster_reader(
	const rd_kafka_message_t *message, int partition, const char *key, void *data);

struct kafkacluster {
	rd_kafka_t *owner;
	rd_kafka_mock_cluster_t *mock;
	const char *brokers;
};

#define KAFKACLUSTER_PRODUCE 0 /* the number of the request, by Kafka's protocol */
#define KAFKACLUSTER_METADATA 3

struct kafkacluster *kafkacluster_create(int brokers);
void kafkacluster_destroy(struct kafkacluster *cluster);

/* Makes a topic. */
void kafkacluster_add(struct kafkacluster *cluster, const char *topic, int partitions);

/* Has the next @count requests of that kind fail. */
void kafkacluster_fail(struct kafkacluster *cluster, int16_t request, rd_kafka_resp_err_t error, int count);

/* Reads all messages of the topic from the first one. */
void kafkacluster_read(const struct kafkacluster *cluster, const char *topic, int partitions,
	kafkacluster_reader *reader, void *data);

#endif
