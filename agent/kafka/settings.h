/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output of Kafka is to do, and librdkafka's configuration made of it. */
#ifndef KAFKA_SETTINGS_H
#define KAFKA_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fault.h"
#include "net/tls.h"

enum kafka_sasl { KAFKA_SASL_NONE, KAFKA_SASL_PLAIN, KAFKA_SASL_SCRAM_SHA_256, KAFKA_SASL_SCRAM_SHA_512 };

/* The texts are borrowed by whoever takes this, for the call. */
struct kafka_settings {
	const char *brokers;     /* HOST:PORT, or several with commas: some that know all others */
	const char *topic;       /* NULL: each message says its own, which may be one that nobody has */
	const char *compression; /* as librdkafka calls it: "none", "gzip", "zstd" */
	bool keyed;              /* messages have keys: traces */
	bool single;             /* a message is an item, not a batch of them */
	bool use_tls;
	struct tls_options tls;
	enum kafka_sasl sasl;
	const char *sasl_user, *sasl_password_file;
	int64_t timeout_ns;                 /* from a message to its end */
	int64_t retry_min_ns, retry_max_ns; /* between two tries of a broker */
};

/* Why something cannot be had, in one sentence. */
struct kafka_why {
	enum fault fault;
	char words[512];
};

/* Whether librdkafka is there; otherwise @why says why not. */
bool settings_check_library(struct kafka_why *why);

/* Whether the file holds a password, which is not kept; otherwise @why says why not. */
bool settings_check_password(const char *path, struct kafka_why *why);

/*
 * The configuration, a rd_kafka_conf_t that is the caller's; it reads the password's file. NULL if it cannot
 * be had.
 */
void *settings_configure(const struct kafka_settings *settings, struct kafka_why *why);

#endif
