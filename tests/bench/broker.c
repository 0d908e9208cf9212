/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The least that a broker of Kafka can do: librdkafka's mock cluster, with topic `zipkin`, which keeps the
 * last few megabytes and forgets the rest.
 *
 *     broker
 *
 * Prints its HOST:PORT once it listens, and on SIGTERM how many bytes came.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

static atomic_uint_fast64_t bytes;

/* In the place of the C library's: librdkafka receives with these, and does not tell how much it was. */
ssize_t recv(int fd, void *to, size_t size, int flags)
{
	ssize_t got = recvfrom(fd, to, size, flags, NULL, NULL);

	if (got > 0 && !(flags & MSG_PEEK))
		bytes += (uint64_t)got;
	return got;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	struct mmsghdr one = {.msg_hdr = *message};

	if (recvmmsg(fd, &one, 1, flags, NULL) != 1)
		return -1;
	*message = one.msg_hdr;
	bytes += one.msg_len;
	return one.msg_len;
}

static rd_kafka_t *start(void)
{
	char reason[256];
	rd_kafka_conf_t *conf = rd_kafka_conf_new();
	rd_kafka_t *client;

	rd_kafka_conf_set(conf, "test.mock.num.brokers", "1", NULL, 0);
	rd_kafka_conf_set(conf, "log_level", "0", NULL, 0);
	client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof(reason));
	if (!client) {
		fprintf(stderr, "broker: %s\n", reason);
		rd_kafka_conf_destroy(conf);
	}
	return client;
}

int main(void)
{
	sigset_t terminate;
	rd_kafka_t *client;
	rd_kafka_mock_cluster_t *cluster;
	int got;

	sigemptyset(&terminate);
	sigaddset(&terminate, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &terminate, NULL);
	client = start();
	if (!client)
		return 1;
	cluster = rd_kafka_handle_mock_cluster(client);
	rd_kafka_mock_topic_create(cluster, "zipkin", 1, 1);
	puts(rd_kafka_mock_cluster_bootstraps(cluster));
	fflush(stdout);
	sigwait(&terminate, &got);
	printf("%" PRIuFAST64 "\n", bytes);
	rd_kafka_destroy(client);
	return 0;
}
