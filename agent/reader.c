/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blkin-reader: the part of the agent that reads LTTng's session. The agent starts it, and starts it again
 * when it ends before its time; it is of no use to anybody else.
 */
#define _GNU_SOURCE /* prlimit */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/config.h"
#include "config/load.h"
#include "reader/agentlink.h"
#include "reader/assemble/pipeline.h"
#include "reader/keeper.h"
#include "reader/progress.h"
#include "reader/runstate.h"
#include "session/flightsession.h"

/* The pause between two attempts to get a session. */
#define RETRY_NS (500 * NS_PER_MS)
#define OOM_SCORE "1000"

struct reading {
	struct config config;
	struct runstate state;
	struct agent_link *link;
	struct pipeline *pipeline;
	struct progress *progress;
	struct keeper *keeper;
};

/* For the link */

static void save_reached(void *data, struct buffer *out)
{
	const struct reading *reading = data;

	progress_save_reached(reading->progress, out);
}

static void on_stop(void *data, int64_t timeout_ns)
{
	struct reading *reading = data;

	runstate_request_stop(&reading->state, timeout_ns);
}

static void on_leave(void *data)
{
	struct reading *reading = data;

	runstate_request_leave(&reading->state);
}

static void on_snapshot(void *data, uint64_t number)
{
	struct reading *reading = data;

	keeper_take_snapshot(reading->keeper, number);
}

static void on_configure(void *data, const struct settings *settings)
{
	struct reading *reading = data;
	struct assembler_limits limits = {.linger_ns = settings->linger,
		.grace_ns = settings->grace,
		.max_bytes = settings->max_pending};

	pipeline_configure(reading->pipeline, &limits, settings->events != 0);
	keeper_configure(reading->keeper, settings);
	log_configure((enum log_level)settings->log_level, (enum log_format)settings->log_format);
}

/* The session */

static void read_session(struct reading *reading)
{
	bool keeps;

	while (!runstate_stopping(&reading->state)) {
		bool at_once = keeper_run(reading->keeper);

		if (runstate_stopping(&reading->state))
			break;
		pipeline_tick(reading->pipeline, clock_monotonic(), true);
		progress_tick(reading->progress);
		keeper_clean(reading->keeper);
		if (!at_once)
			runstate_pause(&reading->state, RETRY_NS);
	}
	keeps = progress_keeps(reading->progress) || runstate_leaves(&reading->state);
	if (!keeps) {
		keeper_stop(reading->keeper);
		flightsession_end(&reading->config);
		pipeline_flush(reading->pipeline);
	}
	progress_stop(reading->progress);
	agent_link_end(reading->link);
	progress_finish(reading->progress);
	keeper_clean(reading->keeper);
	agent_link_finish(reading->link,
		!keeps && !progress_session(reading->progress) && !progress_over(reading->progress)->len);
}

/* Sanitizers take memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* babeltrace2 maps 256 KiB for each stream, and touches little of it: for thousands of streams. */
#define MAPPED_MAX (UINT64_C(1) << 30)

/* What programs record must not make it take more memory than it is given: rather it ends. The agent watches
 * what it touches; this is for what it asks for in one step. */
static void limit_memory(uint64_t bytes)
{
	const struct rlimit most = {bytes + MAPPED_MAX, bytes + MAPPED_MAX};

	memory_keep_large_apart();
	memory_wait_not();
	if (!SANITIZED)
		prlimit(0, RLIMIT_DATA, &most, NULL); /* the unit's filter denies setrlimit */
}

/* Where memory is short, it is what the kernel ends first. */
static void offer_itself(void)
{
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (score < 0)
		return;
	if (write(score, OOM_SCORE, strlen(OOM_SCORE)) < 0)
		log_warning("/proc/self/oom_score_adj cannot be written: %s", g_strerror(errno));
	close(score);
}

/* It dies with the agent; and what babeltrace2 asserts leaves no core. */
static void depend(void)
{
	const struct rlimit none = {0, 0};

	offer_itself();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prlimit(0, RLIMIT_CORE, &none, NULL);
	signal(SIGPIPE, SIG_IGN);
	/* what is sent to all of the agent's processes is for the agent, which stops this one */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

static int load_config(struct config *config, const struct orders *orders)
{
	config_init(config);
	if (config_read(config, READER_CONFIG_PATH, false) != 0)
		return -1;
	config->user = orders->user;
	config->own_relay = orders->own_relay;
	log_configure((enum log_level)config->log_level, (enum log_format)config->log_format);
	return 0;
}

static bool begin(struct reading *reading, struct page *page)
{
	struct assembler_limits limits;
	struct orders orders = {0};
	struct agent_link_asks asks = {save_reached, on_stop, on_leave, on_snapshot, on_configure, reading};
	bool open;

	reading->link = agent_link_create(READER_SOCKET, &page->ring, &orders);
	if (!reading->link || load_config(&reading->config, &orders) != 0)
		return false;
	limit_memory(reading->config.reader_memory);
	limits = pipeline_limits(&reading->config);
	runstate_init(&reading->state, page, reading->link);
	reading->pipeline = pipeline_create(&limits, orders.events, agent_link_sink(reading->link));
	pipeline_make_pairs(reading->pipeline, &reading->config, true);
	reading->progress = progress_create(&reading->config, reading->pipeline, reading->link, &orders);
	reading->keeper = keeper_create(&(struct keeper_parts){.config = &reading->config,
						.pipeline = reading->pipeline,
						.progress = reading->progress,
						.state = &reading->state,
						.link = reading->link},
		&orders);
	open = reading->keeper && agent_link_open(reading->link, &asks);
	g_array_unref(orders.suspects);
	return open;
}

int main(void)
{
	static struct reading reading; /* never freed: the listening thread uses it to the end */
	struct page *page;

	log_init("blkin-agent");
	depend();
	page = page_map(READER_PAGE);
	if (!page) {
		fputs("blkin-reader is started by blkin-agent, and by nobody else.\n", stderr);
		return EX_USAGE;
	}
	if (!begin(&reading, page))
		return EXIT_FAILURE;
	read_session(&reading);
	keeper_destroy(reading.keeper);
	progress_destroy(reading.progress);
	pipeline_destroy(reading.pipeline);
	config_free(&reading.config);
	return EXIT_SUCCESS;
}
