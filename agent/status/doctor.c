/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* strcasestr */
#include "status/doctor.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "session/sessiond.h"
#include "status/status.h"

/* A call into LTTng that takes longer is worth a word: where all is well none takes a second. */
#define HANGS_NS (5 * NS_PER_SECOND)
/* Silence for so long, although programs are there. */
#define QUIET_NS (30 * NS_PER_SECOND)

struct round {
	const struct status *status;
	struct finding *findings;
	size_t count;
};

/* A new finding, whose `fix` is @fix. */
static void find(struct round *round, const char *code, const char *fix, const char *what, ...)
	__attribute__((format(printf, 4, 5)));
static void find(struct round *round, const char *code, const char *fix, const char *what, ...)
{
	struct finding *finding = &round->findings[round->count];
	va_list args;

	if (round->count == FINDINGS_MAX)
		return;
	round->count++;
	finding->code = code;
	g_strlcpy(finding->fix, fix, sizeof(finding->fix));
	va_start(args, what);
	vsnprintf(finding->what, sizeof(finding->what), what, args);
	va_end(args);
}

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(getuid());

	return user ? user->pw_name : "the agent's";
}

static void examine_session_daemon(struct round *round)
{
	const struct status *status = round->status;
	const char *group = status->config->tracing_group;
	g_autofree char *join = NULL;

	switch (sessiond_ask(group)) {
	case SESSIOND_MISSING:
		find(round, "no-session-daemon",
			*group ? "systemctl start lttng-sessiond"
			       : "lttng-sessiond --daemonize, as this user",
			"no LTTng session daemon runs");
		return;
	case SESSIOND_DENIED:
		join = g_strdup_printf("usermod --append --groups %s %s, then restart the agent",
			*group ? group : "tracing", user_name());
		find(round, "no-permission", join,
			"an LTTng session daemon runs, but user %s may not talk to it: it is for root and "
			"group %s",
			user_name(), *group ? group : "tracing");
		return;
	default:
		break;
	}
	if (strstr(status->collector.error, "relay"))
		find(round, "no-relay-daemon",
			"systemctl start blkin-relayd, or lttng-relayd with the ports of [session] (`blkin "
			"validate --print` shows them)",
			"%s", status->collector.error);
	else
		find(round, "no-session", "the agent tries on by itself; if it lasts, restart lttng-sessiond",
			"%s", status->collector.error[0] ? status->collector.error : "the agent is starting");
}

static void examine_programs(struct round *round)
{
	const struct status *status = round->status;
	const struct census *census = &status->census;
	int programs = census->known ? census->programs : status->activity.programs;

	if (census->events_off)
		find(round, "events-disabled",
			"the agent enables them again within seconds; if it does not, restart the agent",
			"LTTng session `%s` records no blkin event: somebody has disabled them",
			status->collector.session);
	if (programs == 0)
		find(round, "no-program",
			"start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			"says "
			"whether it finds libblkin-provider.so.1 (package libblkin-provider)",
			"no program is registered with LTTng");
	else if (census->known && census->blkin == 0)
		find(round, "no-blkin",
			"start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			"says "
			"whether it finds libblkin-provider.so.1",
			"%d program%s registered with LTTng, as %s, but none records with blkin", programs,
			programs == 1 ? " is" : "s are", census->other);
	if (census->stopped)
		find(round, "program-stopped", "let it go on (kill -CONT), or end it",
			"a traced program, process %d, is stopped: programs were not counted, as asking one "
			"that "
			"cannot answer cuts it off from LTTng",
			census->stopped);
}

static bool is_quiet(const struct status *status)
{
	int64_t since = MAX(status->activity.last_event, status->collector.since);

	return clock_monotonic() - since >= QUIET_NS || !status->activity.last_event;
}

/* What makes programs that are there record less, or nothing. */
static void examine_choice(struct round *round)
{
	const struct status *status = round->status;
	size_t before = round->count;
	g_autofree char *level = NULL;

	if (status->census.sampling_off)
		find(round, "sampling-off", "blkin sampling default, or blkin sampling 1/N",
			"`blkin sampling` tells programs to record nothing");
	if (status->config->level < 7 && is_quiet(status)) {
		level = config_get(status->config, "session", "level");
		find(round, "level", "a lower `level` in [session], as debug",
			"only spans of level %s and above are recorded", level);
	}
	if (round->count == before && status->census.known && status->census.blkin && is_quiet(status))
		find(round, "quiet",
			"do they run the code that records? BLKIN_SAMPLE in their environment may say 1/N",
			"%d program%s with blkin, but no event comes", status->census.blkin,
			status->census.blkin == 1 ? " is there" : "s are there");
}

/* What the uplink's words mean for whoever has to mend it. */
static const struct remedy {
	const char *words, *code, *fix;
} remedies[] = {
	{"connection refused", "output-refused",
		"start the collector there (Zipkin: COLLECTOR_SCRIBE_ENABLED=true), or mend `server` in "
		"[output]"},
	{"no address for", "output-dns", "mend the host's name in `server` of [output], or the name service"},
	{"no answer within", "output-timeout",
		"is the collector well, and does `server` in [output] name a port that speaks what `type` "
		"says?"},
	{"timed out", "output-timeout", "is the host up, and does no firewall drop the packets?"},
	{"unreachable", "output-unreachable", "is the host up, and is there a route to it?"},
	{"No route", "output-unreachable", "is the host up, and is there a route to it?"},
};

static void examine_output(struct round *round, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;
	const struct remedy other = {NULL, "output",
		"does `server` in [output] name the collector's Scribe port, 9410 for Zipkin? Its log may "
		"tell more"};
	const struct remedy *remedy = &other;

	if (uplink->up || !uplink->error[0] || output->account.row[SPANS_QUEUED] == 0)
		return;
	for (size_t i = 0; remedy == &other && i < G_N_ELEMENTS(remedies); i++)
		if (strcasestr(uplink->error, remedies[i].words))
			remedy = &remedies[i];
	find(round, remedy->code, remedy->fix, "the collector at %s takes no spans: %s", uplink->server,
		uplink->error);
}

static void examine_configuration(struct round *round)
{
	const struct reload_state *reload = round->status->reload;

	if (reload->failed)
		find(round, "reload-failed",
			"`blkin validate` says what is wrong: correct it, and reload again",
			"the configuration was changed, but could not be reloaded: the agent keeps the one "
			"that it has");
	if (reload->waiting[0])
		find(round, "restart-due", "systemctl restart blkin-agent, which loses no span",
			"settings were changed that take effect after a restart: %s", reload->waiting);
}

size_t doctor_examine(const struct status *status, struct finding findings[FINDINGS_MAX])
{
	struct round round = {status, findings, 0};
	int64_t still = clock_monotonic() - status->progress;

	if (still >= HANGS_NS)
		find(&round, "lttng-hangs", "restart the one that hangs: lttng-sessiond or lttng-relayd",
			"a call into LTTng has not come back for %" PRId64 " s", still / NS_PER_SECOND);
	else if (!status->collector.collecting)
		examine_session_daemon(&round);
	else {
		examine_programs(&round);
		if (round.count == 0)
			examine_choice(&round);
	}
	for (size_t i = 0; i < status->output_count; i++)
		examine_output(&round, &status->outputs[i]);
	examine_configuration(&round);
	return round.count;
}
