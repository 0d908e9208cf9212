/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/findings.h"

#include <string.h>

#include "base/json.h"
#include "state/told.h"
#include "status/finding.h"

/* In seconds: without an event of theirs for so long, programs of which one would be enough are missing; */
#define BETWEEN 30
/* so long a silence is told, once programs that are there have had the time to record one; */
#define QUIET 120
#define QUIET_AT_FIRST 5
/* and so long after a session began all programs that were there record in it. */
#define SETTLED 10

/* What the agent has found */

static void take(struct findings *findings, const struct finding *finding)
{
	findings->about = finding->about;
	finding_add(findings, finding->code, finding->fix, "%s", finding->what);
}

static void read_told(struct findings *findings, struct told state)
{
	struct told list = told_at(state, "findings"), one = {0};

	findings->count = 0;
	while (told_next(list, &one)) {
		findings->about = g_intern_string(told_text(one, "about"));
		finding_add(findings, g_intern_string(told_text(one, "code")), told_text(one, "fix"), "%s",
			told_text(one, "what"));
	}
}

static const struct finding *find(const struct findings *findings, const char *code)
{
	for (size_t i = 0; i < findings->count; i++)
		if (strcmp(findings->list[i].code, code) == 0)
			return &findings->list[i];
	return NULL;
}

/* Why no event comes, where nothing is wrong with what collects them */

static bool is_silent(struct told state, int64_t seconds)
{
	if (!told_is_null(state, "last_event_seconds"))
		return told_number(state, "last_event_seconds") >= seconds;
	/* where some came to an earlier run, they may have come until this one began */
	return told_number(state, "events.read") == 0 || told_number(state, "up_seconds") >= seconds;
}

/* No event comes, although the programs have had the time to record one. */
static bool is_quiet(struct told state)
{
	return told_number(state, "collecting_seconds") >= QUIET_AT_FIRST &&
	       (told_is_null(state, "programs_seconds") ||
		       told_number(state, "programs_seconds") >= QUIET_AT_FIRST) &&
	       is_silent(state, QUIET);
}

/* Programs have tracepoints, but not ours. Where [events] is for some, those that have recorded any are
 * right. */
static void add_others(struct findings *findings, struct told state, const struct census *census)
{
	const char *are = census->programs == 1 ? " is" : "s are";

	if (!told_has(state, "records_events"))
		finding_add(findings, "no-blkin",
			"start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			"says so if it cannot be traced",
			"%d program%s registered with LTTng, as %s, but none records with blkin",
			census->programs, are, census->other);
	else if (told_number(state, "events.read") == 0)
		finding_add(findings, "no-blkin",
			"have one do what [events] names, or correct `names` and `spans` there, by the names "
			"that `lttng list --userspace` has; or start one that includes <blkin/blkin.h>",
			"%d program%s registered with LTTng, as %s, but none has recorded an event that "
			"[events] names, or records with blkin",
			census->programs, are, census->other);
}

static void add_strangers(struct findings *findings, const struct census *census)
{
	bool one = census->strangers == 1;

	finding_add(findings, "other-lttng",
		"in their container, install the LTTng (package liblttng-ust1) of the node's version, the "
		"first two numbers of `lttng-sessiond --version`, and start them again",
		"%d program%s not traced, %s%s: LTTng's library there is of another version than the session "
		"daemon (lttng-ust-wait-%d, not -%d)",
		census->strangers, one ? " is" : "s are", one ? "" : "among them ", census->stranger,
		census->stranger_interface, census->interface);
}

/* LTTng waits five seconds for each, one after the other. @waits: it does now. */
static void add_stopped(struct findings *findings, const struct census *census, bool waits)
{
	bool one = census->stopped == 1;

	finding_add(findings, "program-stopped",
		one ? "continue it (kill -CONT and its number), or end it (kill -KILL)"
		    : "continue them (kill -CONT and their numbers), or end them (kill -KILL)",
		"%d traced program%s stopped: %s; %s, and lttng-sessiond waits 5 s for each whenever the "
		"session begins or changes%s",
		census->stopped, one ? " is" : "s are", census->stopped_names,
		one ? "it records nothing" : "they record nothing",
		waits ? ": that is why nothing is collected now" : "");
}

/* There are none, although the agent has counted some: what is connected to the session daemon may be another
 * one's canary. */
static bool are_none(struct told state, const struct census *census, const struct findings *agents)
{
	return census->known && !census->programs && is_silent(state, BETWEEN) &&
	       !find(agents, "registration-held") && !told_has(state, "spans.received");
}

/* Which programs there are, and whether they can be recorded. @agents: what the agent has found. */
static void add_programs(struct findings *findings, struct told state, const struct census *census,
	const struct findings *agents)
{
	const struct finding *none = find(agents, "no-program");

	/* a session that is about to be read has none yet */
	if (census->events_off && told_has(state, "collecting"))
		finding_add(findings, "events-disabled",
			"the agent enables them again within seconds; if it does not, restart the agent",
			"LTTng session `%s` records no blkin event: somebody has disabled them",
			told_text(state, "session"));
	if (!census->known || census->programs == 0) {
		if (none)
			take(findings, none);
		else if (are_none(state, census, agents))
			finding_add_no_program(findings, told_has(state, "records_events"),
				!told_is_null(state, "last_event_seconds") ||
					told_number(state, "events.read"));
	} else if (census->blkin == 0 && is_silent(state, BETWEEN)) {
		add_others(findings, state, census);
	}
	if (census->strangers)
		add_strangers(findings, census);
	if (census->stopped)
		add_stopped(findings, census, false);
}

/* What makes programs that are there record less, or nothing. @level: what the agent says of it. */
static void add_choice(struct findings *findings, struct told state, const struct census *census,
	const struct finding *level, const char *tracing_group)
{
	if (census->sampling_off)
		finding_add(findings, "sampling-off",
			*tracing_group
				? "run `blkin sampling default`, or `blkin sampling 1/N`"
				: "run `blkin sampling default --user`, or `blkin sampling 1/N --user`",
			"`blkin sampling` tells programs to record nothing");
	if (level)
		take(findings, level);
	if (findings->count == 0 && census->known && census->blkin && is_quiet(state))
		finding_add(findings, "quiet",
			"is the code that records run? `blkin sampling`, or BLKIN_SAMPLE in the environment, "
			"may say 1/N",
			"%d program%s with blkin, but no event comes", census->blkin,
			census->blkin == 1 ? " is there" : "s are there");
}

/* Whom LTTng has no ring buffers for; where something keeps all from being recorded, that is told. */
static void add_unrecorded(struct findings *findings, struct told state, const struct census *census,
	const struct findings *agents)
{
	bool one = census->unrecorded == 1;

	if (!census->unrecorded || !told_has(state, "collecting") ||
		told_number(state, "collecting_seconds") < SETTLED || find(agents, "registration-held") ||
		find(agents, "session-unsteady") || find(agents, "shm-full"))
		return;
	finding_add(findings, "program-unrecorded",
		"`journalctl -u lttng-sessiond` says why: too many open files (LimitNOFILE=), no memory, or "
		"a limit of the program's own (`cat /proc/NUMBER/limits`), as of its user's processes where "
		"LTTng's threads are missing; if it says nothing, the program does not see /dev/shm or "
		"/run/lttng, as in a chroot; once that is mended, start the program again",
		"%d program%s with blkin record%s nothing, as LTTng has given %s no ring buffers: %s",
		census->unrecorded, one ? "" : "s", one ? "s" : "", one ? "it" : "them",
		census->unrecorded_names);
}

/* Takes what the agent has found, with the programs that do it, if it does not know them. */
static void take_named(struct findings *findings, const struct finding *finding, const struct census *census)
{
	findings->about = finding->about;
	if (census->stopped && !strcmp(finding->code, "program-stopped"))
		add_stopped(findings, census, true);
	else if (census->holders && !strcmp(finding->code, "registration-held"))
		finding_add(findings, finding->code,
			census->holders == 1 ? "end it (kill -KILL and its number)"
					     : "end them (kill -KILL and their numbers)",
			"%s; what holds it up is %s", finding->what, census->holder_names);
	else
		take(findings, finding);
}

static void find_all(
	struct findings *findings, struct told state, const struct census *census, const char *tracing_group)
{
	g_autofree struct findings *agents = g_new(struct findings, 1);
	const struct finding *none, *level;
	size_t i = 0;

	read_told(agents, state);
	none = find(agents, "no-program");
	level = find(agents, "level");
	findings->count = 0;
	for (; i < agents->count && !strcmp(agents->list[i].about, "session"); i++)
		take_named(findings, &agents->list[i], census);
	findings->about = "programs";
	if (findings->count == 0)
		add_programs(findings, state, census, agents);
	if (findings->count == 0)
		add_choice(findings, state, census, level, tracing_group);
	add_unrecorded(findings, state, census, agents);
	for (; i < agents->count; i++)
		if (&agents->list[i] != none && &agents->list[i] != level)
			take_named(findings, &agents->list[i], census);
}

/* Copies what stands up to the member's value, and goes on behind that: the caller writes another one. */
static void copy_to(struct buffer *out, struct told *rest, struct told state, const char *member)
{
	struct told value = told_at(state, member);

	if (value.at < rest->at) {
		state.of->wrong = true;
		return;
	}
	json_copy(out, rest->at, (size_t)(value.at - rest->at));
	rest->at = value.end;
}

bool state_complete(
	struct buffer *out, const char *json, const struct census *census, const char *tracing_group)
{
	g_autofree struct findings *findings = g_new(struct findings, 1);
	struct telling telling;
	struct told state = told_open(&telling, json), rest = state;

	find_all(findings, state, census, tracing_group);
	if (census->known) {
		copy_to(out, &rest, state, "programs");
		json_int(out, census->programs);
		copy_to(out, &rest, state, "programs_with_blkin");
		json_int(out, census->blkin);
	}
	copy_to(out, &rest, state, "findings");
	findings_write_json(out, findings);
	json_copy(out, rest.at, (size_t)(rest.end - rest.at));
	buffer_put(out, "", 1);
	return told_close(&telling);
}
