/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/doctor.h"

#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "config/load.h"
#include "config/sources.h"
#include "session/relayport.h"
#include "session/sessiond.h"
#include "status/facts.h"

/* A call into LTTng that takes longer is worth a word: where all is well none takes a second. */
#define HANGS_NS (5 * NS_PER_SECOND)
/* What is over before is not worth a word: a reader that ends has a successor at once. */
#define LASTS_NS (2 * NS_PER_SECOND)
/* So long a start may take. */
#define STARTS_NS (5 * NS_PER_SECOND)
/* Without programs, while events came lately: they are short ones. */
#define BETWEEN_NS (30 * NS_PER_SECOND)
/* A circle that was noticed so long ago is undone, as far as anybody knows. */
#define LOOP_NS (60 * NS_PER_SECOND)
/* For so long after somebody found no room, it is said that there is none. */
#define CROWD_NS (60 * NS_PER_SECOND)
/* Silence for so long, although programs are there: of those that have recorded before, and of new ones. */
#define QUIET_NS (120 * NS_PER_SECOND)
#define QUIET_AT_FIRST_NS (5 * NS_PER_SECOND)

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
	bool exists = getgrnam(group) != NULL;

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
static void examine_session_socket(struct findings *findings, const struct status *status)
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

/* Nobody but the user can tell which of these it is. */
#define LEFT_OUT                                                                                             \
	"find the program of that user which writes events named as blkin's by itself, or into LTTng's "     \
	"buffers (`ps -eLo user,pid,comm | grep -e -ust` names the traced ones), and end it; nothing that "  \
	"the agent could be set to helps"

/* What to do if the session is not read, or not all of it. */
static const struct remedy {
	const char *code, *fix;
} remedies[] = {
	[REASON_STARTING] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_NO_SESSION_DAEMON] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_NO_PERMISSION] = {"no-session", BY_ITSELF "restart lttng-sessiond"},
	[REASON_SESSION_DAEMON_HANGS] = {"lttng-hangs", "systemctl restart lttng-sessiond"},
	[REASON_SESSION_DAEMON_WAITS] = {"program-stopped",
		"continue the programs that are stopped (`blkin status`, as root, names them; kill -CONT), "
		"or end them; if none is, systemctl restart lttng-sessiond"},
	[REASON_CONSUMER_HANGS] = {"consumer-hangs",
		"if somebody stopped it, let it go on (pkill -CONT lttng-consumerd); or else " END_LTTNG},
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
						     "sysctl kernel.perf_event_paranoid=2, in a "
						     "container also the system call perf_event_open, and of "
						     "the processor's counters a machine that "
						     "has them"},
	[REASON_KERNEL_MISSING] = {"kernel-missing",
		"apt install lttng-modules-dkms, modprobe lttng-tracer, then systemctl restart "
		"lttng-sessiond; in "
		"a container let an agent on the host record the kernel, and remove [kernel] here"},
	[REASON_KERNEL_DENIED] = {"kernel-denied",
		"use the system's session daemon: set `tracing-group = tracing` in [session], add the "
		"agent's user "
		"to that group, and restart the agent; or remove [kernel]"},
	[REASON_KERNEL_FAILED] = {"kernel-failed",
		"correct [kernel] (lttng list --kernel, and lttng list --kernel "
		"--syscall, tell what there is), and reload the agent"},
	[REASON_NO_READER] = {"no-reader", BY_ITSELF "install the package again, and restart the agent"},
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
static bool is_named(enum reason reason)
{
	return reason == REASON_SESSION_DAEMON_HANGS || reason == REASON_SESSION_DAEMON_WAITS ||
	       reason == REASON_RELAY_HANGS || reason == REASON_CONSUMER_HANGS ||
	       reason == REASON_CONSUMER_STILL;
}

static void examine_session(struct findings *findings, const struct status *status)
{
	const struct supervisor_state *supervisor = &status->supervisor;

	if (!supervisor->collecting && clock_monotonic() - supervisor->since < passes_in(supervisor->reason))
		return;
	if (!supervisor->collecting && !is_named(supervisor->reason) &&
		examine_session_daemon(findings, status))
		return;
	if (examine_relay_port(findings, status))
		return;
	if (supervisor->reason == REASON_SESSION_DAEMON_WAITS && status->census.stopped) {
		findings_add_stopped(findings, status);
		return;
	}
	if (supervisor->reason != REASON_NONE)
		finding_add(findings, remedies[supervisor->reason].code, remedies[supervisor->reason].fix,
			"%s", supervisor->error[0] ? supervisor->error : "the agent is starting");
	else if (!supervisor->collecting)
		finding_add(findings, "no-session", BY_ITSELF "restart lttng-sessiond",
			"LTTng's session is not read");
}

/* What is not recorded beside spans. */
static void examine_omission(struct findings *findings, const struct problem *problem)
{
	if (problem->reason != REASON_NONE)
		finding_add(findings, remedies[problem->reason].code, remedies[problem->reason].fix, "%s",
			problem->text);
}

static void examine_left_out(struct findings *findings, const struct status *status)
{
	unsigned named = MIN(status->left_out_count, STATUS_LEFT_OUT_MAX);
	g_autoptr(GString) users = g_string_new(NULL);

	if (!named || status->supervisor.reason == REASON_LEFT_OUT)
		return;
	for (unsigned i = 0; i < named; i++)
		g_string_append_printf(users, "%s%" PRIu64, i ? ", " : "", status->left_out[i]);
	finding_add(findings, "left-out", LEFT_OUT,
		"what programs of user %s record cannot be read, and is counted as lost", users->str);
}

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

static void examine_programs(struct findings *findings, const struct status *status)
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
static void examine_choice(struct findings *findings, const struct status *status)
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
			"end what else listens there (`ss -ltnp` names it), or set another `http` in [agent] "
			"and reload the agent; it opens the port by itself once that is free",
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
			"`blkin validate` says what is wrong: correct it, and reload again",
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

/* Senders are told to try later because of an output: its own finding says why. */
static void examine_input(struct findings *findings, const struct inlet_state *input, const char *key)
{
	g_autofree char *fix = g_strdup_printf("end what else listens there (`ss -ltnp` names it), or set "
					       "another `%s` in [input] and reload "
					       "the agent; it opens the port by itself once that is free",
		key);

	if (!*input->address)
		return;
	if (*input->error)
		finding_add(findings, "input-port", fix,
			"no spans are taken from others: the agent cannot listen on %s: %s", input->address,
			input->error);
	if (input->looped && clock_monotonic() - input->looped < LOOP_NS)
		finding_add(findings, "input-loop",
			"let one of the agents in the circle deliver elsewhere (`server` in [output]), or "
			"take no spans from the others ([input])",
			"spans go in a circle: %s hands over some that have come through this agent before; "
			"these calls are told to try later",
			input->loop_peer);
	else if (input->again && clock_monotonic() - input->again < LOOP_NS)
		finding_add(findings, "input-loop",
			"see where that one has them from: if from what this agent delivers to, let one of "
			"both deliver elsewhere; "
			"if it sends the same spans for ever, end that",
			"spans come again and again: %s hands over some that this agent has taken several "
			"times before; they may go "
			"in a circle, through a server that is none of ours, and are taken all the same",
			input->again_peer);
	if (input->crowded && clock_monotonic() - input->crowded < CROWD_NS)
		finding_add(findings, "input-crowded",
			"see what that one does with so many (`ss -tnpe` shows them), or raise `connections` "
			"in "
			"[input]; "
			"for programs of this node set a path in `scribe`, so that each user has a share",
			"senders find no room: %u of %u connections were taken, %u of them by %s",
			input->crowded_connections, input->most, input->holder_connections, input->holder);
	if (input->putting_off)
		finding_add(findings, "input-full",
			"nothing is lost while the senders keep their spans; see to the output that does not "
			"deliver, "
			"or raise `queue-size` in [output] or `max-size` in [spool]",
			"senders are told to try later: an output's queue or spool has no room for more");
}

void doctor_examine(const struct status *status, struct findings *findings)
{
	enum reason reason = status->supervisor.reason;
	int64_t still = clock_monotonic() - status->progress;
	char text[HUMAN_MAX];

	findings->count = 0;
	if (still >= HANGS_NS && !is_named(reason))
		finding_add(findings, "lttng-hangs",
			"restart the one that hangs: lttng-sessiond or lttng-relayd",
			"a call into LTTng has not returned for %s",
			human_time(text, still - still % NS_PER_SECOND));
	else
		examine_session(findings, status);
	examine_left_out(findings, status);
	if (findings->count == 0)
		examine_session_socket(findings, status);
	/* that it is read from files says nothing of whether anything comes */
	if (findings->count == 0 || (reason == REASON_UNREADABLE && status->supervisor.collecting))
		findings_add_canary(findings, status);
	if (findings->count == 0)
		examine_programs(findings, status);
	if (findings->count == 0)
		examine_choice(findings, status);
	findings_add_registering(findings, status);
	examine_omission(findings, &status->supervisor.omissions.events);
	examine_omission(findings, &status->supervisor.omissions.kernel);
	findings_add_misuses(findings, status);
	findings_add_room(findings, status);
	findings_add_losses(findings, status);
	findings_add_outputs(findings, status);
	for (size_t i = 0; i < INPUTS; i++)
		examine_input(findings, &status->inputs[i], input_keys[i]);
	examine_configuration(findings, status);
}
