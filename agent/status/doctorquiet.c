/* SPDX-License-Identifier: BSD-2-Clause */
/* Why no event comes, where nothing is wrong with what collects them. */
#include "status/doctor.h"

#include <glib.h>

#include "base/clock.h"
#include "config/load.h"

/* Without programs, while events came lately: they are short ones. */
#define BETWEEN_NS (30 * NS_PER_SECOND)
/* Silence for so long, although programs are there: of those that have recorded before, and of new ones. */
#define QUIET_NS (120 * NS_PER_SECOND)
#define QUIET_AT_FIRST_NS (5 * NS_PER_SECOND)

/* Whether no event has come for so long, nor could have. */
static bool is_silent(const struct status *status, int64_t time)
{
	return !status->activity.last_event || clock_monotonic() - status->activity.last_event >= time;
}

/* Whether spans come by an input: then programs that record some are not what is missing. */
static bool takes_from_others(const struct status *status)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (*status->inputs[i].address && status->rows.row[SPANS_RECEIVED] > 0)
			return true;
	return false;
}

static const char *another_program(bool events)
{
	return events ? "start one that includes <blkin/blkin.h>, or one with tracepoints that [events] names"
		      : "start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			"says so if it cannot be traced: it needs libblkin-provider.so.1 (package "
			"libblkin-provider)";
}

/* Programs have tracepoints, but not ours. Where [events] is for some, those that have recorded any are
 * right. */
static void examine_others(struct findings *findings, const struct status *status, int programs, bool events)
{
	const char *other = status->census.other;

	if (!events)
		finding_add(findings, "no-blkin",
			"start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			"says so if it cannot be traced",
			"%d program%s registered with LTTng, as %s, but none records with blkin", programs,
			programs == 1 ? " is" : "s are", other);
	else if (!status->activity.last_event)
		finding_add(findings, "no-blkin",
			"have one do what [events] names, or correct `names` and `spans` there, by the names "
			"that `lttng list --userspace` has; or start one that includes <blkin/blkin.h>",
			"%d program%s registered with LTTng, as %s, but none has recorded an event that "
			"[events] names, or records with blkin",
			programs, programs == 1 ? " is" : "s are", other);
}

void findings_add_programs(struct findings *findings, const struct status *status)
{
	const bool events = config_records_events(status->config);
	const struct census *census = &status->census;
	int programs = census->known ? census->programs : status->activity.programs;

	/* a session that is about to be read has none yet */
	if (census->events_off && status->supervisor.collecting)
		finding_add(findings, "events-disabled",
			"the agent enables them again within seconds; if it does not, restart the agent",
			"LTTng session `%s` records no blkin event: somebody has disabled them",
			status->supervisor.session);
	if (programs == 0 && is_silent(status, BETWEEN_NS) && !doctor_registration_is_held(status) &&
		!takes_from_others(status))
		finding_add(findings, "no-program", another_program(events),
			"no program is registered with LTTng");
	else if (programs > 0 && census->known && census->blkin == 0 && is_silent(status, BETWEEN_NS))
		examine_others(findings, status, programs, events);
	if (census->strangers)
		finding_add(findings, "other-lttng",
			"in their container, install the LTTng (package liblttng-ust1) of the node's "
			"version, the "
			"first two numbers of `lttng-sessiond --version`, and start them again",
			"%d program%s not traced, %s%s: LTTng's library there is of another version than the "
			"session daemon (lttng-ust-wait-%d, not -%d)",
			census->strangers, census->strangers == 1 ? " is" : "s are",
			census->strangers == 1 ? "" : "among them ", census->stranger,
			census->stranger_interface, census->interface);
	if (census->stopped)
		findings_add_stopped(findings, status);
}

/* No event comes, although the programs have had the time to record one. */
static bool is_quiet(const struct status *status)
{
	const struct activity_state *activity = &status->activity;
	int64_t since = MAX(activity->programs_since, status->supervisor.since);

	return clock_monotonic() - since >= QUIET_AT_FIRST_NS && is_silent(status, QUIET_NS);
}

/* What makes programs that are there record less, or nothing. */
void findings_add_choice(struct findings *findings, const struct status *status)
{
	size_t before = findings->count;
	g_autofree char *level = NULL;

	if (status->census.sampling_off)
		finding_add(findings, "sampling-off",
			*status->config->tracing_group
				? "run `blkin sampling default`, or `blkin sampling 1/N`"
				: "run `blkin sampling default --user`, or `blkin sampling 1/N --user`",
			"`blkin sampling` tells programs to record nothing");
	if (status->config->level < 7 && is_quiet(status)) {
		level = config_get(status->config, "session", "level");
		finding_add(findings, "level", "set a lower `level` in [session], debug for example",
			"only spans of level %s and above are recorded", level);
	}
	if (findings->count == before && status->census.known && status->census.blkin && is_quiet(status))
		finding_add(findings, "quiet",
			"is the code that records run? `blkin sampling`, or BLKIN_SAMPLE in the environment, "
			"may say 1/N",
			"%d program%s with blkin, but no event comes", status->census.blkin,
			status->census.blkin == 1 ? " is there" : "s are there");
}
