/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/collector.h"

#include <glib.h>

#include "base/clock.h"
#include "collect/keeper.h"

/* Between two tries to have a session. */
#define RETRY_NS (500 * NS_PER_MS)

struct collector {
	struct pipeline *pipeline;
	struct progress *progress;
	struct keeper *keeper;
	struct collecting collecting;
	void (*done)(void *data);
	void *data;
	pthread_t thread;
};

static void *run(void *data)
{
	struct collector *collector = data;

	while (!collecting_stopping(&collector->collecting)) {
		bool at_once = keeper_run(collector->keeper);

		if (collecting_stopping(&collector->collecting))
			break;
		pipeline_tick(collector->pipeline, clock_monotonic(), true);
		progress_tick(collector->progress);
		keeper_clean(collector->keeper);
		if (!at_once)
			collecting_pause(&collector->collecting, RETRY_NS);
	}
	if (!progress_keeps(collector->progress))
		pipeline_flush(collector->pipeline);
	progress_stop(collector->progress);
	collector->done(collector->data);
	return NULL;
}

struct collector *collector_create(const struct config *config, struct pipeline *pipeline,
	struct fanout *fanout, struct progress *progress, void (*done)(void *data), void *data)
{
	struct collector *collector = g_new0(struct collector, 1);

	collector->pipeline = pipeline;
	collector->progress = progress;
	collector->done = done;
	collector->data = data;
	collecting_init(&collector->collecting);
	collector->keeper = keeper_create(config, pipeline, fanout, progress, &collector->collecting);
	if (collector->keeper && pthread_create(&collector->thread, NULL, run, collector) == 0)
		return collector;
	if (collector->keeper)
		keeper_destroy(collector->keeper);
	collecting_free(&collector->collecting);
	g_free(collector);
	return NULL;
}

void collector_stop(struct collector *collector, int64_t timeout_ns)
{
	collecting_stop(&collector->collecting, timeout_ns);
}

void collector_configure(struct collector *collector, const struct config *config)
{
	keeper_configure(collector->keeper, config);
}

int64_t collector_progress(const struct collector *collector)
{
	return atomic_load_explicit(&collector->collecting.moved, memory_order_relaxed);
}

bool collector_asks(const struct collector *collector)
{
	return collecting_is_asking(&collector->collecting);
}

void collector_read_state(struct collector *collector, struct collector_state *state)
{
	collecting_read(&collector->collecting, state);
}

void collector_destroy(struct collector *collector)
{
	pthread_join(collector->thread, NULL);
	progress_finish(collector->progress,
		!progress_keeps(collector->progress) && !progress_session(collector->progress));
	keeper_clean(collector->keeper);
	keeper_destroy(collector->keeper);
	collecting_free(&collector->collecting);
	g_free(collector);
}
