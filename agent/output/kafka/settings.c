/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/settings.h"

#include <stdio.h>
#include <string.h>

#include "output/kafka/library.h"
#include <glib.h>

#include "base/clock.h"
#include "base/secret.h"

/* The largest message that librdkafka passes on: the broker's limit is what counts. */
#define MESSAGE_MAX "67108864"
/* zlib's quickest: spans in Thrift or OTLP take half the time so, and become hardly larger. */
#define GZIP_LEVEL "1"
/* The largest answer of a broker: a description of all brokers and of the topic. */
#define ANSWER_MAX "8388608"

/* One that is set wrong is a mistake of ours, or a library that lacks it. */
static bool set(rd_kafka_conf_t *conf, const char *name, const char *value, struct kafka_why *why)
{
	char error[256] = "";

	if (rd->conf_set(conf, name, value, error, sizeof(error)) == RD_KAFKA_CONF_OK)
		return true;
	why->fault = FAULT_UNFIT;
	snprintf(why->words, sizeof(why->words), "librdkafka cannot do this: %s", error);
	return false;
}

static bool set_ms(rd_kafka_conf_t *conf, const char *name, int64_t ns, int64_t least, struct kafka_why *why)
{
	char value[24];

	snprintf(value, sizeof(value), "%lld", (long long)MAX(ns / NS_PER_MS, least));
	return set(conf, name, value, why);
}

/* A request is given up early enough to be made again, of another broker, before its messages are. */
static int64_t request_ns(const struct output_config *is)
{
	int64_t short_of_it = MAX(is->timeout / 3, MIN(is->timeout, 10 * NS_PER_SECOND));

	return MIN(short_of_it, 300 * NS_PER_SECOND); /* Kafka's limit */
}

static bool set_times(rd_kafka_conf_t *conf, const struct output_config *is, struct kafka_why *why)
{
	int64_t request = request_ns(is);

	return set_ms(conf, "message.timeout.ms", is->timeout, 10, why) &&
	       set_ms(conf, "socket.timeout.ms", request, 10, why) &&
	       set_ms(conf, "request.timeout.ms", request, 1, why) &&
	       set_ms(conf, "socket.connection.setup.timeout.ms", request, 1000, why) &&
	       set_ms(conf, "topic.metadata.propagation.max.ms", request / 2, 1, why) &&
	       set_ms(conf, "reconnect.backoff.ms", is->retry_min, 1, why) &&
	       set_ms(conf, "reconnect.backoff.max.ms", is->retry_max, 1, why);
}

static bool set_tls(rd_kafka_conf_t *conf, const struct output_config *is, struct kafka_why *why)
{
	const struct {
		const char *name, *value;
	} files[] = {
		{"ssl.ca.location", is->tls_ca},
		{"ssl.certificate.location", is->tls_certificate},
		{"ssl.key.location", is->tls_key},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (*files[i].value && !set(conf, files[i].name, files[i].value, why))
			return false;
	return set(conf, "ssl.endpoint.identification.algorithm", "https", why);
}

static bool take_password(const char *path, char password[SECRET_MAX], struct kafka_why *why)
{
	bool good = secret_read(path, password, why->words, sizeof(why->words));

	if (!good)
		why->fault = FAULT_PASSWORD;
	return good;
}

static bool set_password(rd_kafka_conf_t *conf, const char *path, struct kafka_why *why)
{
	char password[SECRET_MAX];
	bool good = take_password(path, password, why) && set(conf, "sasl.password", password, why);

	explicit_bzero(password, sizeof(password));
	return good;
}

static bool set_security(rd_kafka_conf_t *conf, const struct output_config *is, struct kafka_why *why)
{
	static const char *const mechanisms[] = {[CONFIG_SASL_PLAIN] = "PLAIN",
		[CONFIG_SASL_SCRAM_SHA_256] = "SCRAM-SHA-256",
		[CONFIG_SASL_SCRAM_SHA_512] = "SCRAM-SHA-512"};
	const char *protocol = is->sasl  ? is->tls ? "sasl_ssl" : "sasl_plaintext"
			       : is->tls ? "ssl"
					 : "plaintext";

	if (!set(conf, "security.protocol", protocol, why) || (is->tls && !set_tls(conf, is, why)))
		return false;
	return !is->sasl || (set(conf, "sasl.mechanisms", mechanisms[is->sasl], why) &&
				    set(conf, "sasl.username", is->sasl_user, why) &&
				    set_password(conf, is->sasl_password_file, why));
}

/*
 * A batch is a message of its own already. With keys, or of single items, there are many small ones, which go
 * in a request together: if that is too large, all of them are refused.
 */
static bool set_rest(
	rd_kafka_conf_t *conf, const struct output_config *is, enum kind kind, struct kafka_why *why)
{
	static const char *const codecs[] = {
		[CONFIG_COMPRESSION_GZIP] = "gzip",
		[CONFIG_COMPRESSION_ZSTD] = "zstd",
		[CONFIG_COMPRESSION_NONE] = "none",
	};
	const bool small = settings_keyed(is, kind) || settings_single(kind);
	const char *const pairs[][2] = {
		{"bootstrap.servers", is->brokers},
		{"client.id", "blkin-agent"},
		{"enable.idempotence", "true"},
		{"compression.codec", codecs[is->compression]},
		{"compression.level", is->compression == CONFIG_COMPRESSION_GZIP ? GZIP_LEVEL : "-1"},
		{"linger.ms", small ? "5" : "0"},
		{"batch.num.messages", small ? "10000" : "1"},
		{"message.max.bytes", MESSAGE_MAX},
		{"receive.message.max.bytes", ANSWER_MAX},
		{"partitioner", "murmur2_random"},
		{"socket.keepalive.enable", "true"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
		if (!set(conf, pairs[i][0], pairs[i][1], why))
			return false;
	return true;
}

const char *settings_topic(const struct output_config *is, enum kind kind)
{
	if (kind == KIND_MESSAGES)
		return *is->messages_topic ? is->messages_topic : NULL;
	return kind == KIND_EVENTS ? is->events_topic : is->topic;
}

bool settings_keyed(const struct output_config *is, enum kind kind)
{
	return kind == KIND_SPANS && is->key == CONFIG_KEY_TRACE;
}

bool settings_single(enum kind kind)
{
	return kind != KIND_SPANS;
}

void *settings_configure(const struct output_config *is, enum kind kind, struct kafka_why *why)
{
	rd_kafka_conf_t *conf;

	if (!library_load(why))
		return NULL;
	conf = rd->conf_new();
	if (set_rest(conf, is, kind, why) && set_times(conf, is, why) && set_security(conf, is, why))
		return conf;
	rd->conf_destroy(conf);
	return NULL;
}
