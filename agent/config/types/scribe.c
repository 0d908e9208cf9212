/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = scribe`: calls of Facebook's Scribe. */
#include <strings.h>

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
		"start the collector there (Zipkin: COLLECTOR_SCRIBE_ENABLED=true), or correct `server` in "
		"[output]: it names the collector's host and " REMEDY_PORT,
	[FAULT_REFUSES_ALL] = "read the collector's log, and check `category` in [output]",
};

/* Whether a connection to @server comes to @own. What names mean is not known here. */
static bool is_same_place(const struct address *own, const struct address *server)
{
	if (own->port != server->port)
		return false;
	return !strcasecmp(own->host, server->host) ||
	       (address_is_loopback(server) && (address_is_loopback(own) || address_is_any(own)));
}

/* An output to the agent's own input would send the same spans for ever. */
static int check_circle(const struct config *config, const struct output_config *output)
{
	const struct config_origin *at = check_later(NULL, output->origins, "output", "server");
	struct address own, list[ADDRESSES_MAX];
	size_t count = 0;
	bool same = false;

	if (*config->input_scribe && address_parse(config->input_scribe, &own))
		count = output_servers(output, list);
	for (size_t i = 0; i < count; i++)
		same |= is_same_place(&own, &list[i]);
	at = check_later(at, config->origins, "input", "scribe");
	return same ? check_broken(at,
			      "`server` is the agent's own `scribe` in [input]: its spans would come back "
			      "for ever",
			      output->section)
		    : 0;
}

const struct output_type output_type_scribe = {
	.name = "scribe",
	.also = "|thrift|",
	.takes = CONFIG_TAKES_SPANS | CONFIG_TAKES_EVENTS | CONFIG_TAKES_MESSAGES,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_CONNECTS | KEYS_SERVERS | KEYS_CATEGORIES,
	.place = "server",
	.port = "9410",
	.comes_back = true,
	.check = check_circle,
	.keys_meant = keys_meant,
	.ports = ports,
	.remedies = remedies,
	.port_words = "its Scribe port (Zipkin: 9410)",
};
