/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/kernelnames.h"

#include <stdlib.h>

#include "session/rules.h"

static bool is_among(const struct lttng_event *events, int count, const char *name)
{
	for (int i = 0; i < count; i++)
		if (g_pattern_match_simple(name, events[i].name))
			return true;
	return false;
}

static bool wants(const GPtrArray *wanted, enum lttng_event_type type)
{
	for (guint i = 0; i < wanted->len; i++)
		if (((const struct rule *)wanted->pdata[i])->type == type)
			return true;
	return false;
}

static const char *missing_of(
	struct lttng_handle *handle, const GPtrArray *wanted, enum lttng_event_type type)
{
	struct lttng_event *events = NULL;
	const char *missing = NULL;
	int count;

	if (!wants(wanted, type))
		return NULL;
	count = type == LTTNG_EVENT_SYSCALL ? lttng_list_syscalls(&events)
					    : lttng_list_tracepoints(handle, &events);
	for (guint i = 0; i < wanted->len && count >= 0 && !missing; i++) {
		const struct rule *rule = wanted->pdata[i];

		if (rule->type == type && !is_among(events, count, rule->name))
			missing = rule->name;
	}
	free(events);
	return missing;
}

const char *kernelnames_missing(struct lttng_handle *handle, const GPtrArray *wanted)
{
	const char *missing = missing_of(handle, wanted, LTTNG_EVENT_TRACEPOINT);

	return missing ? missing : missing_of(handle, wanted, LTTNG_EVENT_SYSCALL);
}
