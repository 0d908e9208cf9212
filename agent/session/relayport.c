/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayport.h"

#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>

/* Whether the file of /proc has a socket that listens on the port, at whatever address. */
static bool listens(const char *path, unsigned wanted)
{
	FILE *sockets = fopen(path, "re");
	char line[512];
	unsigned port, state;
	bool found = false;

	while (sockets && !found && fgets(line, sizeof(line), sockets))
		found = sscanf(line, "%*u: %*[0-9A-F]:%x %*[0-9A-F]:%*x %x", &port, &state) == 2 &&
			state == TCP_LISTEN && port == wanted;
	if (sockets)
		fclose(sockets);
	return found;
}

static bool is_here(const char *host)
{
	return g_str_has_prefix(host, "127.") || !strcmp(host, "localhost") || !strcmp(host, "::1") ||
	       !strcmp(host, "[::1]");
}

unsigned relayport_listeners(const struct config *config, unsigned *first)
{
	const uint64_t ports[RELAYPORTS] = {
		config->relay_control_port, config->relay_data_port, config->relay_live_port};
	unsigned count = 0;

	for (size_t i = 0; is_here(config->relay_host) && i < RELAYPORTS; i++) {
		const unsigned port = (unsigned)ports[i];

		if (!listens("/proc/self/net/tcp", port) && !listens("/proc/self/net/tcp6", port))
			continue;
		if (count++ == 0)
			*first = port;
	}
	return count;
}

bool relayport_missing(const struct config *config)
{
	unsigned port;

	return is_here(config->relay_host) && relayport_listeners(config, &port) < RELAYPORTS;
}
