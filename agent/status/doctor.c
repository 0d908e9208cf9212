/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/doctor.h"

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "config/sources.h"

/* A call into LTTng that takes longer is worth a word: where all is well none takes a second. */
#define HANGS_NS (5 * NS_PER_SECOND)

/* They are read again for each answer: they are small, and only what is in them tells. */
static bool files_changed(const struct status *status)
{
	g_autofree char *hash = status->config->path ? sources_hash(status->config->path) : NULL;

	return g_strcmp0(hash, status->reload->read) != 0;
}

static void examine_configuration(struct findings *findings, const struct status *status)
{
	const struct reload_state *reload = status->reload;

	if (*status->http_error)
		finding_add(findings, "http-port",
			"if something else listens there (`ss -ltnp` names it), end it: the agent opens the "
			"port "
			"by itself once it can; or set another `http` in [agent], and reload the agent",
			"nobody can scrape the agent: it cannot listen on %s: %s", status->config->http,
			status->http_error);
	if (status->forgets)
		finding_add(findings, "no-checkpoint",
			"make `state-directory` in [agent] a folder that the agent's user may write, in a "
			"unit also "
			"ReadWritePaths= (`blkin validate` tries it), and restart the agent",
			"no checkpoint can be kept in %s: a stop ends the session, and what is recorded "
			"while the agent is not running is lost",
			status->config->state_directory);
	if (reload->failed)
		finding_add(findings, "reload-failed",
			"`blkin validate` says what is wrong in the files, and the agent's log what it could "
			"not do: "
			"correct it, and reload again",
			"the configuration was changed, but could not be reloaded: the agent keeps the "
			"old one");
	else if (files_changed(status))
		finding_add(findings, "reload-due",
			"systemctl reload blkin-agent, which loses no span; `blkin validate` tries it before",
			"%s, or a file in %s.d, was changed, and the agent has not read it since",
			status->config->path, status->config->path);
	if (reload->waiting[0])
		finding_add(findings, "restart-due", "systemctl restart blkin-agent, which loses no span",
			"settings were changed that take effect after a restart: %s", reload->waiting);
}

void doctor_examine(const struct status *status, struct findings *findings)
{
	enum reason reason = status->supervisor.reason;
	int64_t still = clock_monotonic() - status->progress;
	char text[HUMAN_MAX];

	findings->count = 0;
	findings->about = "session";
	if (still >= HANGS_NS && !doctor_daemon_is_named(reason))
		finding_add(findings, "lttng-hangs",
			"restart the one that hangs: lttng-sessiond or lttng-relayd",
			"a call into LTTng has not returned for %s",
			human_time(text, still - still % NS_PER_SECOND));
	else
		findings_add_session(findings, status);
	findings_add_unsteady(findings, status);
	findings_add_left_out(findings, status);
	if (findings->count == 0)
		findings_add_session_socket(findings, status);
	/* that it is read from files says nothing of whether anything comes */
	if (findings->count == 0 || (reason == REASON_UNREADABLE && status->supervisor.collecting))
		findings_add_canary(findings, status);
	findings->about = "programs";
	if (findings->count == 0)
		findings_add_programs(findings, status);
	if (findings->count == 0)
		findings_add_choice(findings, status);
	findings_add_registering(findings, status);
	findings->about = "events";
	findings_add_omission(findings, status, &status->supervisor.omissions.events);
	if (status->supervisor.omissions.kernel.reason != status->supervisor.reason) /* which is told */
		findings_add_omission(findings, status, &status->supervisor.omissions.kernel);
	findings_add_flight(findings, status);
	findings->about = "programs";
	findings_add_misuses(findings, status);
	findings->about = "node";
	findings_add_room(findings, status);
	findings->about = "losses";
	findings_add_losses(findings, status);
	findings->about = "outputs";
	findings_add_outputs(findings, status);
	findings->about = "inputs";
	for (size_t i = 0; i < INPUTS; i++)
		findings_add_input(findings, &status->inputs[i], input_keys[i]);
	findings->about = "agent";
	examine_configuration(findings, status);
}
