/* SPDX-License-Identifier: BSD-2-Clause */
/* A session that is there: whether it is an agent's, and setting it right again. See session.h. */
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "session/beside.h"
#include "session/flightsession.h"
#include "session/tracing.h"
#include "session/tracking.h"

/* Whether the session has our channel in this domain, or none: an agent was killed before there was one, and
 * nothing is recorded. */
static bool has_our_channel(const char *name, bool kernel)
{
	struct lttng_handle *handle = kernel ? tracing_open_kernel(name) : tracing_open(name);
	struct lttng_channel *channels = NULL;
	int count = handle ? lttng_list_channels(handle, &channels) : -LTTNG_ERR_NOMEM;
	bool found = count == 0 || count == -LTTNG_ERR_UST_CHAN_NOT_FOUND ||
		     count == -LTTNG_ERR_KERN_CHAN_NOT_FOUND;

	for (int i = 0; i < count; i++)
		found |= !strcmp(channels[i].name, kernel ? KERNEL_CHANNEL : CHANNEL);
	free(channels);
	if (handle)
		lttng_destroy_handle(handle);
	return found;
}

/* Whether an agent with this configuration may have made @session, or begun to. */
static bool is_agents(const struct config *config, const struct lttng_session *session)
{
	g_autofree char *control = g_strdup_printf(":%" G_GUINT64_FORMAT "/", config->relay_control_port);
	g_autofree char *data = g_strdup_printf("[data: %" G_GUINT64_FORMAT "]", config->relay_data_port);
	struct lttng_domain *domains = NULL;
	int count;
	bool ours = true;

	if (!session->live_timer_interval || !strstr(session->path, control) || !strstr(session->path, data))
		return false;
	count = lttng_list_domains(session->name, &domains);
	for (int i = 0; i < count; i++)
		ours &= (domains[i].type == LTTNG_DOMAIN_UST || domains[i].type == LTTNG_DOMAIN_KERNEL) &&
			has_our_channel(session->name, domains[i].type == LTTNG_DOMAIN_KERNEL);
	free(domains);
	return count >= 0 && ours;
}

enum session_status session_check(
	const struct config *config, const char *name, char *error, size_t error_size)
{
	LOCK_TRACING;
	struct lttng_session *sessions = NULL;
	int count;
	bool other = false;

	tracing_prepare(config);
	count = lttng_list_sessions(&sessions);
	for (int i = 0; i < count; i++)
		other |= !strcmp(sessions[i].name, name) && !is_agents(config, &sessions[i]);
	free(sessions);
	if (count < 0)
		return tracing_failure(count, error, error_size, "list the LTTng sessions");
	if (!other)
		return SESSION_OK;
	snprintf(error, error_size,
		"there is already an LTTng session `%s` that this agent did not create, and it is left "
		"alone: set another `name` in [session], or, if nobody needs that session, destroy it (lttng "
		"destroy %s)",
		name, name);
	return SESSION_FOREIGN;
}

static int repair_channel(const struct config *config, struct lttng_handle *handle, const char **changed)
{
	bool there, enabled;
	int code = tracing_find_channel(handle, CHANNEL, &there, &enabled);

	if (code != 0 || enabled)
		return code;
	*changed = "its channel was disabled";
	return tracing_enable_channel(config, handle, CHANNEL);
}

/* Those that sessions of before 0.2 do not have. */
static bool is_new(const char *name)
{
	return g_str_has_prefix(name, "blkin:span2");
}

/* Whether the events that are on are those of a level, in a session of an @older version or of ours;
 * otherwise somebody has disabled some. */
static bool are_of_a_level(const bool *on, bool older)
{
	bool ended = false;

	for (size_t i = 0; i < TRACING_EVENTS; i++) {
		if (older && is_new(tracing_events[i].name)) {
			if (on[i])
				return false;
			continue;
		}
		if (on[i] ? ended : tracing_events[i].level == 0)
			return false;
		ended |= !on[i];
	}
	return true;
}

static int repair_events(struct lttng_handle *handle, uint64_t level, struct session_repairs *repairs)
{
	bool on[TRACING_EVENTS], right = true;
	int code = tracing_list_events(handle, on);

	for (size_t i = 0; i < TRACING_EVENTS; i++)
		right &= on[i] == (tracing_events[i].level <= level);
	if (code != 0 || right)
		return code;
	if (are_of_a_level(on, false))
		repairs->level = true;
	else if (are_of_a_level(on, true))
		repairs->older = true;
	else
		repairs->what = "its events were disabled";
	return tracing_set_events(handle, level, on);
}

static int repair_start(const char *name, bool active, const char **changed)
{
	if (active)
		return 0;
	*changed = "it was stopped";
	return tracing_start(name);
}

static int repair(const struct config *config, const char *name, bool active, uint64_t level,
	struct anew anew, struct session_repairs *repairs)
{
	struct lttng_handle *handle = tracing_open(name);
	int code = handle ? repair_channel(config, handle, &repairs->what) : -LTTNG_ERR_NOMEM;

	if (code == 0)
		code = repair_events(handle, level, repairs);
	if (code == 0)
		code = tracking_repair(config, name, anew.events, &repairs->what);
	if (code == 0)
		beside_enable(config, name, anew, &repairs->omissions, &repairs->what);
	if (code == 0)
		code = repair_start(name, active, &repairs->what);
	if (handle)
		lttng_destroy_handle(handle);
	return code;
}

enum session_status session_repair(const struct config *config, const struct session_identity *session,
	uint64_t level, struct anew anew, struct session_repairs *repairs)
{
	LOCK_TRACING;
	uint64_t found = 0;
	bool active = false;
	int code;

	*repairs = (struct session_repairs){.omissions = repairs->omissions};
	tracing_prepare(config);
	code = tracing_find_session(session->name, &found, &active);
	if (code == -LTTNG_ERR_SESS_NOT_FOUND || (code == 0 && found != session->created))
		return SESSION_NONE;
	if (code == 0)
		code = repair(config, session->name, active, level, anew, repairs);
	if (code == 0)
		flightsession_repair(config, anew.kernel, &repairs->omissions.kernel, &repairs->what);
	return code == 0 ? SESSION_OK
			 : tracing_failure(code, repairs->error, sizeof(repairs->error),
				   "set the LTTng session right");
}
