/* SPDX-License-Identifier: BSD-2-Clause */
#include "health.h"

#include <string.h>

#include <glib.h>

#include "clock.h"
#include "log.h"

/* Between two lines about refused spans, at least. Where one is refused, more may be. */
#define REFUSED_LOG_NS (10 * NS_PER_SECOND)

static void keep_error(struct health *health, const char *why)
{
	g_strlcpy(health->error, why, sizeof(health->error));
}

void health_init(struct health *health, const char *server)
{
	memset(health, 0, sizeof(*health));
	health->server = server;
	keep_error(health, "not connected yet");
}

void health_failing(struct health *health, const char *why, const char *then)
{
	keep_error(health, why);
	if (health->failing)
		return;
	health->failing = true;
	health->since = clock_monotonic();
	log_warning("output %s: %s; %s", health->server, why, then);
}

void health_good(struct health *health)
{
	health->error[0] = '\0';
	if (health->failing)
		log_info("output %s: delivering again after %lld s", health->server,
			(long long)((clock_monotonic() - health->since + NS_PER_SECOND / 2) / NS_PER_SECOND));
	else if (!health->said_connected)
		log_info("output %s: connected", health->server);
	health->failing = false;
	health->said_connected = true;
}

void health_idle(struct health *health, const char *why)
{
	if (!health->failing)
		keep_error(health, why);
}

void health_refused(struct health *health, const char *words)
{
	int64_t now = clock_monotonic();

	health->refused_more++;
	if (health->refused_said && now - health->refused_said < REFUSED_LOG_NS)
		return;
	log_warning(
		"output %s: the server refuses a span, which is set aside and counted: \"%s\" (spans refused "
		"since the last such line: %llu)",
		health->server, words, (unsigned long long)health->refused_more);
	health->refused_said = now;
	health->refused_more = 0;
}
