/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = scribe`: calls of Facebook's Scribe. */
#include "config/check.h"
#include "config/keys.h"
#include "config/outputtype.h"

static const struct output_advice keys_meant[] = {{"|brokers|", "write `server`"}, {0}};

static const struct output_port ports[] = {
	{9411, "which is usually Zipkin's HTTP port: that takes `type = http`"},
	{4318, "which is usually OTLP's HTTP port: that takes `type = otlp`"},
	{9092, "which is usually Kafka's port: that takes `type = kafka`"},
	{0},
};

static const char *const remedies[FAULTS] = {
	[FAULT_CONNECT_REFUSED] =
		"start the collector there (Zipkin: COLLECTOR_SCRIBE_ENABLED=true; an agent: `scribe` "
		"in its [input]), or correct `server` in [output]: it names the collector's host "
		"and " REMEDY_PORT,
	[FAULT_REFUSES_ALL] = "read the collector's log, and check `category` in [output]",
};

static int check(const struct config *config, const struct output_config *output)
{
	return check_circle(config, output, config->input[INPUT_SCRIBE]);
}

const struct output_type output_type_scribe = {
	.name = "scribe",
	.also = "|thrift|",
	.takes = CONFIG_TAKES_SPANS | CONFIG_TAKES_EVENTS | CONFIG_TAKES_MESSAGES,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_CONNECTS | KEYS_SERVERS | KEYS_CATEGORIES,
	.place = "server",
	.port = "9410",
	.intake = "scribe",
	.check = check,
	.keys_meant = keys_meant,
	.ports = ports,
	.remedies = remedies,
	.port_words = "its Scribe port (Zipkin: 9410)",
};
