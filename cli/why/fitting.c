/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/fitting.h"

#include <string.h>

#include "why/origin.h"

struct fitting {
	const GPtrArray *traces;
	struct origin *origins; /* of each of them */
	GHashTable *clocks;     /* of programs: struct origin by its clock, borrowed */
};

static bool has_spans(const struct fitting *fitting, const char *clock, uint64_t id,
	const struct config *config, struct guard *guard)
{
	g_autoptr(GPtrArray) some = g_ptr_array_new();
	struct why probe;
	char error[256];
	bool any;

	for (guint i = 0; i < fitting->traces->len; i++)
		if (!fitting->origins[i].kernel && !strcmp(fitting->origins[i].clock, clock))
			g_ptr_array_add(some, fitting->traces->pdata[i]);
	why_init(&probe, id);
	why_read_spans(&probe, config, some, guard, error, sizeof(error));
	any = probe.first <= probe.last;
	why_free(&probe);
	return any;
}

static void find_clocks(
	struct fitting *fitting, uint64_t id, const struct config *config, struct guard *guard)
{
	GHashTableIter all;
	void *clock;

	for (guint i = 0; i < fitting->traces->len; i++)
		if (!fitting->origins[i].kernel && *fitting->origins[i].clock)
			g_hash_table_replace(
				fitting->clocks, fitting->origins[i].clock, &fitting->origins[i]);
	if (g_hash_table_size(fitting->clocks) < 2)
		return;
	g_hash_table_iter_init(&all, fitting->clocks);
	while (g_hash_table_iter_next(&all, &clock, NULL))
		if (!has_spans(fitting, clock, id, config, guard))
			g_hash_table_iter_remove(&all);
}

/* Of a trace whose clock is not known, and without any other to compare it with, nobody can tell. */
static bool fits(const struct fitting *fitting, const struct origin *origin)
{
	return !origin->kernel || !*origin->clock || !g_hash_table_size(fitting->clocks) ||
	       g_hash_table_contains(fitting->clocks, origin->clock);
}

GPtrArray *fitting_traces(
	struct why *why, const struct config *config, const GPtrArray *traces, struct guard *guard)
{
	struct fitting fitting = {
		traces, g_new0(struct origin, traces->len), g_hash_table_new(g_str_hash, g_str_equal)};
	GPtrArray *fit = g_ptr_array_new();
	unsigned kernels = 0;

	for (guint i = 0; i < traces->len; i++) {
		fitting.origins[i] = origin_read(traces->pdata[i]);
		kernels += fitting.origins[i].kernel;
	}
	if (kernels)
		find_clocks(&fitting, why->id, config, guard);
	for (guint i = 0; i < traces->len; i++) {
		if (fits(&fitting, &fitting.origins[i]))
			g_ptr_array_add(fit, traces->pdata[i]);
		else if (!why->foreign)
			why->foreign = g_strdup(fitting.origins[i].host);
	}
	why->kernels = kernels;
	why->spread = g_hash_table_size(fitting.clocks) > 1;
	g_hash_table_unref(fitting.clocks);
	g_free(fitting.origins);
	return fit;
}
