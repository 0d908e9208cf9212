/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/health.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/uplink/uplink.h"

/* Between two lines about refused spans, at least. Where one is refused, more may be. */
#define REFUSED_LOG_NS (10 * NS_PER_SECOND)
/* So often in a minute the log says that a server delivers again, at most. */
#define GOOD_LOG_MAX 6
/* Within this time HEALTH_FALLS are too many. */
#define FALLS_NS (60 * NS_PER_SECOND)

static void keep_error(struct health *health, const char *why)
{
	g_strlcpy(health->error, why, sizeof(health->error));
}

void health_label(char *label, size_t size, const char *output, const char *server)
{
	bool named = output && strcmp(output, "default") != 0;

	snprintf(label, size, "%s%s%s", named ? output : "", named ? " at " : "", server);
}

const char *health_waits(enum kind kind)
{
	static const char *const words[KINDS] = {
		"spans wait, retrying", "events wait, retrying", "messages wait, retrying"};

	return words[kind];
}

void health_init(struct health *health, const char *server, enum kind kind)
{
	memset(health, 0, sizeof(*health));
	health->server = server;
	health->kind = kind;
	health->began = clock_monotonic();
	keep_error(health, "not connected yet");
}

static void note_fall(struct health *health)
{
	health->failures++;
	health->failing_since = clock_monotonic();
	health->fell[health->falls++ % HEALTH_FALLS] = health->failing_since;
}

void health_failing(struct health *health, enum fault fault, const char *why, const char *then)
{
	keep_error(health, why);
	g_strlcpy(health->last, why, sizeof(health->last));
	if (!health->failing)
		note_fall(health);
	health->failing = true;
	health->fault = fault;
	if (health->failing_told)
		return;
	health->failing_told = true;
	health->since = clock_monotonic();
	log_warning("output %s: %s; %s", health->server, why, then);
}

static void tell_good(struct health *health)
{
	int64_t now = clock_monotonic();
	long long seconds = (now - health->since + NS_PER_SECOND / 2) / NS_PER_SECOND;

	if (!health->minute || now - health->minute >= 60 * NS_PER_SECOND) {
		health->minute = now;
		health->good_told = 0;
	}
	if (health->good_told == GOOD_LOG_MAX)
		return;
	if (health->failures > 1)
		log_info("output %s: delivering again after %lld s, and %llu failures", health->server,
			seconds, (unsigned long long)health->failures);
	else
		log_info("output %s: delivering again after %lld s", health->server, seconds);
	health->good_told++;
	health->failing_told = false;
	health->failures = 0;
}

void health_good(struct health *health)
{
	health->error[0] = '\0';
	health->failing = false;
	health->fault = FAULT_NONE;
	if (health->failing_told)
		tell_good(health);
	else if (!health->said_connected)
		log_info("output %s: connected", health->server);
	health->said_connected = true;
}

void health_took(struct health *health)
{
	health->took = true;
	health_good(health);
}

void health_connected(struct health *health)
{
	if (!health->failing || !fault_is_answer(health->fault))
		health_good(health);
}

void health_idle(struct health *health, const char *why)
{
	if (!health->failing)
		keep_error(health, why);
}

void health_read(const struct health *health, struct uplink_server_state *state)
{
	g_strlcpy(state->error, health->error, sizeof(state->error));
	g_strlcpy(state->last, health->last, sizeof(state->last));
	state->fault = health->fault;
	state->failing_since = health->failing_since;
	state->was_up = health->said_connected;
	state->connecting_since = health->said_connected || health->falls ? 0 : health->began;
	state->took = health->took;
	/* the ring's next place has the oldest */
	state->unsteady = health->falls >= HEALTH_FALLS &&
			  clock_monotonic() - health->fell[health->falls % HEALTH_FALLS] < FALLS_NS;
}

void health_refused(struct health *health, uint32_t spans, const char *words)
{
	static const char *const one[KINDS] = {"a span", "an event", "a message"};
	int64_t now = clock_monotonic();

	health->refused_more += spans;
	if (health->refused_said && now - health->refused_said < REFUSED_LOG_NS)
		return;
	log_warning("output %s: the server refuses %s, which is set aside and counted: \"%s\" (%s refused "
		    "since the last such line: %llu)",
		health->server, one[health->kind], words, kind_name(health->kind),
		(unsigned long long)health->refused_more);
	health->refused_said = now;
	health->refused_more = 0;
}
