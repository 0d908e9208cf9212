/* SPDX-License-Identifier: BSD-2-Clause */
#include "agent.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/outputtype.h"
#include "core/ledger.h"
#include "inlet/inputs.h"
#include "notify.h"
#include "output/checkpoint.h"
#include "output/generous.h"
#include "output/outputs.h"
#include "queue/fanout.h"
#include "reload.h"
#include "session/daemons.h"
#include "stats/monitor.h"
#include "stats/statistics.h"
#include "status/activity.h"
#include "status/controlsocket.h"
#include "status/http.h"
#include "status/status.h"
#include "supervise/supervisor.h"

struct agent {
	const struct config *config; /* in effect; a reload creates another one */
	struct event_base *base;
	struct outputs *outputs;
	struct fanout *fanout; /* the supervisor's thread uses it and the checkpoint */
	struct checkpoint *checkpoint;
	struct statistics *statistics;
	struct monitor *monitor;
	struct traces *traces; /* NULL: none are kept */
	struct subscribers *subscribers;
	struct daemons *daemons;
	struct supervisor *supervisor;
	struct inputs *inputs;
	struct http *http;
	struct status_source source;
	struct activity *activity;
	struct notify *notify;
	struct reload reloading;
	struct event *terminate[2]; /* SIGTERM, SIGINT */
	struct event *reload;       /* SIGHUP */
	struct event *collected;    /* activated when nothing more is read, or taken in */
	_Atomic int producers;      /* of spans, that go on: the supervisor and the inputs */
	struct event *tick;         /* of the monitor */
	struct event *deadline;     /* limits the stop's current stage */
	bool stopping;
	bool all_read; /* and no more is taken in */
	bool ending;   /* what was started is undone, while events may still come */
	bool hopeless; /* only another configuration helps */
};

/* These run in the supervisor's thread and in the inputs'; libevent wakes the loop. */

static void wake_collected(void *data)
{
	struct agent *agent = data;

	if (--agent->producers == 0)
		event_active(agent->collected, 0, 0);
}

static void record(void *data)
{
	struct agent *agent = data;

	checkpoint_write(agent->checkpoint, false);
}

/* What an input takes. */
static void show(void *data, const struct items *spans)
{
	struct agent *agent = data;

	subscribers_show(agent->subscribers, NULL, spans);
}

/* Exemplars are of traces that an output keeps. */
static void choose_exemplars(const struct agent *agent)
{
	const struct keep keep = generous_keep(agent->config, agent->outputs);

	statistics_show(agent->statistics, &keep);
}

/*
 * A stop has two stages, each with a time limit: the supervisor's reader reads what was recorded, then the
 * outputs deliver what is queued. A second signal ends it at once.
 */
static void on_terminate(evutil_socket_t signal, short what, void *data)
{
	struct agent *agent = data;
	struct timeval limit = clock_timeval(agent->config->stop_timeout + NS_PER_SECOND);

	(void)signal;
	(void)what;
	if (agent->stopping) {
		event_base_loopbreak(agent->base);
		return;
	}
	agent->stopping = true;
	notify_stopping(agent->notify);
	log_info(supervisor_keeps(agent->supervisor)
			 ? "stopping: delivering what was read; the session keeps recording"
			 : "stopping: reading what was recorded, then delivering it");
	inputs_stop(agent->inputs);
	supervisor_stop(agent->supervisor, agent->config->stop_timeout);
	event_add(agent->deadline, &limit);
}

static void on_reload(evutil_socket_t signal, short what, void *data)
{
	struct agent *agent = data;

	(void)signal;
	(void)what;
	if (agent->stopping)
		return;
	notify_reloading();
	reload_run(&agent->reloading);
	agent->config = agent->source.config = agent->reloading.config;
	choose_exemplars(agent);
	notify_ready(agent->notify);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	const struct agent *agent = data;

	(void)fd;
	(void)what;
	choose_exemplars(agent); /* as shares may have changed */
	monitor_tick(agent->monitor);
	monitor_keep_traces(agent->monitor, agent->traces);
	daemons_mend(agent->daemons, supervisor_reason(agent->supervisor));
}

static void on_drained(void *data)
{
	struct agent *agent = data;

	event_base_loopbreak(agent->base);
}

static void on_collected(evutil_socket_t fd, short what, void *data)
{
	struct agent *agent = data;
	struct timeval limit = clock_timeval(agent->config->stop_timeout);

	(void)fd;
	(void)what;
	if (agent->ending) /* it took longer than a stop may: there is nothing to drain any more */
		return;
	agent->all_read = true;
	event_add(agent->deadline, &limit);
	outputs_drain(agent->outputs, on_drained, agent);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	struct agent *agent = data;

	(void)fd;
	(void)what;
	if (!agent->all_read)
		log_warning("within `stop-timeout`, the session was not read to its end, or an input did not "
			    "stop taking spans in");
	event_base_loopbreak(agent->base);
}

/* Starting, in the reverse order of freeing */

static void make_loop(struct agent *agent)
{
	memory_serve_libevent();
	memory_keep_batches();
	evthread_use_pthreads();
	agent->base = event_base_new();
	agent->collected = event_new(agent->base, -1, EV_PERSIST, on_collected, agent);
	agent->deadline = evtimer_new(agent->base, on_deadline, agent);
	agent->terminate[0] = evsignal_new(agent->base, SIGTERM, on_terminate, agent);
	agent->terminate[1] = evsignal_new(agent->base, SIGINT, on_terminate, agent);
	agent->reload = evsignal_new(agent->base, SIGHUP, on_reload, agent);
}

/* The spools come last: they enter into the ledger what differs from the checkpoint, which the checkpoint
 * load. */
static bool make_delivery(struct agent *agent)
{
	const struct config *config = agent->config;

	agent->outputs = outputs_create(agent->base, config, false);
	if (!agent->outputs)
		return false;
	agent->fanout = fanout_create(outputs_outlets(agent->outputs));
	agent->statistics = statistics_create();
	choose_exemplars(agent);
	agent->traces = traces_create(agent->config->page_traces);
	agent->subscribers = subscribers_create();
	agent->checkpoint = checkpoint_open(config->state_directory, agent->fanout);
	return agent->checkpoint && outputs_start_spools(agent->outputs, config);
}

static bool make_answers(struct agent *agent)
{
	const struct timeval tick = {WINDOWS_TICK_SECONDS, 0};

	agent->monitor = monitor_create(agent->statistics, agent->config);
	agent->tick = event_new(agent->base, -1, EV_PERSIST, on_tick, agent);
	event_add(agent->tick, &tick);
	agent->activity = activity_create(agent->base, agent->config);
	agent->source = (struct status_source){
		.config = agent->config,
		.outputs = agent->outputs,
		.statistics = agent->statistics,
		.monitor = agent->monitor,
		.traces = agent->traces,
		.subscribers = agent->subscribers,
		.activity = agent->activity,
		.reload = &agent->reloading.state,
		.started = clock_wall(),
		.begun = clock_monotonic(),
		.forgets = agent->config->keep && !checkpoint_lasting(agent->checkpoint),
	};
	agent->notify = notify_create(agent->base, &agent->source);
	agent->http = http_create(agent->base, &agent->source, &agent->hopeless);
	if (!agent->http)
		return false;
	agent->source.http_error = http_error(agent->http);
	return true;
}

static bool make_collection(struct agent *agent)
{
	uint64_t position;
	bool holds;

	event_add(agent->terminate[0], NULL);
	event_add(agent->terminate[1], NULL);
	event_add(agent->reload, NULL);
	checkpoint_newest(agent->checkpoint, &position, &holds);
	agent->daemons = daemons_create(agent->base, agent->config, position != 0);
	if (!agent->daemons)
		return false;
	agent->supervisor = supervisor_create(&(struct supervisor_options){
		.config = agent->config,
		.fanout = agent->fanout,
		.checkpoint = agent->checkpoint,
		.namer = statistics_namer(agent->statistics, STATISTICS_READER),
		.traces = agent->traces,
		.subscribers = agent->subscribers,
		.done = wake_collected,
		.data = agent,
	});
	agent->source.supervisor = agent->supervisor;
	activity_set_supervisor(agent->activity, agent->supervisor);
	return agent->supervisor != NULL;
}

static bool make_inputs(struct agent *agent)
{
	const struct inlet_options options = {
		.traces = agent->traces,
		.show = show,
		.record = record,
		.stopped = wake_collected,
		.data = agent,
	};

	agent->inputs =
		inputs_create(agent->config, outputs_outlets(agent->outputs), agent->statistics, &options);
	agent->source.inputs = agent->inputs;
	return agent->inputs != NULL;
}

static bool start(struct agent *agent)
{
	make_loop(agent);
	agent->producers = 2;
	if (!controlsocket_is_free(agent->config) || !make_delivery(agent) || !make_answers(agent) ||
		!make_collection(agent) || !make_inputs(agent))
		return false;
	agent->reloading = (struct reload){
		.file = agent->reloading.file,
		.config = agent->config,
		.outputs = agent->outputs,
		.fanout = agent->fanout,
		.supervisor = agent->supervisor,
		.inputs = agent->inputs,
		.http = agent->http,
		.monitor = agent->monitor,
		.state.succeeded = agent->source.started,
		.state.read = g_strdup(agent->config->hash),
	};
	notify_ready(agent->notify);
	return true;
}

/* Stopping */

/* "8 of 10 spans delivered": of those that the output keeps; the caller's. */
static char *describe_delivery(const struct output_state *output)
{
	const int64_t *row = output->account.row, sampled = row[SPANS_SAMPLED_OUT],
		      back = row[SPANS_GIVEN_BACK];
	g_autofree char *left = g_strdup_printf(", %" PRId64 " sampled out", sampled),
			*given = g_strdup_printf(", %" PRId64 " given back to their senders", back);

	return g_strdup_printf("%" PRId64 " of %" PRId64 " %s delivered%s%s", row[SPANS_SENT],
		row[SPANS_TAKEN] + row[SPANS_RECOVERED] - sampled - back, kind_name(output->kind),
		sampled ? left : "", back ? given : "");
}

/* Logs what became of one output's spans. */
static void report_output(const struct agent *agent, const struct output_state *output)
{
	const int64_t *row = output->account.row;
	bool named = outputs_count(agent->outputs) > 1;
	const struct output_config *is = config_output(agent->config, output->name);
	const char *what = named ? "output " : "", *name = named ? output->name : "",
		   *end = named ? ": " : "", *items = kind_name(output->kind);

	if (row[SPANS_SPOOLED])
		log_info("%s%s%s%lld %s are in the spool: the next start delivers them", what, name, end,
			(long long)row[SPANS_SPOOLED], items);
	if (supervisor_keeps(agent->supervisor) && row[SPANS_QUEUED])
		log_info("%s%s%s%lld %s are not delivered yet: the next start reads them again", what, name,
			end, (long long)row[SPANS_QUEUED], items);
	if (output->dropped_at_end)
		log_warning("%s%s%s%lld %s are not delivered: %s%s did not accept them in time", what, name,
			end, (long long)output->dropped_at_end, items,
			output_type_has_servers(output_type_of(is)) ? "the collector at " : "",
			config_output_place(is));
	if (named) {
		g_autofree char *delivery = describe_delivery(output);

		log_info("output %s: %s", name, delivery);
	}
}

/* Logs the final counts. */
static void report(const struct agent *agent)
{
	struct output_state outputs[CONFIG_LANES_MAX];
	struct ledger rows;
	size_t count = outputs_read(agent->outputs, &rows, outputs, CONFIG_LANES_MAX).on;

	for (size_t i = 0; i < count; i++)
		report_output(agent, &outputs[i]);
	if (count == 1) {
		g_autofree char *delivery = describe_delivery(&outputs[0]);

		log_info("stopped: %lld events read, %s", (long long)rows.row[EVENTS_READ], delivery);
	} else {
		log_info("stopped: %lld events read, %lld spans made", (long long)rows.row[EVENTS_READ],
			(long long)rows.row[SPANS_MADE]);
	}
}

/* Undoes what start did, however far it got. */
static void end(struct agent *agent)
{
	agent->stopping = agent->ending = true;
	if (agent->http)
		http_destroy(agent->http);
	if (agent->notify)
		notify_destroy(agent->notify);
	if (agent->activity)
		activity_destroy(agent->activity);
	if (agent->outputs)
		outputs_end(agent->outputs); /* stores what waits, which settles it */
	if (agent->inputs)                   /* tells the senders so, once that is in the checkpoint */
		inputs_destroy(agent->inputs);
	if (agent->supervisor) {
		outputs_drop(agent->outputs, !supervisor_keeps(agent->supervisor));
		if (supervisor_keeps(agent->supervisor))
			checkpoint_write(agent->checkpoint, true);
		report(agent);
		supervisor_destroy(agent->supervisor);
	}
	if (agent->daemons)
		daemons_destroy(agent->daemons);
	if (agent->checkpoint)
		checkpoint_close(agent->checkpoint);
	fanout_destroy(agent->fanout);
	if (agent->tick)
		event_free(agent->tick);
	monitor_destroy(agent->monitor);
	statistics_destroy(agent->statistics);
	traces_destroy(agent->traces);
	subscribers_destroy(agent->subscribers);
	outputs_destroy(agent->outputs);
	for (int i = 0; i < 2; i++)
		event_free(agent->terminate[i]);
	event_free(agent->reload);
	event_free(agent->deadline);
	event_free(agent->collected);
	event_base_free(agent->base);
	libevent_global_shutdown();
	reload_free(&agent->reloading);
	g_free(agent->reloading.state.read);
}

int agent_run(const struct config *config, const char *file)
{
	struct agent agent = {.config = config, .reloading.file = file};
	bool started;

	signal(SIGPIPE, SIG_IGN);
	/* where files may not be so large (LimitFSIZE=), a write fails, which is told; readers inherit it */
	signal(SIGXFSZ, SIG_IGN);
	started = start(&agent);
	if (started)
		event_base_dispatch(agent.base);
	if (agent.supervisor && !agent.all_read)
		log_warning("stopped although the session was not read to its end, or an input still took "
			    "spans in");
	end(&agent);
	if (started && agent.all_read)
		return EXIT_SUCCESS;
	return agent.hopeless ? EX_CONFIG : EXIT_FAILURE;
}
