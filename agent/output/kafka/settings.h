/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output of Kafka is to do, and librdkafka's configuration made of it. */
#ifndef OUTPUT_KAFKA_SETTINGS_H
#define OUTPUT_KAFKA_SETTINGS_H

#include <stdbool.h>

#include "config/config.h"
#include "core/fault.h"
#include "output/kafka/why.h"

/* The topic of items of the kind; NULL: each message says its own, which may be one that nobody has. */
const char *settings_topic(const struct output_config *is, enum kind kind);

/* Whether messages have keys: traces; and whether each is an item, not a batch of them. */
bool settings_keyed(const struct output_config *is, enum kind kind);
bool settings_single(enum kind kind);

/*
 * The configuration, a rd_kafka_conf_t that is the caller's; it reads the password's file. NULL if it cannot
 * be had.
 */
void *settings_configure(const struct output_config *is, enum kind kind, struct kafka_why *why);

#endif
