/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/ownport.h"

#include <string.h>

#include "config/outputtype.h"

/* Whether it is where something listens on this node, at @host, as far as the names say. */
static bool is_here(const struct address *server, const char *host, uint64_t port)
{
	return server->port == port && (address_is_loopback(server) || strcmp(server->host, host) == 0);
}

static bool is_listener(const struct address *server, const char *listener)
{
	struct address address;

	return *listener && address_parse(listener, &address) && is_here(server, address.host, address.port);
}

#define WORDS(upper, lower, key, speaks)                                                                     \
	"the agent's own intake, which speaks " speaks " only (`" key "` in [input])",
static const char *const intakes[INPUTS] = {INPUT_TYPES(WORDS)};
#undef WORDS

static const char *describe(
	const struct config *config, const struct output_config *output, const struct address *server)
{
	if (is_listener(server, config->http))
		return "the agent's own page and metrics (`http` in [agent])";
	for (size_t i = 0; i < INPUTS; i++) {
		const char *key = output_type_of(output)->intake;

		/* what it takes makes a circle */
		if (!(key && !strcmp(key, input_keys[i])) && is_listener(server, config->input[i]))
			return intakes[i];
	}
	if (is_here(server, config->relay_host, config->relay_control_port) ||
		is_here(server, config->relay_host, config->relay_data_port) ||
		is_here(server, config->relay_host, config->relay_live_port))
		return "LTTng's relay daemon, from which the agent reads (`relay-live-port` and others in "
		       "[session])";
	return NULL;
}

const char *ownport_find(
	const struct config *config, const struct output_config *output, struct address *server)
{
	struct address list[ADDRESSES_MAX];
	const char *words = NULL;
	size_t count = output_servers(output, list);

	for (size_t i = 0; i < count && !words; i++) {
		*server = list[i];
		words = describe(config, output, server);
	}
	return words;
}
