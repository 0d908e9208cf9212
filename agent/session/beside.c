/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/beside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/contextadd.h"
#include "session/kernelnames.h"
#include "session/kernelrules.h"
#include "session/rules.h"
#include "session/tracing.h"
#include "session/wellness.h"

/* Making */

/* Of a thread of the kernel's list the two numbers differ where it is in a container. */
static int add_kernel_contexts(struct lttng_handle *handle)
{
	static const enum lttng_event_context_type kinds[] = {LTTNG_EVENT_CONTEXT_PID,
		LTTNG_EVENT_CONTEXT_TID, LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID,
		LTTNG_EVENT_CONTEXT_PROCNAME};
	int code = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(kinds) && code == 0; i++)
		code = tracing_add_context(handle, kinds[i], KERNEL_CHANNEL);
	return code;
}

static bool make_events(const struct config *config, const char *name)
{
	struct lttng_handle *handle = tracing_open(name);
	struct problem left_out = {0};
	g_autofree char *usable = contexts_usable(config, &left_out);
	int code = handle ? tracing_enable_channel(config, handle, EVENTS_CHANNEL) : -LTTNG_ERR_NOMEM;

	if (code == 0)
		code = contexts_add(usable, handle, EVENTS_CHANNEL);
	if (code != 0)
		log_warning(
			"LTTng session `%s`: events are recorded without all of `context` in [events]: %s",
			name, lttng_strerror(code));
	if (handle)
		lttng_destroy_handle(handle);
	return code == 0;
}

int beside_make_kernel(const struct config *config, const char *name)
{
	struct lttng_handle *handle = tracing_open_kernel(name);
	int code = handle ? tracing_ask_kernel() : -LTTNG_ERR_NOMEM;

	if (code == 0)
		code = tracing_enable_channel(config, handle, KERNEL_CHANNEL);
	if (code == 0)
		code = add_kernel_contexts(handle);
	if (handle)
		lttng_destroy_handle(handle);
	return code;
}

/* Which thread a span is of is of use beside other events only, and costs something. */
static void add_thread(const char *name)
{
	struct lttng_handle *handle = tracing_open(name);

	if (!handle)
		return;
	tracing_add_context(handle, LTTNG_EVENT_CONTEXT_VTID, CHANNEL);
	lttng_destroy_handle(handle);
}

struct beside_made beside_create(const struct config *config, const char *name)
{
	struct beside_made made = {false, false};
	struct omissions omissions = {0};
	const char *changed;

	if (config_records_events(config) || config_reads_kernel(config) || config_flies(config))
		add_thread(name);
	if (config_records_events(config))
		made.events = make_events(config, name);
	if (config_reads_kernel(config))
		made.kernel = wellness_kernel_answers(config->tracing_group) &&
			      beside_make_kernel(config, name) == 0;
	beside_enable(config, name, (struct anew){true, true}, &omissions, &changed);
	return made;
}

/* What of a session's settings says that it has the kernel's channel. */
#define HAS_KERNEL " kernel 1"

bool beside_has_kernel(const char *settings)
{
	return strstr(settings, HAS_KERNEL) != NULL;
}

static bool may_have_kernel(const struct config *config, const char *has)
{
	if (!config_reads_kernel(config))
		return false;
	if (!wellness_kernel_answers(config->tracing_group))
		return beside_has_kernel(has);
	return tracing_ask_kernel() == 0;
}

bool beside_waits_for_kernel(const struct config *config, const char *has)
{
	return config_reads_kernel(config) && !beside_has_kernel(has) &&
	       !wellness_kernel_answers(config->tracing_group);
}

struct beside_made beside_possible(const struct config *config, const char *has)
{
	return (struct beside_made){config_records_events(config), may_have_kernel(config, has)};
}

/* The contexts are long; it is enough to know whether they are others. */
char *beside_settings(const struct config *config, const struct beside_made *made)
{
	GString *text = g_string_new(NULL);
	struct problem left_out = {0};
	g_autofree char *usable = contexts_usable(config, &left_out);

	if (config_records_events(config))
		g_string_append_printf(
			text, " beside %d contexts %08x", made->events, (unsigned)g_str_hash(usable));
	if (config_reads_kernel(config))
		g_string_append(text, made->kernel ? HAS_KERNEL : " kernel 0");
	if (config_flies(config))
		g_string_append(text, " thread");
	return g_string_free(text, FALSE);
}

/* What LTTng says, as sentences */

/* Of LTTng 2.16 all that it does not understand is an invalid parameter. */
static bool is_of_filter(int code, const char *filter)
{
	char error[512];

	return code == -LTTNG_ERR_FILTER_INVAL || code == -LTTNG_ERR_FILTER_NOMEM ||
	       (code == -LTTNG_ERR_INVALID && beside_check_filter(filter, error, sizeof(error)) != 0);
}

static void explain_events(struct problem *problem, int code, const char *name, const char *filter)
{
	if (is_of_filter(code, filter))
		problem_set(problem, REASON_EVENTS_FILTER,
			"no events are recorded beside spans: LTTng does not understand `filter` in [events] "
			"(%.200s)",
			filter);
	else if (name)
		problem_set(problem, REASON_EVENTS_FAILED,
			"the events `%.200s` of [events] are not recorded: %s", name, lttng_strerror(code));
	else
		problem_set(problem, REASON_EVENTS_FAILED,
			"no events are recorded beside spans, as the session has no channel for them: %s",
			lttng_strerror(code));
}

void beside_explain_kernel(struct problem *problem, int code, const char *name)
{
	if (code == -LTTNG_ERR_NEED_ROOT_SESSIOND)
		problem_set(problem, REASON_KERNEL_DENIED,
			"the kernel is not recorded: the session daemon is a user's own, and only root's can "
			"do it");
	else if (code == -LTTNG_ERR_KERN_NA || code == -LTTNG_ERR_KERN_VERSION)
		problem_set(problem, REASON_KERNEL_MISSING,
			"the kernel is not recorded: the session daemon has no kernel tracer (%s)",
			lttng_strerror(code));
	else if (code == -LTTNG_ERR_NO_KERNCONSUMERD)
		problem_set(problem, REASON_KERNEL_CONSUMER, "%s", PROBLEM_KERNEL_CONSUMER_GONE);
	else if (name)
		problem_set(problem, REASON_KERNEL_FAILED, "`%.200s` of [kernel] is not recorded: %s", name,
			lttng_strerror(code));
	else
		problem_set(problem, REASON_KERNEL_FAILED,
			"the kernel is not recorded, as the session has no channel for it (%s): reload the "
			"agent, which then makes another session",
			lttng_strerror(code));
}

static void explain_unknown(struct problem *problem, const GPtrArray *names, const char *globs)
{
	g_autoptr(GPtrArray) said = kernelnames_unknown(names, globs);

	if (said->len > 0 && problem->reason == REASON_NONE)
		problem_set(problem, REASON_KERNEL_FAILED, "%s", (const char *)said->pdata[0]);
}

/* Enabling */

/* One of the two channels, and what it is to have. */
struct side {
	struct lttng_handle *handle;
	const char *channel;
	GPtrArray *wanted;       /* NULL: what the channel has says what patterns stand for */
	const char *filter;      /* of events; NULL: it is the kernel's */
	struct problem *problem; /* the first one that is met */
};

static void explain(struct side *side, int code, const char *name)
{
	if (side->problem->reason != REASON_NONE && side->problem->reason != REASON_EVENTS_CONTEXT)
		return;
	if (side->filter)
		explain_events(side->problem, code, name, side->filter);
	else
		beside_explain_kernel(side->problem, code, name);
}

/* Disables what is enabled and not asked for, any more. */
static void retire(struct side *side, const GPtrArray *there)
{
	g_autoptr(GHashTable) wanted = rules_index(side->wanted);

	for (guint i = 0; i < there->len; i++) {
		const struct rule *rule = there->pdata[i];

		if (rule->enabled && !g_hash_table_contains(wanted, rule))
			rule_disable(side->handle, side->channel, rule, there);
	}
}

/* What LTTng refused is not there; what was disabled is, and by somebody else, unless the configuration is
 * new. */
static void enable(struct side *side, bool anew, const GPtrArray *there, const char **changed)
{
	g_autoptr(GHashTable) index = rules_index(there);

	for (guint i = 0; i < side->wanted->len; i++) {
		const struct rule *rule = side->wanted->pdata[i], *is = g_hash_table_lookup(index, rule);
		int code;

		if (is ? is->enabled : !anew)
			continue;
		code = rule_enable(side->handle, side->channel, rule);
		if (code != 0 && anew)
			explain(side, code, rule->name);
		if (code == 0 && !anew)
			*changed = side->filter ? "its other events were disabled"
						: "its kernel events were disabled";
	}
}

/* What is listed of the kernel's channel is what its maker wrote (2.13), so LTTng is always asked to enable
 * it, and says if that is needless. */
static int enable_channel(const struct config *config, struct side *side, bool *was_enabled)
{
	bool there = false;
	int code = tracing_find_channel(side->handle, side->channel, &there, was_enabled);

	if (code != 0)
		return code;
	if (!there)
		return -LTTNG_ERR_CHAN_NOT_FOUND;
	if (*was_enabled && side->filter)
		return 0;
	code = tracing_enable_channel(config, side->handle, side->channel);
	*was_enabled = code == -LTTNG_ERR_KERN_CHAN_EXIST;
	return *was_enabled ? 0 : code;
}

static GPtrArray *wanted_of_channel(const struct config *config, const GPtrArray *rules)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < rules->len; i++)
		g_ptr_array_add(names, ((const struct rule *)rules->pdata[i])->name);
	return kernelrules_list(config, names);
}

static void enable_side(const struct config *config, struct side *side, bool anew, const char **changed)
{
	bool was_enabled = false;
	GPtrArray *rules;
	int code = enable_channel(config, side, &was_enabled);

	if (code == 0 && !was_enabled && !anew)
		*changed = side->filter ? "its channel of other events was disabled"
					: "its channel of kernel events was disabled";
	rules = code == 0 ? rules_list(side->handle, side->channel, &code) : NULL;
	if (rules && !side->wanted)
		side->wanted = wanted_of_channel(config, rules);
	if (rules) {
		if (anew)
			retire(side, rules);
		enable(side, anew, rules, changed);
		g_ptr_array_unref(rules);
	} else if (anew) {
		explain(side, code, NULL);
	}
}

static void enable_events(const struct config *config, const char *name, bool anew, struct problem *problem,
	const char **changed)
{
	struct side side = {.handle = tracing_open(name),
		.channel = EVENTS_CHANNEL,
		.wanted = rules_of_events(config),
		.filter = config->event_filter,
		.problem = problem};

	if (anew)
		g_free(contexts_usable(config, problem));
	if (side.handle) {
		enable_side(config, &side, anew, changed);
		lttng_destroy_handle(side.handle);
	}
	g_ptr_array_unref(side.wanted);
}

/* Each question that the session daemon cannot answer without the kernel's modules has it look for them, and
 * log that they are not there. */
static bool is_hopeless(const struct problem *problem)
{
	return problem->reason == REASON_KERNEL_MISSING || problem->reason == REASON_KERNEL_DENIED;
}

bool beside_may_ask_kernel(const struct config *config, bool anew, struct problem *problem)
{
	if (is_hopeless(problem))
		return false;
	if (wellness_kernel_answers(config->tracing_group))
		return true;
	if (anew)
		problem_set(problem, REASON_KERNEL_CONSUMER, "%s", PROBLEM_KERNEL_CONSUMER_SILENT);
	return false;
}

void beside_enable_kernel(const struct config *config, const char *name, bool anew, struct problem *problem,
	const char **changed)
{
	struct kernelnames names = {0};
	struct side side = {
		.handle = tracing_open_kernel(name), .channel = KERNEL_CHANNEL, .problem = problem};
	int code = anew && side.handle ? kernelnames_ask(&names, side.handle, config) : 0;

	if (code != 0)
		explain(&side, code, NULL);
	else if (side.handle) {
		side.wanted = anew ? kernelrules_list(config, names.events) : NULL;
		enable_side(config, &side, anew, changed);
	}
	if (code == 0 && anew) {
		explain_unknown(problem, names.events, config->kernel_events);
		explain_unknown(problem, names.syscalls, config->kernel_syscalls);
	}
	if (side.handle)
		lttng_destroy_handle(side.handle);
	g_clear_pointer(&side.wanted, g_ptr_array_unref);
	kernelnames_free(&names);
}

void beside_enable(const struct config *config, const char *name, struct anew anew,
	struct omissions *omissions, const char **changed)
{
	int64_t begun = clock_monotonic();

	if (anew.events)
		omissions->events = (struct problem){0};
	if (anew.kernel)
		omissions->kernel = (struct problem){0};
	if (config_records_events(config))
		enable_events(config, name, anew.events, &omissions->events, changed);
	if (anew.events)
		tracing_count_lost(begun);
	if (config_reads_kernel(config) && beside_may_ask_kernel(config, anew.kernel, &omissions->kernel))
		beside_enable_kernel(config, name, anew.kernel, &omissions->kernel, changed);
}

/* Reading their names takes longer than asking LTTng, so it is done only where some are wanted. */
static GPtrArray *unknown_functions(const char *wanted)
{
	GPtrArray *names = *wanted ? kernelnames_functions("/proc/kallsyms") : NULL;
	GPtrArray *said = kernelnames_unknown(names, wanted);

	if (names)
		g_ptr_array_unref(names);
	return said;
}

struct beside_unknown beside_find_unknown(const struct config *config)
{
	LOCK_TRACING;
	struct kernelnames names = {0};
	struct lttng_handle *handle = NULL;
	struct beside_unknown unknown;

	tracing_prepare(config);
	if (config_reads_kernel(config) || config_flies(config))
		handle = tracing_open_kernel("");
	if (handle)
		kernelnames_ask(&names, handle, config);
	unknown.events = kernelnames_unknown(names.events, config->kernel_events);
	unknown.syscalls = kernelnames_unknown(names.syscalls, config->kernel_syscalls);
	unknown.functions = unknown_functions(names.events ? config->kernel_functions : "");
	kernelnames_free(&names);
	if (handle)
		lttng_destroy_handle(handle);
	return unknown;
}

int beside_check_filter(const char *filter, char *error, size_t size)
{
	struct lttng_handle *handle = *filter ? tracing_open("") : NULL;
	struct rule rule = {.name = (char *)(uintptr_t) "*",
		.type = LTTNG_EVENT_TRACEPOINT,
		.level_type = LTTNG_EVENT_LOGLEVEL_ALL,
		.level = -1,
		.filter = (char *)(uintptr_t)filter};
	int code;

	if (!handle)
		return 0;
	/* the library reads the expression before it looks for a daemon, and for the session, which is none
	 */
	code = rule_enable(handle, EVENTS_CHANNEL, &rule);
	lttng_destroy_handle(handle);
	if (code != -LTTNG_ERR_FILTER_INVAL && code != -LTTNG_ERR_FILTER_NOMEM && code != -LTTNG_ERR_INVALID)
		return 0;
	snprintf(error, size,
		"LTTng does not understand this expression; lttng-enable-event(1) explains filters, as in "
		"size > "
		"100 && $ctx.procname == \"gateway\"");
	return -1;
}
