/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/kernelrules.h"

#include <string.h>

#include "config/globs.h"
#include "config/section.h"
#include "session/rules.h"

/*
 * Threads are told by their names: process ids change with each start, and a rule's filter cannot. All of
 * ours, and of LTTng's daemons all but some of lttng-sessiond that mostly wait, are called as their programs.
 */
#define NOT_OWN(field)                                                                                       \
	field " != \"blkin-agent\" && " field " != \"blkin-reader\" && " field " != \"lttng-*\""

#define BY_THREAD NOT_OWN("$ctx.procname")
/* Of the two threads of a switch one is somebody's. */
#define SWITCH "(prev_tid != 0 && " NOT_OWN("prev_comm") ") || (next_tid != 0 && " NOT_OWN("next_comm") ")"
#define WAKEUP NOT_OWN("comm")

/* Events that are about the thread which records them, or which they name. Others, as those of interrupts,
 * happen to whatever thread is running. */
static const struct {
	const char *name, *filter;
} filters[] = {
	{"block_bio_backmerge", BY_THREAD},
	{"block_bio_frontmerge", BY_THREAD},
	{"block_bio_queue", BY_THREAD},
	{"block_dirty_buffer", BY_THREAD},
	{"block_getrq", BY_THREAD},
	{"block_plug", BY_THREAD},
	{"block_rq_insert", BY_THREAD},
	{"block_touch_buffer", BY_THREAD},
	{"sched_switch", SWITCH},
	{"sched_wakeup", WAKEUP},
	{"sched_wakeup_new", WAKEUP},
	{"sched_waking", WAKEUP},
	{"x86_exceptions_page_fault_kernel", BY_THREAD},
	{"x86_exceptions_page_fault_user", BY_THREAD},
};

static const char *filter_of(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		if (!strcmp(name, filters[i].name))
			return filters[i].filter;
	return "";
}

static bool reaches_filter(const char *pattern)
{
	for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
		if (g_pattern_match_simple(pattern, filters[i].name))
			return true;
	return false;
}

/* The rules of one type, and their names: one of several patterns may have brought one already. */
struct typed {
	GPtrArray *rules;
	enum lttng_event_type type;
	GHashTable *names; /* borrowed */
};

static struct typed typed_rules(GPtrArray *rules, enum lttng_event_type type)
{
	return (struct typed){rules, type, g_hash_table_new(g_str_hash, g_str_equal)};
}

static void add(const struct typed *typed, const char *name, const char *filter)
{
	if (g_hash_table_add(typed->names, (char *)(uintptr_t)name))
		rules_add(typed->rules, name, typed->type, filter);
}

static void add_events(const struct typed *typed, const char *pattern, const GPtrArray *names)
{
	if (!strchr(pattern, '*') || !reaches_filter(pattern)) {
		add(typed, pattern, filter_of(pattern));
		return;
	}
	for (guint i = 0; i < names->len; i++) {
		const char *name = names->pdata[i];

		if (!strchr(name, '*') && g_pattern_match_simple(pattern, name))
			add(typed, name, filter_of(name));
	}
}

/* What is recorded causes more of it only where somebody reads it. In the flight recorder a filter would cost
 * programs as much as what it leaves out. */
static bool takes_own(const struct config *config)
{
	return config->kernel_own || config_flies(config);
}

GPtrArray *kernelrules_list(const struct config *config, const GPtrArray *names)
{
	GPtrArray *rules = rules_create();
	g_auto(GStrv) events = globs_split(config->kernel_events);
	g_auto(GStrv) syscalls = globs_split(config->kernel_syscalls);
	g_auto(GStrv) functions = globs_split(config->kernel_functions);
	struct typed tracepoints = typed_rules(rules, LTTNG_EVENT_TRACEPOINT),
		     calls = typed_rules(rules, LTTNG_EVENT_SYSCALL);

	for (char **name = events; *name; name++)
		if (takes_own(config))
			add(&tracepoints, *name, "");
		else
			add_events(&tracepoints, *name, names);
	for (char **name = syscalls; *name; name++)
		add(&calls, *name, takes_own(config) ? "" : BY_THREAD);
	/* LTTng takes no filter for them */
	for (char **name = functions; *name; name++)
		rules_add(rules, *name, LTTNG_EVENT_FUNCTION, "");
	g_hash_table_unref(tracepoints.names);
	g_hash_table_unref(calls.names);
	return rules;
}
