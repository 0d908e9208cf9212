/* SPDX-License-Identifier: BSD-2-Clause */
/* Kafka's errors: what they mean for a message, and in words. */
#ifndef OUTPUT_KAFKA_ERRORS_H
#define OUTPUT_KAFKA_ERRORS_H

#include <stdbool.h>
#include <stddef.h>

#include <librdkafka/rdkafka.h>

#include "core/fault.h"

/* Whether it is the message that is wrong. */
bool errors_refuse(rd_kafka_resp_err_t error);

/* Whether it says no more than that no answer came. */
bool errors_are_silence(rd_kafka_resp_err_t error);

/* FAULT_NONE if the error says no more than that nothing came through. */
enum fault errors_fault(rd_kafka_resp_err_t error);

/* The same of what librdkafka reports of a broker, with its @reason. */
enum fault errors_fault_of_broker(rd_kafka_resp_err_t error, const char *reason);

/* Writes the reason to @words without what is librdkafka's own in it: its threads, its names of brokers,
 * times. */
void errors_words(const char *reason, char *words, size_t size);

#endif
