/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = kafka`: messages of topics. */
#include <string.h>

#include "config/check.h"
#include "config/keys.h"
#include "config/outputtype.h"

/* Characters of a topic's name. */
#define TOPIC_MAX 249

static const struct output_advice keys_meant[] = {
	{"|server|", "write `brokers`"},
	{"|balance|", "Kafka shares messages out over its brokers itself"},
	{"|user|username|login|", "did you mean `sasl-user`?"},
	{"|password|password-file|", "did you mean `sasl-password-file`?"},
	{0},
};

static const struct output_port ports[] = {
	{2181, "which is usually ZooKeeper's port; a broker's is usually 9092"},
	{0},
};

static const char *const remedies[FAULTS] = {
	[FAULT_CONNECT_REFUSED] =
		"start the broker there, or correct `brokers` in [output]: each is a broker's host "
		"and " REMEDY_PORT,
	[FAULT_NO_ADDRESS] =
		"correct the host's name in `brokers` of [output], or in the brokers' advertised.listeners, "
		"or repair the name service",
	[FAULT_CONNECT] = "check `brokers` in [output], and the brokers' log",
	[FAULT_TLS_CERTIFICATE] =
		"give the brokers certificates that are valid for their names in advertised.listeners, or "
		"name the authority that signed them in `tls-ca` of [output]",
	[FAULT_TLS_NAME] = "give the brokers certificates for the names in their advertised.listeners",
	[FAULT_TLS_NONE] = "name the port of a listener with TLS in `brokers` of [output], or set `tls = no`",
	[FAULT_PASSWORD] = "correct `sasl-password-file` in [output], or let the agent's user read it: the "
			   "agent goes on "
			   "by itself once it can",
	[FAULT_NO_ANSWER] =
		"check that the brokers are up and not overloaded, that as many replicas are in sync as the "
		"topic asks for (min.insync.replicas), and that their advertised.listeners can be reached "
		"from here",
	[FAULT_CLOSED] = "read the brokers' log, and check `tls` and `sasl` in [output]: the listener behind "
			 "`brokers` "
			 "may ask for another protocol",
	[FAULT_GARBLED] = "check that `brokers` in [output] names " REMEDY_PORT,
	[FAULT_TRY_LATER] =
		"the agent tries again by itself; if this lasts, brokers are missing: see which partitions "
		"of the topic have no leader, or too few replicas in sync (kafka-topics.sh --describe)",
	[FAULT_REFUSES_ALL] =
		"compare `batch-size` in [output] with the topic's max.message.bytes, and read the brokers' "
		"log",
	[FAULT_PERMISSION] =
		"allow the agent's user of SASL or of its certificate to write to the topic, and, before "
		"Kafka 2.8, IdempotentWrite on the cluster (kafka-acls.sh)",
	[FAULT_ENCODING] = "set `compression` in [output] to what the brokers take: gzip or none",
	[FAULT_UNFIT] =
		"read the brokers' log, and check `brokers` in [output]; the agent goes on by itself once it "
		"can",
};

static void settle(const struct config *config, struct output_config *output)
{
	(void)config;
	/* which costs least, and all consumers of today know */
	output_type_default(output, "compression", "zstd");
	/* that a broker is gone is known after 9 s, and another one leads then: what timed out may come twice
	 */
	output_type_default(output, "timeout", "30s");
}

/* As Kafka has it; librdkafka makes nothing at all of a name that is much longer. */
static bool is_topic(const char *name)
{
	return strlen(name) <= TOPIC_MAX && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       !name[strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-")];
}

static int check(const struct config *config, const struct output_config *output)
{
	const struct rule rules[] = {
		{output->format == CONFIG_FORMAT_OTLP_JSON, {"format", "type"},
			"`format = otlp-json` is for `type = file`"},
		{!is_topic(output->topic), {"topic"},
			"`topic` must have 249 characters at most, and be neither `.` nor `..`, as Kafka "
			"takes no other,"},
		{!is_topic(output->events_topic) || !is_topic(output->messages_topic),
			{"events-topic", "messages-topic"},
			"`events-topic` and `messages-topic` must have 249 characters at most, of letters, "
			"digits, `.`, `_` and `-`, and be neither `.` nor `..`, as Kafka takes no other,"},
	};

	(void)config;
	return check_rules(output, rules, G_N_ELEMENTS(rules));
}

const struct output_type output_type_kafka = {
	.name = "kafka",
	.takes = CONFIG_TAKES_SPANS | CONFIG_TAKES_EVENTS | CONFIG_TAKES_MESSAGES,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_CONNECTS | KEYS_FORMATS | KEYS_COMPRESSES | KEYS_BROKERS,
	.formats = 1u << CONFIG_FORMAT_THRIFT | 1u << CONFIG_FORMAT_JSON2 | 1u << CONFIG_FORMAT_OTLP,
	.place = "brokers",
	.port = "9092",
	.settle = settle,
	.check = check,
	.keys_meant = keys_meant,
	.ports = ports,
	.schemes = "|kafka|",
	.remedies = remedies,
	.port_words = "the port that its listener has (9092 mostly)",
	.unsteady = "read the brokers' log: they may be overloaded, or restart again and again",
};
