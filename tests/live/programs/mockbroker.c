/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A broker of Kafka as far as a producer can tell, and one that can be told how to fail: librdkafka's mock
 * cluster.
 *
 *     mockbroker TOPIC
 *
 * Prints its HOST:PORT, and does what the lines of its input say:
 *
 *     down, up        it takes no connections, and takes them again
 *     rtt MS          so long each answer takes
 *     topic ERROR     what it says of the topic to who asks; 0: all is well
 *     produce ERROR   what it answers to whatever is sent; 0: it takes it
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#define PRODUCE 0 /* the protocol's number */
#define ERRORS 10000

static void fail_produce(rd_kafka_mock_cluster_t *cluster, rd_kafka_resp_err_t error)
{
	static rd_kafka_resp_err_t errors[ERRORS];

	rd_kafka_mock_clear_request_errors(cluster, PRODUCE);
	for (int i = 0; i < ERRORS; i++)
		errors[i] = error;
	if (error)
		rd_kafka_mock_push_request_errors_array(cluster, PRODUCE, ERRORS, errors);
}

static void obey(rd_kafka_mock_cluster_t *cluster, const char *topic, const char *line)
{
	const char *space = strchr(line, ' ');
	int number = space ? atoi(space) : 0;

	if (strncmp(line, "down", 4) == 0)
		rd_kafka_mock_broker_set_down(cluster, 1);
	else if (strncmp(line, "up", 2) == 0)
		rd_kafka_mock_broker_set_up(cluster, 1);
	else if (strncmp(line, "rtt", 3) == 0)
		rd_kafka_mock_broker_set_rtt(cluster, 1, number);
	else if (strncmp(line, "topic", 5) == 0)
		rd_kafka_mock_topic_set_error(cluster, topic, (rd_kafka_resp_err_t)number);
	else
		fail_produce(cluster, (rd_kafka_resp_err_t)number);
}

int main(int argc, char **argv)
{
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_mock_cluster_t *cluster;
	rd_kafka_t *client;
	char reason[256], line[64];

	if (argc != 2)
		return 1;
	rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
	client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
	cluster = client ? rd_kafka_mock_cluster_new(client, 1) : NULL;
	if (!cluster || rd_kafka_mock_topic_create(cluster, argv[1], 1, 1) != 0)
		return 1;
	puts(rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		obey(cluster, argv[1], line);
	rd_kafka_mock_cluster_destroy(cluster);
	rd_kafka_destroy(client);
	return 0;
}
