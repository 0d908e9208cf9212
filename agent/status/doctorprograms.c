/* SPDX-License-Identifier: BSD-2-Clause */
/* Programs that are kept from being registered, and what others record wrongly: events that are rejected, and
 * spans that have lost some of theirs. */
#include <inttypes.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/doctor.h"

/* What a program did so long ago it does not do any more, as far as anybody knows. */
#define LASTS_NS (60 * NS_PER_SECOND)

/* The session daemon waits for so long for a connection that says nothing; others may wait behind one. */
#define HELD_NS (5 * NS_PER_SECOND)

#define REJECTED "events are rejected, of %s: %s"

/* "programs of user 1000, last of span `read` of service `osd`"; the names for those who may see them. */
static char *whose(const struct misuse *misuse, bool names)
{
	GString *text = g_string_new("programs of ");

	if (misuse->has_user)
		g_string_append_printf(text, "user %" PRIu32, misuse->user);
	else
		g_string_append(text, "an unknown user");
	if (names && (*misuse->span || *misuse->service))
		g_string_append(text, ", last of");
	if (names && *misuse->span)
		g_string_append_printf(text, " span `%s`", misuse->span);
	if (names && *misuse->service)
		g_string_append_printf(text, "%s service `%s`", *misuse->span ? " of" : "", misuse->service);
	return g_string_free(text, FALSE);
}

static void add_truncated(
	struct findings *findings, const struct status *status, const struct misuse *misuse, const char *who)
{
	g_autofree char *fix = NULL;
	char size[HUMAN_MAX];

	human_size(size, status->activity.memory.event_max);
	fix = g_strdup_printf(
		"keep each annotation and each tag below %s, as a larger one cannot be recorded on "
		"this node; if they are smaller, a ring buffer was full: raise `memory` in "
		"[session]",
		size);
	finding_add(findings, "spans-truncated", fix,
		"spans have come without some of their annotations and tags, which LTTng has discarded, and "
		"have "
		"the tag `blkin.truncated`: of %s, without %s",
		who, misuse->what);
}

static void examine(struct findings *findings, const struct status *status, enum misuse_kind kind)
{
	const struct misuse *misuse = &status->supervisor.misuses[kind].is;
	g_autofree char *who = whose(misuse, status->names);

	switch (kind) {
	case MISUSE_MALFORMED:
		finding_add(findings, "events-malformed",
			"find the program that writes events named as blkin's or zipkin's by itself (`ps "
			"-eLo "
			"user,pid,comm | grep -e -ust` names the traced ones), and let it use "
			"<blkin/blkin.h>",
			REJECTED, who, misuse->what);
		break;
	case MISUSE_ID:
		finding_add(findings, "events-id",
			"let the program give its spans ids other than 0: blkin_id() makes them", REJECTED,
			who, misuse->what);
		break;
	case MISUSE_TIME:
		finding_add(findings, "events-time",
			"let the program give times from blkin_now() that have been: a span is recorded at "
			"its "
			"finish, and no time in it can be later (see blkin.h(3)); is LTTNG_UST_CLOCK_PLUGIN "
			"set "
			"for it?",
			REJECTED, who, misuse->what);
		break;
	case MISUSE_CLOCK:
		finding_add(findings, "program-clock",
			"unset LTTNG_UST_CLOCK_PLUGIN for these programs, or set the same for them and for "
			"lttng-sessiond, and restart both; if it is not set, the index is damaged: see to "
			"the disk of "
			"`relay-output`",
			"what %s record may not come, and is counted as lost once the session ends: %s", who,
			misuse->what);
		break;
	default:
		add_truncated(findings, status, misuse, who);
	}
}

bool doctor_registration_is_held(const struct status *status)
{
	int64_t since = status->activity.registering_since;

	/* one that does nothing at all has a finding of its own */
	return since && clock_monotonic() - since >= HELD_NS &&
	       status->supervisor.reason != REASON_SESSION_DAEMON_HANGS;
}

void findings_add_registering(struct findings *findings, const struct status *status)
{
	int64_t waited = clock_monotonic() - status->activity.registering_since;
	int waiting = status->activity.registering;
	bool one = waiting == 1;
	char time[HUMAN_MAX];

	if (!doctor_registration_is_held(status))
		return;
	finding_add(findings, "registration-held",
		"`blkin status`, as root, names the processes that hold it up: end them; if it names none, "
		"and this lasts, systemctl restart lttng-sessiond",
		"%d connection%s to be registered by lttng-sessiond, %s %s: programs that start now are not "
		"recorded, and may wait in their start",
		waiting, one ? " waits" : "s wait", one ? "for" : "the longest for",
		human_time(time, waited - waited % NS_PER_SECOND));
}

void findings_add_misuses(struct findings *findings, const struct status *status)
{
	int64_t now = clock_monotonic();

	for (int i = 0; i < MISUSES; i++) {
		const struct misuse_state *state = &status->supervisor.misuses[i];

		if (state->at && now - state->at < LASTS_NS)
			examine(findings, status, i);
	}
}
