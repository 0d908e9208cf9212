/* SPDX-License-Identifier: BSD-2-Clause */
#include "kafkacluster.h"

#include <stdbool.h>

#include <check.h>

#include <glib.h>

static void quiet(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
	(void)client;
	(void)level;
	(void)facility;
	(void)text;
}

static rd_kafka_t *client_create(rd_kafka_type_t type, const char *brokers)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	char error[256];
	rd_kafka_t *client;

	rd_kafka_conf_set_log_cb(conf, quiet);
	rd_kafka_conf_set(conf, "enable.partition.eof", "true", error, sizeof(error));
	rd_kafka_conf_set(conf, "fetch.wait.max.ms", "5", error, sizeof(error));
	if (brokers)
		rd_kafka_conf_set(conf, "bootstrap.servers", brokers, error, sizeof(error));
	client = rd_kafka_new(type, conf, error, sizeof(error));
	ck_assert_msg(client != NULL, "%s", error);
	return client;
}

struct kafkacluster *kafkacluster_create(int brokers)
{
	struct kafkacluster *cluster = g_new0(struct kafkacluster, 1);

	cluster->owner = client_create(RD_KAFKA_PRODUCER, NULL);
	cluster->mock = rd_kafka_mock_cluster_new(cluster->owner, brokers);
	ck_assert_ptr_nonnull(cluster->mock);
	cluster->brokers = rd_kafka_mock_cluster_bootstraps(cluster->mock);
	return cluster;
}

void kafkacluster_destroy(struct kafkacluster *cluster)
{
	rd_kafka_mock_cluster_destroy(cluster->mock);
	rd_kafka_destroy(cluster->owner);
	g_free(cluster);
}

void kafkacluster_add(struct kafkacluster *cluster, const char *topic, int partitions)
{
	ck_assert_int_eq(rd_kafka_mock_topic_create(cluster->mock, topic, partitions, 1), 0);
}

void kafkacluster_fail(struct kafkacluster *cluster, int16_t request, rd_kafka_resp_err_t error, int count)
{
	while (count-- > 0)
		rd_kafka_mock_push_request_errors(cluster->mock, request, 1, error);
}

static void read_partition(rd_kafka_topic_t *topic, int partition, kafkacluster_reader *reader, void *data)
{
	rd_kafka_message_t *message;
	bool more = true;

	ck_assert_int_eq(rd_kafka_consume_start(topic, partition, RD_KAFKA_OFFSET_BEGINNING), 0);
	while (more) {
		message = rd_kafka_consume(topic, partition, 10000);
		ck_assert_ptr_nonnull(message);
		more = !message->err;
		if (more) {
			g_autofree char *key = g_strndup(message->key ? message->key : "", message->key_len);

			reader(message, partition, key, data);
		} else {
			ck_assert_msg(message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF, "%s",
				rd_kafka_message_errstr(message));
		}
		rd_kafka_message_destroy(message);
	}
	rd_kafka_consume_stop(topic, partition);
}

void kafkacluster_read(const struct kafkacluster *cluster, const char *name, int partitions,
	kafkacluster_reader *reader, void *data)
{
	rd_kafka_t *client = client_create(RD_KAFKA_CONSUMER, cluster->brokers);
	rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);

	for (int i = 0; i < partitions; i++)
		read_partition(topic, i, reader, data);
	rd_kafka_topic_destroy(topic);
	rd_kafka_destroy(client);
}
