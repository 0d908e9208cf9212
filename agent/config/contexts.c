/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/contexts.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include <glib.h>

#include "base/suggest.h"
#include "config/globs.h"

#define PERF "perf:"

#define HARDWARE(name, number)                                                                               \
	{                                                                                                    \
		CONTEXT_PERF, name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##number                               \
	}
#define SOFTWARE(name, number)                                                                               \
	{                                                                                                    \
		CONTEXT_PERF, name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##number                               \
	}

static const struct context known[] = {
	{CONTEXT_VPID, "vpid", 0, 0},
	{CONTEXT_VTID, "vtid", 0, 0},
	{CONTEXT_PROCNAME, "procname", 0, 0},
	{CONTEXT_PTHREAD_ID, "pthread_id", 0, 0},
	{CONTEXT_IP, "ip", 0, 0},
	{CONTEXT_VUID, "vuid", 0, 0},
	{CONTEXT_VGID, "vgid", 0, 0},
	{CONTEXT_PID_NS, "pid_ns", 0, 0},
	{CONTEXT_NET_NS, "net_ns", 0, 0},
	{CONTEXT_MNT_NS, "mnt_ns", 0, 0},
	{CONTEXT_CGROUP_NS, "cgroup_ns", 0, 0},
	HARDWARE("cpu-cycles", CPU_CYCLES),
	HARDWARE("cycles", CPU_CYCLES),
	HARDWARE("instructions", INSTRUCTIONS),
	HARDWARE("cache-references", CACHE_REFERENCES),
	HARDWARE("cache-misses", CACHE_MISSES),
	HARDWARE("branch-instructions", BRANCH_INSTRUCTIONS),
	HARDWARE("branches", BRANCH_INSTRUCTIONS),
	HARDWARE("branch-misses", BRANCH_MISSES),
	HARDWARE("bus-cycles", BUS_CYCLES),
	HARDWARE("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HARDWARE("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	SOFTWARE("cpu-clock", CPU_CLOCK),
	SOFTWARE("task-clock", TASK_CLOCK),
	SOFTWARE("page-faults", PAGE_FAULTS),
	SOFTWARE("minor-faults", PAGE_FAULTS_MIN),
	SOFTWARE("major-faults", PAGE_FAULTS_MAJ),
	SOFTWARE("context-switches", CONTEXT_SWITCHES),
	SOFTWARE("cpu-migrations", CPU_MIGRATIONS),
	SOFTWARE("alignment-faults", ALIGNMENT_FAULTS),
	SOFTWARE("emulation-faults", EMULATION_FAULTS),
};

static const struct context *find(const char *word)
{
	const bool perf = g_str_has_prefix(word, PERF);
	const char *name = perf ? word + strlen(PERF) : word;

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if ((known[i].kind == CONTEXT_PERF) == perf && !strcmp(known[i].name, name))
			return &known[i];
	return NULL;
}

static bool has(const struct contexts *contexts, const struct context *context)
{
	for (size_t i = 0; i < contexts->count; i++)
		if (contexts->of[i].kind == context->kind && contexts->of[i].type == context->type &&
			contexts->of[i].config == context->config)
			return true;
	return false;
}

/* The name that is nearest to the word; the caller's, or NULL. */
static char *nearest(const char *word)
{
	char *names[G_N_ELEMENTS(known)];
	char *found;

	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		names[i] = g_strconcat(known[i].kind == CONTEXT_PERF ? PERF : "", known[i].name, NULL);
	found = g_strdup(suggest(word, (const char **)names, G_N_ELEMENTS(known)));
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		g_free(names[i]);
	return found;
}

static void say_unknown(const char *word, char *error, size_t size)
{
	g_autofree char *meant = nearest(word);

	snprintf(error, size,
		"has `%.64s`, which is no context of programs: there are vpid, vtid, procname, "
		"pthread_id, ip, vuid, vgid, pid_ns, net_ns, mnt_ns, cgroup_ns, and perf:COUNTER%s%s%s",
		word, meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
}

static int parse(struct contexts *contexts, const char *text, size_t most, char *error, size_t size)
{
	g_auto(GStrv) list = globs_split(text);

	contexts->count = 0;
	for (char **word = list; *word; word++) {
		const struct context *context = find(*word);

		if (!context) {
			say_unknown(*word, error, size);
			return -1;
		}
		if (has(contexts, context) || contexts->count == most) {
			snprintf(error, size, "has `%s` twice, or more than %d contexts", *word, (int)most);
			return -1;
		}
		contexts->of[contexts->count++] = *context;
	}
	return 0;
}

int contexts_parse(struct contexts *contexts, const char *text, char *error, size_t size)
{
	return parse(contexts, text, CONTEXTS_MAX, error, size);
}

int contexts_parse_with_required(struct contexts *contexts, const char *text, char *error, size_t size)
{
	return parse(contexts, text, CONTEXTS_MAX + CONTEXTS_MORE, error, size);
}

void contexts_require(struct contexts *contexts, enum context_kind kind)
{
	for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
		if (known[i].kind == kind && !has(contexts, &known[i]) &&
			contexts->count < G_N_ELEMENTS(contexts->of))
			contexts->of[contexts->count++] = known[i];
}
