/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin import`: sends traces on disk, through the agent's own code, to the collectors. */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "assemble/pipeline.h"
#include "base/clock.h"
#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "core/ledger.h"
#include "find_traces.h"
#include "options.h"
#include "output/outputs.h"
#include "queue/batch.h"
#include "read/reader.h"
#include "uplink/uplink.h"

static const char help[] =
	"Usage: blkin import [OPTION]... DIR...\n"
	"Send the spans in CTF traces on disk to the configured outputs. DIR is a trace or a\n"
	"folder of traces, such as `lttng create --output=DIR` creates.\n"
	"\n"
	"  --config FILE       the configuration with the outputs; by default\n"
	"                      " CONFIG_DEFAULT_FILE ", if it is there\n"
	"  --server HOST:PORT  send to this collector instead of the configured outputs\n"
	"  --help              show this\n"
	"\n"
	"It waits while a collector is away, and exits with 0 once every span is accepted.\n"
	"Importing a trace twice is harmless: Zipkin merges duplicates.\n";

struct import {
	struct config config;
	GPtrArray *traces;
	struct event_base *base;
	struct event *ended, *interrupted, *ticking;
	struct outputs *outputs;
	struct fanout *fanout;
	struct pipeline *pipeline;
	struct reader *reader;
	pthread_t thread;
	atomic_bool stop;
	bool failed; /* the reader; read once its thread has ended */
	bool interrupting;
	int64_t started;
};

/* The reader's thread */

static void *read_traces(void *data)
{
	struct import *import = data;
	enum reader_status status = READER_MORE;

	while ((status == READER_MORE || status == READER_IDLE) && !import->stop)
		status = reader_step(import->reader);
	import->failed = status == READER_ERROR;
	pipeline_flush(import->pipeline);
	event_active(import->ended, 0, 0);
	return NULL;
}

/* The loop */

static void on_drained(void *data)
{
	struct import *import = data;

	event_base_loopbreak(import->base);
}

static void on_ended(evutil_socket_t fd, short what, void *data)
{
	struct import *import = data;

	(void)fd;
	(void)what;
	outputs_drain(import->outputs, on_drained, import);
}

static void on_interrupted(evutil_socket_t signal, short what, void *data)
{
	struct import *import = data;

	(void)signal;
	(void)what;
	import->interrupting = true;
	event_base_loopbreak(import->base);
}

static void show_progress(const struct import *import)
{
	double seconds = (double)(clock_monotonic() - import->started) / NS_PER_SECOND;
	struct ledger rows;

	ledger_read(&rows);
	fprintf(stderr, "\r%" PRId64 " events read, %" PRId64 " spans made, %.0f s ", rows.row[EVENTS_READ],
		rows.row[SPANS_MADE], seconds);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	show_progress(data);
}

static int open_traces(struct import *import, int argc, char **argv)
{
	struct intake_options into = {.pipeline = import->pipeline, .by_event_time = true};
	char error[512];

	import->traces = g_ptr_array_new_with_free_func(free);
	for (int i = 0; i < argc; i++)
		if (find_traces(argv[i], import->traces) != 0)
			return -1;
	import->reader = reader_open_files(
		(char *const *)import->traces->pdata, import->traces->len, &into, error, sizeof(error));
	if (import->reader)
		return 0;
	log_error("%s", error);
	return -1;
}

static int start(struct import *import, int argc, char **argv)
{
	const struct config *config = &import->config;
	struct assembler_limits limits = pipeline_limits(config);
	struct timeval often = {0, 200000};

	signal(SIGPIPE, SIG_IGN);
	evthread_use_pthreads();
	import->started = clock_monotonic();
	import->base = event_base_new();
	import->ended = event_new(import->base, -1, EV_PERSIST, on_ended, import);
	import->interrupted = evsignal_new(import->base, SIGINT, on_interrupted, import);
	import->ticking = event_new(import->base, -1, EV_PERSIST, on_tick, import);
	import->outputs = outputs_create(import->base, config, true);
	if (!import->outputs)
		return -1;
	import->fanout = fanout_create(outputs_outlets(import->outputs));
	import->pipeline = pipeline_create(&limits, import->fanout);
	if (open_traces(import, argc, argv) != 0)
		return -1;
	event_add(import->interrupted, NULL);
	if (isatty(STDERR_FILENO))
		event_add(import->ticking, &often);
	return pthread_create(&import->thread, NULL, read_traces, import);
}

static void end(struct import *import)
{
	if (import->outputs)
		outputs_end(import->outputs);
	if (import->reader)
		reader_close(import->reader);
	if (import->pipeline)
		pipeline_destroy(import->pipeline);
	fanout_destroy(import->fanout);
	outputs_destroy(import->outputs);
	event_free(import->ended);
	event_free(import->interrupted);
	event_free(import->ticking);
	event_base_free(import->base);
	if (import->traces)
		g_ptr_array_unref(import->traces);
	libevent_global_shutdown();
}

/* Prints what became of the spans at an output; returns whether all are sent. */
static bool report_output(const struct import *import, const struct output_state *output)
{
	const int64_t *row = output->account.row;

	if (outputs_count(import->outputs) > 1)
		printf("output %s: ", output->name);
	printf("%" PRId64 " spans: %" PRId64 " sent, %" PRId64 " refused, %" PRId64 " too large, %" PRId64
	       " not sent\n",
		row[SPANS_TAKEN], row[SPANS_SENT], row[SPANS_DROPPED_REFUSED], row[SPANS_DROPPED_OVERSIZE],
		row[SPANS_QUEUED]);
	return row[SPANS_SENT] == row[SPANS_TAKEN];
}

/* Prints what became of everything; returns the exit code. */
static int report(const struct import *import)
{
	struct output_state outputs[CONFIG_OUTPUTS_MAX];
	struct ledger rows;
	size_t count = outputs_read(import->outputs, &rows, outputs, CONFIG_OUTPUTS_MAX).on;
	const int64_t *row = rows.row;
	bool good = !import->failed && !row[SPANS_PENDING];

	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K");
	printf("%" PRId64 " events read: %" PRId64 " in spans, %" PRId64 " rejected, %" PRId64
	       " of other programs ignored\n",
		row[EVENTS_READ], row[EVENTS_IN_SPANS],
		row[EVENTS_REJECTED_MALFORMED] + row[EVENTS_REJECTED_ID] + row[EVENTS_REJECTED_TIME],
		row[EVENTS_IGNORED]);
	if (row[EVENTS_LOST_RING] || row[PACKETS_LOST])
		printf("lost when they were recorded: %" PRId64 " events, %" PRId64 " packets\n",
			row[EVENTS_LOST_RING], row[PACKETS_LOST]);
	for (size_t i = 0; i < count; i++)
		good &= report_output(import, &outputs[i]);
	if (import->failed)
		log_error("a trace could not be read to its end: %s", reader_error(import->reader));
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run(struct import *import, int argc, char **argv)
{
	int status = EXIT_FAILURE;

	if (start(import, argc, argv) == 0) {
		event_base_dispatch(import->base);
		if (import->interrupting) {
			/* the reader's thread may wait for a collector that is away, so it is not joined */
			report(import);
			fflush(stdout);
			_exit(EXIT_FAILURE);
		}
		pthread_join(import->thread, NULL);
		status = report(import);
	}
	end(import);
	return status;
}

/* Leaves one output, to @server, with the other settings of [output]. */
static void deliver_to(struct config *config, const char *server)
{
	struct output_config *output = g_ptr_array_index(config->outputs, 0);

	g_ptr_array_set_size(config->outputs, 1);
	if (output->type == CONFIG_OUTPUT_NONE)
		output->type = CONFIG_OUTPUT_SCRIBE;
	g_free(output->server);
	output->server = g_strdup(server);
}

static bool delivers(const struct config *config)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(config->outputs, i);

		if (output->type != CONFIG_OUTPUT_NONE)
			return true;
	}
	return false;
}

/* Reads the options into @import's config; returns an exit code, or -1 to go on. */
static int read_options(struct import *import, int argc, char **argv)
{
	static const struct option options[] = {
		{"config", required_argument, NULL, 'c'}, {"server", required_argument, NULL, 's'}, {0}};
	const char *file = NULL, *server = NULL;
	struct address addresses[ADDRESSES_MAX];
	int option;

	while ((option = options_next(argc, argv, options, help)) >= 0)
		*(option == 'c' ? &file : &server) = optarg;
	if (option == OPTIONS_HELP)
		return EX_OK;
	if (option == OPTIONS_WRONG)
		return EX_USAGE;
	if (server && address_parse_list(server, addresses) == 0) {
		log_error("%s: not HOST:PORT, as 127.0.0.1:9410 or [::1]:9410", server);
		return EX_USAGE;
	}
	if (optind == argc) {
		log_error("name the traces: `blkin import DIR...`");
		return EX_USAGE;
	}
	if (config_read(&import->config, file ? file : CONFIG_DEFAULT_FILE, !file) != 0)
		return EX_CONFIG;
	if (server)
		deliver_to(&import->config, server);
	if (!delivers(&import->config)) {
		log_error("every output has `type = none`: name the collector with --server");
		return EX_CONFIG;
	}
	return -1;
}

int command_import(int argc, char **argv)
{
	struct import import = {0};
	int status;

	log_init("blkin import");
	config_init(&import.config);
	status = read_options(&import, argc, argv);
	if (status < 0)
		status = run(&import, argc - optind, argv + optind);
	config_free(&import.config);
	return status;
}
