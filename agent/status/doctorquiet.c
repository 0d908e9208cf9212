/* SPDX-License-Identifier: BSD-2-Clause */
/* Why no event comes, where nothing is wrong with what collects them. */
#include "status/doctor.h"

#include <glib.h>

#include "base/clock.h"
#include "core/event.h"

/* Without programs, while events came lately: they are short ones. */
#define BETWEEN_NS (30 * NS_PER_SECOND)
/* Silence for so long, although programs are there: of those that have recorded before, and of new ones. */
#define QUIET_NS (120 * NS_PER_SECOND)
#define QUIET_AT_FIRST_NS (5 * NS_PER_SECOND)

/* Whether no event has come for so long, nor could have. Where some came to an earlier run, they may have
 * come until this one began. */
static bool is_silent(const struct status *status, int64_t time)
{
	int64_t last = status->activity.last_event;

	if (!last && status->rows.row[EVENTS_READ] > 0)
		last = status->begun;
	return !last || clock_monotonic() - last >= time;
}

/* Whether spans come by an input: then programs that record some are not what is missing. */
static bool takes_from_others(const struct status *status)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (*status->inputs[i].address && status->rows.row[SPANS_RECEIVED] > 0)
			return true;
	return false;
}

void findings_add_programs(struct findings *findings, const struct status *status)
{
	if (status->activity.programs == 0 && is_silent(status, BETWEEN_NS) &&
		!doctor_registration_is_held(status) && !takes_from_others(status))
		finding_add_no_program(findings, config_records_events(status->config),
			status->activity.last_event || status->rows.row[EVENTS_READ] > 0);
}

/* No event comes, although the programs have had the time to record one. */
static bool is_quiet(const struct status *status)
{
	const struct activity_state *activity = &status->activity;
	int64_t since = MAX(activity->programs_since, status->supervisor.since);

	return clock_monotonic() - since >= QUIET_AT_FIRST_NS && is_silent(status, QUIET_NS);
}

/* What makes programs that are there record less. */
void findings_add_choice(struct findings *findings, const struct status *status)
{
	if (status->config->level >= 7 || !is_quiet(status))
		return;
	finding_add(findings, "level", "set a lower `level` in [session], debug for example",
		"only spans of level %s and above are recorded", event_level_names[status->config->level]);
}
