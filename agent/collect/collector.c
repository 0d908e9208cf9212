/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/collector.h"

#include <glib.h>

#include "base/clock.h"
#include "collect/keeper.h"

/* The pause between two attempts to get a session. */
#define RETRY_NS (500 * NS_PER_MS)

struct collector {
	struct collector_options options;
	struct keeper *keeper;
	struct runstate state;
	pthread_t thread;
};

static void *run(void *data)
{
	struct collector *collector = data;

	while (!runstate_stopping(&collector->state)) {
		bool at_once = keeper_run(collector->keeper);

		if (runstate_stopping(&collector->state))
			break;
		pipeline_tick(collector->options.pipeline, clock_monotonic(), true);
		progress_tick(collector->options.progress);
		keeper_clean(collector->keeper);
		if (!at_once)
			runstate_pause(&collector->state, RETRY_NS);
	}
	if (!progress_keeps(collector->options.progress))
		pipeline_flush(collector->options.pipeline);
	progress_stop(collector->options.progress);
	collector->options.done(collector->options.data);
	return NULL;
}

struct collector *collector_create(const struct collector_options *options)
{
	struct collector *collector = g_new0(struct collector, 1);

	collector->options = *options;
	runstate_init(&collector->state);
	collector->keeper = keeper_create(
		options->config, options->pipeline, options->fanout, options->progress, &collector->state);
	if (collector->keeper && pthread_create(&collector->thread, NULL, run, collector) == 0)
		return collector;
	if (collector->keeper)
		keeper_destroy(collector->keeper);
	runstate_free(&collector->state);
	g_free(collector);
	return NULL;
}

void collector_stop(struct collector *collector, int64_t timeout_ns)
{
	runstate_request_stop(&collector->state, timeout_ns);
}

void collector_configure(struct collector *collector, const struct config *config)
{
	keeper_configure(collector->keeper, config);
}

int64_t collector_progress(const struct collector *collector)
{
	return atomic_load_explicit(&collector->state.moved, memory_order_relaxed);
}

bool collector_asks(const struct collector *collector)
{
	return runstate_is_calling(&collector->state);
}

void collector_read_state(struct collector *collector, struct collector_state *state)
{
	runstate_read(&collector->state, state);
}

void collector_destroy(struct collector *collector)
{
	pthread_join(collector->thread, NULL);
	progress_finish(collector->options.progress, !progress_keeps(collector->options.progress) &&
							     !progress_session(collector->options.progress));
	keeper_clean(collector->keeper);
	keeper_destroy(collector->keeper);
	runstate_free(&collector->state);
	g_free(collector);
}
