/* SPDX-License-Identifier: BSD-2-Clause */
/* How a message ended, by librdkafka's error and by what is known of the brokers. */
#ifndef OUTPUT_KAFKA_ENDS_H
#define OUTPUT_KAFKA_ENDS_H

#include <stddef.h>
#include <stdint.h>

#include <librdkafka/rdkafka.h>

#include "output/kafka/messageend.h"

/* What is known. */
struct ends {
	const char *topic; /* NULL: each message has its own */
	int64_t timeout_ns;
	enum fault fault;  /* what was last wrong with a broker, */
	char trouble[256]; /* in words */
};

struct message_end ends_of(const struct ends *ends, rd_kafka_resp_err_t error);

/* What has no fault of its own: what is known of the brokers tells more, and silence tells least. */
enum fault ends_explain(const struct ends *ends, rd_kafka_resp_err_t error, char *words, size_t size);

#endif
