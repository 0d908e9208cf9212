/* SPDX-License-Identifier: BSD-2-Clause */
/* The canary, the agent's own event: whether it comes back, and if not, where it stays. */
#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/doctor.h"

/* For so long, and CANARY_TURNS, it may be away before that is worth a word: the reader finds out why within
 * that, mostly. */
#define LOST_NS (10 * NS_PER_SECOND)
/* Events of others that came so lately say that it is only behind, */
#define COMES_NS (3 * NS_PER_SECOND)
/* unless that lasts. */
#define BEHIND_NS (60 * NS_PER_SECOND)

/* Where it stays, and what to do, when each that can be asked was asked. */
static const struct held {
	const char *by, *fix;
} helds[] = {
	[STAGE_SESSION_DAEMON] = {"lttng-sessiond does not answer", "systemctl restart lttng-sessiond"},
	[STAGE_CONSUMER] = {"lttng-consumerd does not pass it on",
		"end it and lttng-sessiond together (systemctl kill -s KILL lttng-sessiond): systemd starts "
		"them again, and the agent goes on by itself"},
	[STAGE_RELAY] = {"lttng-relayd does not answer", "systemctl restart blkin-relayd"},
	[STAGE_READER] = {"the agent's reader has not come to it",
		"if it lasts, read the agent's log (journalctl -u blkin-agent), and restart the agent"},
};

int64_t doctor_canary_limit(const struct status *status)
{
	return LOST_NS + CANARY_TURNS * (int64_t)status->config->live_timer;
}

bool doctor_canary_is_lost(const struct status *status)
{
	const struct canary_state *canary = &status->canary;
	int64_t last = status->activity.last_event, now = clock_monotonic(), away = now - canary->since;
	int64_t beyond = away - doctor_canary_limit(status);
	bool behind = last && now - last < COMES_NS && beyond < BEHIND_NS - LOST_NS;

	return canary->mood == CANARY_UNRECORDED || (canary->mood == CANARY_LATE && beyond >= 0 && !behind);
}

/* While events of others come, all daemons pass them on. */
static enum canary_stage stage_of(const struct status *status)
{
	int64_t last = status->activity.last_event;

	return last && clock_monotonic() - last < COMES_NS ? STAGE_READER : status->canary.stage;
}

void findings_add_canary(struct findings *findings, const struct status *status)
{
	const struct canary_state *canary = &status->canary;
	const struct held *held = &helds[stage_of(status)];
	int64_t away = clock_monotonic() - canary->since;
	char time[HUMAN_MAX];

	if (!doctor_canary_is_lost(status))
		return;
	/* it is kept from being registered, as others are */
	if (canary->mood == CANARY_UNRECORDED && doctor_registration_is_held(status))
		return;
	human_time(time, away - away % NS_PER_SECOND);
	if (canary->mood == CANARY_UNRECORDED)
		finding_add(findings, "canary-unrecorded", helds[STAGE_SESSION_DAEMON].fix,
			"the agent's own event has not been recorded for %s, so those of other programs may "
			"not be, either: lttng-sessiond has not enabled it",
			time);
	else
		finding_add(findings, "canary-late", held->fix,
			"an event that the agent itself recorded %s ago has not come back, so what other "
			"programs record may not come, either: %s",
			time, held->by);
}
