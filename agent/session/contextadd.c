/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/contextadd.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include <glib.h>

#include "config/contexts.h"
#include "config/pairrules.h"

static const enum lttng_event_context_type kinds[] = {
	[CONTEXT_VPID] = LTTNG_EVENT_CONTEXT_VPID,
	[CONTEXT_VTID] = LTTNG_EVENT_CONTEXT_VTID,
	[CONTEXT_PROCNAME] = LTTNG_EVENT_CONTEXT_PROCNAME,
	[CONTEXT_PTHREAD_ID] = LTTNG_EVENT_CONTEXT_PTHREAD_ID,
	[CONTEXT_IP] = LTTNG_EVENT_CONTEXT_IP,
	[CONTEXT_VUID] = LTTNG_EVENT_CONTEXT_VUID,
	[CONTEXT_VGID] = LTTNG_EVENT_CONTEXT_VGID,
	[CONTEXT_PID_NS] = LTTNG_EVENT_CONTEXT_PID_NS,
	[CONTEXT_NET_NS] = LTTNG_EVENT_CONTEXT_NET_NS,
	[CONTEXT_MNT_NS] = LTTNG_EVENT_CONTEXT_MNT_NS,
	[CONTEXT_CGROUP_NS] = LTTNG_EVENT_CONTEXT_CGROUP_NS,
	[CONTEXT_PERF] = LTTNG_EVENT_CONTEXT_PERF_THREAD_COUNTER,
};

/* As a program would: of its own thread, without the kernel's part. Returns 0 or an errno. */
static int try_counter(const struct context *context)
{
	struct perf_event_attr attr = {
		.type = context->type, .size = sizeof(attr), .config = context->config};
	long fd;

	attr.exclude_kernel = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close((int)fd);
	return 0;
}

/* What tells a pair's thread from others: numbers alone do not, as two containers may have the same. */
static void add_of_pairs(const struct config *config, struct contexts *contexts)
{
	static const enum context_kind needed[] = {
		CONTEXT_VPID, CONTEXT_VTID, CONTEXT_PROCNAME, CONTEXT_PID_NS};
	struct pair_rules rules;
	char error[512];

	pair_rules_parse(&rules, config->event_spans, error, sizeof(error));
	for (size_t i = 0; i < G_N_ELEMENTS(needed) && pair_rules_have(&rules, false); i++)
		contexts_require(contexts, needed[i]);
}

char *contexts_usable(const struct config *config, struct problem *problem)
{
	GString *text = g_string_new(NULL);
	struct contexts contexts;
	char error[512];

	contexts_parse(&contexts, config->event_context, error, sizeof(error));
	add_of_pairs(config, &contexts);
	for (size_t i = 0; i < contexts.count; i++) {
		const struct context *context = &contexts.of[i];
		bool perf = context->kind == CONTEXT_PERF;
		int failed = perf ? try_counter(context) : 0;

		if (!failed)
			g_string_append_printf(
				text, "%s%s%s", text->len ? ", " : "", perf ? "perf:" : "", context->name);
		else if (problem->reason == REASON_NONE)
			problem_set(problem, REASON_EVENTS_CONTEXT,
				"events are recorded without `perf:%s` of `context` in [events]: the counter "
				"cannot be had here (%s)",
				context->name, g_strerror(failed));
	}
	return g_string_free(text, FALSE);
}

int contexts_add(const char *usable, struct lttng_handle *handle, const char *channel)
{
	struct contexts contexts;
	char error[512];
	int code = 0;

	contexts_parse_with_required(&contexts, usable, error, sizeof(error));
	for (size_t i = 0; i < contexts.count && code == 0; i++) {
		const struct context *from = &contexts.of[i];
		struct lttng_event_context context = {.ctx = kinds[from->kind]};

		if (from->kind == CONTEXT_PERF) {
			context.u.perf_counter.type = from->type;
			context.u.perf_counter.config = from->config;
			/* as LTTng's own command calls it */
			snprintf(context.u.perf_counter.name, sizeof(context.u.perf_counter.name),
				"perf_thread_%s", from->name);
			g_strdelimit(context.u.perf_counter.name, "-", '_');
		}
		code = lttng_add_context(handle, &context, NULL, channel);
		code = code == -LTTNG_ERR_UST_CONTEXT_EXIST ? 0 : code;
	}
	return code;
}
