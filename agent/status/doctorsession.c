/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/doctor.h"

#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/group.h"
#include "session/relayport.h"
#include "session/sessiond.h"

/* What is over before is not worth a word: a reader that ends has a successor at once. */
#define LASTS_NS (2 * NS_PER_SECOND)
/* So long a start may take. */
#define STARTS_NS (5 * NS_PER_SECOND)
/* A session that comes and goes is steady again once it has not gone for so long. */
#define STEADY_NS (15 * NS_PER_SECOND)

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(getuid());

	return user ? user->pw_name : "the agent's";
}

/* Who may talk to the session daemon: mostly the members of the group that the configuration names. */
static void add_no_permission(struct findings *findings, const char *group)
{
	g_autofree char *real = sessiond_group(), *fix = NULL;
	const char *user = user_name();
	bool exists = group_find(group, NULL);

	if (!real) {
		fix = g_strdup_printf("groupadd --system --force %s; usermod --append --groups %s %s; then "
				      "restart lttng-sessiond, and then the agent",
			group, group, user);
		finding_add(findings, "no-permission", fix,
			"an LTTng session daemon runs, but user %s may not talk to it: it is for root "
			"alone%s%s%s",
			user, exists ? "" : ", as there is no group `", exists ? "" : group,
			exists ? "" : "`");
	} else if (strcmp(real, group) != 0) {
		fix = g_strdup_printf(
			"set `tracing-group = %s` in [session]; usermod --append --groups %s %s; "
			"then restart the agent",
			real, real, user);
		finding_add(findings, "no-permission", fix,
			"an LTTng session daemon runs, but user %s may not talk to it: it is for root and "
			"group "
			"%s, and `tracing-group` in [session] names %s%s",
			user, real, group, exists ? "" : ", which does not exist");
	} else {
		fix = g_strdup_printf("usermod --append --groups %s %s, then restart the agent", group, user);
		finding_add(findings, "no-permission", fix,
			"an LTTng session daemon runs, but user %s may not talk to it: it is for root and "
			"group "
			"%s",
			user, group);
	}
}

/* Of the session daemon the doctor asks itself: what the reader found may be seconds old. */
static bool examine_session_daemon(struct findings *findings, const struct status *status)
{
	const char *group = status->config->tracing_group;

	switch (sessiond_ask(group)) {
	case SESSIOND_MISSING:
		finding_add(findings, "no-session-daemon",
			*group ? "systemctl start lttng-sessiond"
			       : "lttng-sessiond --daemonize, as this user",
			"no LTTng session daemon runs");
		return true;
	case SESSIOND_DENIED:
		add_no_permission(findings, *group ? group : "tracing");
		return true;
	default:
		return false;
	}
}

/* The session at hand is read all the same: somebody may have tidied up /run. */
void findings_add_session_socket(struct findings *findings, const struct status *status)
{
	if (status->asks && status->supervisor.collecting &&
		sessiond_ask(status->config->tracing_group) == SESSIOND_MISSING)
		finding_add(findings, "no-session-daemon",
			*status->config->tracing_group ? "systemctl restart lttng-sessiond"
						       : "start lttng-sessiond again, as this user",
			"LTTng's session daemon does not answer where its socket should be: programs that "
			"record already are still read, but those that start now may not be traced");
}

#define BY_ITSELF "the agent tries again by itself; if this lasts, "

/* A session daemon that is to end waits for its consumer daemon, so it alone cannot be restarted. */
#define END_LTTNG                                                                                            \
	"end it and lttng-sessiond together (systemctl kill -s KILL lttng-sessiond): systemd starts them "   \
	"again, "                                                                                            \
	"and the agent goes on by itself"

#define LET_GO_ON "if somebody stopped it, let it go on (pkill -CONT lttng-consumerd); or else " END_LTTNG

/* Nobody but the user can tell which of these it is. */
#define LEFT_OUT                                                                                             \
	"find the program of that user which writes events named as blkin's by itself, or into LTTng's "     \
	"buffers (`ps -eLo user,pid,comm | grep -e -ust` names the traced ones), and end it; nothing that "  \
	"the agent could be set to helps"

/* The same where the reader has too little memory for them. */
#define TOO_LARGE                                                                                            \
	"if [events] names events of which some program has very many, name fewer and reload the agent, "    \
	"which begins a new session; or else raise `reader-memory` in [session], and restart it"

/* What comes between is the restart of the session daemon, which may be the user's own. */
#define INSTALL_TRACER "apt install lttng-modules-dkms, modprobe lttng-tracer, then "
#define OR_ON_THE_HOST "; in a container let an agent on the host record the kernel, and remove [kernel] here"

/* What to do if the session is not read, or not all of it. */
static const struct remedy {
	const char *code, *fix;
} remedies[] = {
	[REASON_STARTING] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_NO_SESSION_DAEMON] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_NO_PERMISSION] = {"no-permission",
		"add the agent's user to the group of LTTng's session daemon, and restart the agent; one in "
		"a "
		"container takes a user of that number where the daemon runs (useradd --system --user-group "
		"--uid 990 --groups tracing blkin), and goes on by itself"},
	[REASON_SESSION_DAEMON_HANGS] = {"lttng-hangs", "systemctl restart lttng-sessiond"},
	[REASON_SESSION_DAEMON_WAITS] = {"program-stopped",
		"continue the programs that are stopped (`blkin status`, as root, names them; kill -CONT), "
		"or end them; if none is, systemctl restart lttng-sessiond"},
	[REASON_CONSUMER_HANGS] = {"consumer-hangs", LET_GO_ON},
	[REASON_CONSUMER_STILL] = {"consumer-still", END_LTTNG},
	[REASON_CONSUMER_GONE] = {"consumer-gone", "systemctl restart lttng-sessiond"},
	[REASON_NO_RELAY] = {"no-relay-daemon",
		"systemctl start blkin-relayd, or lttng-relayd with the ports of [session] (`blkin validate "
		"--print` shows them); if it does not start, `journalctl -u blkin-relayd` says why"},
	[REASON_RELAY_HANGS] = {"lttng-hangs", "systemctl restart blkin-relayd; if it does not start then, "
					       "another program may have its port: "
					       "`journalctl -u blkin-relayd` says so"},
	[REASON_RELAY_DISK_FULL] = {"relay-disk-full", "make room there, or lower `disk` in [session]"},
	[REASON_RELAY_STALLS] = {"relay-stalls", BY_ITSELF "systemctl restart blkin-relayd"},
	[REASON_STREAM_STUCK] = {"stream-stuck",
		"the agent replaces the LTTng session by itself, less and less often if that happens again; "
		"end the program if it is stopped, and find out why that user's programs are killed; LTTng "
		"2.15 and later get past such an event by themselves"},
	[REASON_RELAY_HOLDS_SESSION] = {"no-session", BY_ITSELF "systemctl restart blkin-relayd"},
	[REASON_FOREIGN_SESSION] = {"foreign-session", "set another `name` in [session], or, if nobody needs "
						       "that session, destroy it (lttng destroy)"},
	[REASON_SESSION_LOST] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_UNREADABLE] = {"session-unreadable", "read the agent's log: journalctl -u blkin-agent"},
	[REASON_LEFT_OUT] = {"left-out", LEFT_OUT},
	[REASON_FILES_UNREADABLE] = {"files-unreadable",
		BY_ITSELF "check rights and room of `relay-output` in [session] and of the state directory"},
	[REASON_LTTNG_FAILED] = {"no-session",
		BY_ITSELF "restart lttng-sessiond and blkin-relayd; `journalctl -u lttng-sessiond -u "
			  "blkin-relayd` says what is wrong with them"},
	[REASON_READER_ENDED] = {"reader-ended",
		BY_ITSELF "read the agent's log for whose programs it is: journalctl -u blkin-agent"},
	[REASON_EVENTS_FAILED] = {"events-failed", "correct `names` in [events], or restart lttng-sessiond; "
						   "`journalctl -u lttng-sessiond` may say "
						   "more"},
	[REASON_EVENTS_FILTER] = {"events-filter",
		"correct `filter` in [events], which `blkin validate` checks, "
		"and reload the agent"},
	[REASON_EVENTS_CONTEXT] = {"events-context", "remove it from `context` in [events], or allow it: "
						     "sysctl kernel.perf_event_paranoid=2, the system call "
						     "perf_event_open in the unit (SystemCallFilter=) or "
						     "the container, and for the processor's counters a "
						     "machine that has them"},
	[REASON_KERNEL_MISSING] = {"kernel-missing",
		INSTALL_TRACER "systemctl restart lttng-sessiond" OR_ON_THE_HOST},
	[REASON_KERNEL_DENIED] = {"kernel-denied",
		"use the system's session daemon: set `tracing-group = tracing` in [session], add the "
		"agent's user "
		"to that group, and restart the agent; or remove [kernel]"},
	[REASON_KERNEL_FAILED] = {"kernel-failed",
		"correct [kernel] (lttng list --kernel, and lttng list --kernel "
		"--syscall, tell what there is), and reload the agent"},
	[REASON_KERNEL_CONSUMER] = {"kernel-consumer", LET_GO_ON},
	[REASON_NO_READER] = {"no-reader", BY_ITSELF
		"install the package again, or raise the limit that it names, and restart the agent"},
};

/* For how long it may be over in a moment that nothing is collected, for this reason. */
static int64_t passes_in(enum reason reason)
{
	switch (reason) {
	case REASON_NONE:
	case REASON_STARTING:
		return STARTS_NS;
	case REASON_SESSION_LOST:
	case REASON_NO_RELAY:
	case REASON_LTTNG_FAILED:
	case REASON_READER_ENDED:
		return LASTS_NS;
	default:
		return 0;
	}
}

/* Whether the relay is missed because something else has one of its ports; says so. */
static bool examine_relay_port(struct findings *findings, const struct status *status)
{
	enum reason reason = status->supervisor.reason;
	unsigned port, listeners;

	if (reason != REASON_NO_RELAY && reason != REASON_RELAY_HANGS)
		return false;
	listeners = relayport_listeners(status->config, &port);
	if (listeners == 0 || (reason == REASON_RELAY_HANGS && listeners == RELAYPORTS))
		return false;
	finding_add(findings, "relay-port-taken",
		"`journalctl -u blkin-relayd` says whether its port is taken, and `ss -ltnp` by what: end "
		"that, or "
		"give the relay other ports, in blkin-relayd.service and in [session]",
		"no LTTng relay daemon answers on the ports of [session], but something listens on port %u",
		port);
	return true;
}

/* Whether it is known which of LTTng's daemons holds what is recorded. */
bool doctor_daemon_is_named(enum reason reason)
{
	return reason == REASON_SESSION_DAEMON_HANGS || reason == REASON_SESSION_DAEMON_WAITS ||
	       reason == REASON_RELAY_HANGS || reason == REASON_CONSUMER_HANGS ||
	       reason == REASON_CONSUMER_STILL;
}

/* Why the session is not read, or not all of it, and what to do about it. */
static const struct remedy *remedy_of(const struct status *status)
{
	static const struct remedy too_large = {"reader-memory", TOO_LARGE};
	enum reason reason = status->supervisor.reason;
	bool of_memory =
		reason == REASON_LEFT_OUT || reason == REASON_UNREADABLE || reason == REASON_READER_ENDED;

	return of_memory && status->lacks_memory ? &too_large : &remedies[reason];
}

void findings_add_session(struct findings *findings, const struct status *status)
{
	const struct supervisor_state *supervisor = &status->supervisor;

	if (!supervisor->collecting && clock_monotonic() - supervisor->since < passes_in(supervisor->reason))
		return;
	if (!supervisor->collecting && !doctor_daemon_is_named(supervisor->reason) &&
		examine_session_daemon(findings, status))
		return;
	if (examine_relay_port(findings, status))
		return;
	if (supervisor->reason != REASON_NONE)
		finding_add(findings, remedy_of(status)->code, remedy_of(status)->fix, "%s",
			supervisor->error[0] ? supervisor->error : "the agent is starting");
	else if (!supervisor->collecting)
		finding_add(findings, "no-session", BY_ITSELF "restart lttng-sessiond",
			"LTTng's session is not read");
}

bool doctor_session_is_unsteady(const struct status *status)
{
	const int64_t *lost = status->activity.sessions_lost;

	return lost[ACTIVITY_LOSSES - 1] && lost[0] - lost[ACTIVITY_LOSSES - 1] < ACTIVITY_LOSSES_NS &&
	       clock_monotonic() - lost[0] < STEADY_NS;
}

void findings_add_unsteady(struct findings *findings, const struct status *status)
{
	if (doctor_session_is_unsteady(status))
		finding_add(findings, "session-unsteady",
			"`journalctl -u lttng-sessiond -u blkin-relayd` says what is wrong with them, as "
			"that they have "
			"too many open files (LimitNOFILE=), or end; the agent's log says whether somebody "
			"destroys, stops "
			"or changes the session (`lttng destroy`, stop, track, or what lttng list-triggers "
			"shows): find out "
			"who does so",
			"LTTng's session is lost, or stopped or changed by somebody, again and again, and is "
			"set right "
			"each time: what programs record meanwhile is lost");
}

/* What is not recorded beside spans. */
void findings_add_omission(
	struct findings *findings, const struct status *status, const struct problem *problem)
{
	static const struct remedy gone = {"kernel-consumer", "systemctl restart lttng-sessiond"};
	static const struct remedy own = {"kernel-missing",
		INSTALL_TRACER "end lttng-sessiond and start it again, as this user" OR_ON_THE_HOST};
	const struct remedy *remedy = &remedies[problem->reason];

	if (problem->reason == REASON_NONE)
		return;
	/* one that has ended keeps nobody waiting */
	if (strcmp(problem->text, PROBLEM_KERNEL_CONSUMER_GONE) == 0)
		remedy = &gone;
	else if (problem->reason == REASON_KERNEL_MISSING && !*status->config->tracing_group)
		remedy = &own;
	finding_add(findings, remedy->code, remedy->fix, "%s", problem->text);
}

void findings_add_left_out(struct findings *findings, const struct status *status)
{
	unsigned named = MIN(status->left_out_count, STATUS_LEFT_OUT_MAX);
	g_autoptr(GString) users = g_string_new(NULL);

	if (!named || status->supervisor.reason == REASON_LEFT_OUT)
		return;
	for (unsigned i = 0; i < named; i++)
		g_string_append_printf(users, "%s%" PRIu64, i ? ", " : "", status->left_out[i]);
	if (status->lacks_memory)
		finding_add(findings, "reader-memory", TOO_LARGE,
			"what programs of user %s record takes more than `reader-memory`, and is counted as "
			"lost",
			users->str);
	else
		finding_add(findings, "left-out", LEFT_OUT,
			"what programs of user %s record cannot be read, and is counted as lost", users->str);
}
