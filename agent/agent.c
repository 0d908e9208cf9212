/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "assemble/pipeline.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "collect/collector.h"
#include "collect/progress.h"
#include "core/ledger.h"
#include "notify.h"
#include "output/output.h"
#include "queue/batch.h"
#include "reload.h"
#include "session/daemons.h"
#include "spool/spooler.h"
#include "spool/spoolname.h"
#include "status/activity.h"
#include "status/http.h"
#include "status/status.h"
#include "uplink/uplink.h"

struct agent {
	const struct config *config; /* what is in effect: a reload makes another one */
	struct event_base *base;
	struct batch_queue *queue;
	struct line *line;
	struct progress *progress;
	struct uplink *uplink;
	struct spooler *spooler; /* NULL: the configuration wants none */
	struct collector *collector;
	struct http *http;
	struct status_source source;
	struct activity *activity;
	struct notify *notify;
	struct daemons *daemons;
	struct reload reloading;
	struct event *terminate[2]; /* SIGTERM, SIGINT */
	struct event *reload;       /* SIGHUP */
	struct event *pushed;       /* active when the reader's thread pushed a batch */
	struct event *collected;    /* active when that thread has ended */
	struct event *deadline;     /* of the stop's present stage */
	bool stopping;
	bool collector_ended;
};

static struct timeval to_timeval(int64_t ns)
{
	return (struct timeval){ns / NS_PER_SECOND, ns % NS_PER_SECOND / 1000};
}

/* In the reader's thread: libevent wakes the loop. */
static void wake_pushed(void *data)
{
	struct agent *agent = data;

	event_active(agent->pushed, 0, 0);
}

static void wake_collected(void *data)
{
	struct agent *agent = data;

	event_active(agent->collected, 0, 0);
}

static void on_pushed(evutil_socket_t fd, short what, void *data)
{
	struct agent *agent = data;

	(void)fd;
	(void)what;
	if (agent->uplink)
		uplink_wake(agent->uplink);
}

/*
 * A stop has two stages, each with its time: the collector reads what was recorded, then the uplink delivers
 * what is queued. A second signal ends it at once.
 */
static void on_terminate(evutil_socket_t signal, short what, void *data)
{
	struct agent *agent = data;
	struct timeval limit = to_timeval(agent->config->stop_timeout + NS_PER_SECOND);

	(void)signal;
	(void)what;
	if (agent->stopping) {
		event_base_loopbreak(agent->base);
		return;
	}
	agent->stopping = true;
	notify_stopping(agent->notify);
	log_info(progress_keeps(agent->progress)
			 ? "stopping: delivering what was read; the session goes on recording"
			 : "stopping: reading what was recorded, then delivering it");
	collector_stop(agent->collector, agent->config->stop_timeout);
	event_add(agent->deadline, &limit);
}

static void on_reload(evutil_socket_t signal, short what, void *data)
{
	struct agent *agent = data;

	(void)signal;
	(void)what;
	if (agent->stopping)
		return;
	notify_reloading(agent->notify);
	reload_run(&agent->reloading);
	agent->config = agent->source.config = agent->reloading.config;
	agent->source.uplink = agent->uplink;
	agent->source.queue_limit = config_output(agent->config, "default")->queue_size;
	notify_ready(agent->notify);
}

static void on_drained(void *data)
{
	struct agent *agent = data;

	event_base_loopbreak(agent->base);
}

static void on_collected(evutil_socket_t fd, short what, void *data)
{
	struct agent *agent = data;
	struct timeval limit = to_timeval(agent->config->stop_timeout);

	(void)fd;
	(void)what;
	agent->collector_ended = true;
	event_add(agent->deadline, &limit);
	batch_close(agent->queue);
	uplink_when_drained(agent->uplink, on_drained, agent);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct agent *agent = data;

	(void)fd;
	(void)what;
	if (!agent->collector_ended)
		log_warning("the session could not be read to its end: lttng-sessiond or lttng-relayd hangs");
	event_base_loopbreak(agent->base);
}

/* Returns false if there should be a spool, and none can be had. */
static bool start_spooler(struct agent *agent)
{
	const struct config *config = agent->config;
	const struct spooler_options options = {
		.directory = config->state_directory,
		.name = SPOOLNAME_DEFAULT,
		.max_bytes = config_output(config, SPOOLNAME_DEFAULT)->spool_size,
		.sync_full = config->spool_sync == CONFIG_SYNC_FULL,
		.replay_share = config->spool_replay_share,
		.replay_floor = config->spool_replay_floor,
	};

	if (!options.max_bytes)
		return true;
	agent->spooler = spooler_create(&options, agent->queue);
	return agent->spooler != NULL;
}

/* The rooms, from the collector's end of the line to the programs' */
static int start(struct agent *agent)
{
	const struct config *config = agent->config;
	const struct output_config *output = config_output(config, "default");
	struct batch_limits limits = output_batch_limits(output);
	struct uplink_options uplink = output_options(output);

	memory_serve_libevent();
	evthread_use_pthreads();
	agent->base = event_base_new();
	agent->pushed = event_new(agent->base, -1, EV_PERSIST, on_pushed, agent);
	agent->collected = event_new(agent->base, -1, EV_PERSIST, on_collected, agent);
	agent->deadline = evtimer_new(agent->base, on_deadline, agent);
	agent->terminate[0] = evsignal_new(agent->base, SIGTERM, on_terminate, agent);
	agent->terminate[1] = evsignal_new(agent->base, SIGINT, on_terminate, agent);
	agent->reload = evsignal_new(agent->base, SIGHUP, on_reload, agent);
	agent->queue = batch_queue_create(&limits, wake_pushed, agent);
	agent->line = line_create(config, agent->queue);
	agent->progress = progress_create(config, agent->line, agent->queue);
	agent->uplink = uplink_create(agent->base, agent->queue, &uplink);
	if (!start_spooler(agent))
		return -1;
	agent->activity = activity_create(agent->base, config);
	agent->source = (struct status_source){.config = config,
		.uplink = agent->uplink,
		.spooler = agent->spooler,
		.queue = agent->queue,
		.activity = agent->activity,
		.queue_limit = output->queue_size,
		.reload = &agent->reloading.state,
		.started = clock_wall()};
	agent->notify = notify_create(agent->base, &agent->source);
	agent->http = http_create(agent->base, config, &agent->source);
	if (!agent->progress || !agent->uplink || !agent->http)
		return -1;
	event_add(agent->terminate[0], NULL);
	event_add(agent->terminate[1], NULL);
	event_add(agent->reload, NULL);
	agent->daemons = daemons_create(agent->base, config);
	if (!agent->daemons)
		return -1;
	agent->collector = collector_create(&(struct collector_options){.config = config,
		.line = agent->line,
		.queue = agent->queue,
		.progress = agent->progress,
		.done = wake_collected,
		.data = agent});
	agent->source.collector = agent->collector;
	if (!agent->collector)
		return -1;
	agent->reloading = (struct reload){.file = agent->reloading.file,
		.config = agent->config,
		.base = agent->base,
		.queue = agent->queue,
		.line = agent->line,
		.collector = agent->collector,
		.http = agent->http,
		.uplink = &agent->uplink,
		.state.succeeded = agent->source.started};
	notify_ready(agent->notify);
	return 0;
}

/* The last word: what became of the spans. */
static void report(struct agent *agent)
{
	struct ledger rows;

	ledger_read(&rows, NULL);
	if (rows.row[SPANS_SPOOLED])
		log_info("%lld spans are in the spool, to be delivered by the next start",
			(long long)rows.row[SPANS_SPOOLED]);
	if (progress_keeps(agent->progress) && rows.row[SPANS_QUEUED])
		log_info("%lld spans are not delivered yet: the next start reads them again",
			(long long)rows.row[SPANS_QUEUED]);
	else if (rows.row[SPANS_DROPPED_SHUTDOWN])
		log_warning("%lld spans are not delivered: the collector at %s did not take them in time",
			(long long)rows.row[SPANS_DROPPED_SHUTDOWN],
			config_output(agent->config, "default")->server);
	log_info("stopped: %lld events read, %lld of %lld spans delivered", (long long)rows.row[EVENTS_READ],
		(long long)rows.row[SPANS_SENT], (long long)rows.row[SPANS_MADE]);
}

/* Undoes what start did, as far as it came. */
static void end(struct agent *agent)
{
	if (agent->http)
		http_destroy(agent->http);
	if (agent->notify)
		notify_destroy(agent->notify);
	if (agent->activity)
		activity_destroy(agent->activity);
	if (agent->uplink)
		uplink_destroy(agent->uplink);
	agent->uplink = NULL;
	/* libevent frees what the connections had in a later round */
	event_base_loop(agent->base, EVLOOP_NONBLOCK);
	spooler_destroy(agent->spooler); /* what waits is stored, and so settled */
	if (agent->collector) {
		if (!progress_keeps(agent->progress))
			batch_drop_all(agent->queue, SPANS_DROPPED_SHUTDOWN);
		collector_destroy(agent->collector);
		report(agent);
	}
	if (agent->daemons)
		daemons_destroy(agent->daemons);
	if (agent->progress)
		progress_destroy(agent->progress);
	line_destroy(agent->line);
	batch_queue_destroy(agent->queue);
	for (int i = 0; i < 2; i++)
		event_free(agent->terminate[i]);
	event_free(agent->reload);
	event_free(agent->deadline);
	event_free(agent->pushed);
	event_free(agent->collected);
	event_base_free(agent->base);
	libevent_global_shutdown();
	reload_free(&agent->reloading);
}

int agent_run(const struct config *config, const char *file)
{
	struct agent agent = {.config = config, .reloading.file = file};
	int started;

	signal(SIGPIPE, SIG_IGN);
	started = start(&agent);
	if (started == 0)
		event_base_dispatch(agent.base);
	if (agent.collector && !agent.collector_ended) {
		/* its thread may hang in LTTng, and uses all the rest: only the process's end ends it */
		log_warning("stopped without reading the session to its end");
		/* what is kept on record is read again by the next start; what is not, is stored */
		if (!progress_keeps(agent.progress)) {
			uplink_destroy(agent.uplink);
			spooler_destroy(agent.spooler);
		}
		if (agent.http)
			http_destroy(agent.http);
		_exit(EXIT_FAILURE);
	}
	end(&agent);
	return started == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
