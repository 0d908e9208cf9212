/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each reader is a process, as the agent's is; which died of whom, and what the next one has to do about
 * that, is the agent's own code. What goes over the socket between the two is shared memory here.
 */
#include "trace/by_recovery.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <sanitizer/lsan_interface.h>

#include "config/load.h"
#include "fuzz.h"
#include "import/guard.h"
#include "reader/assemble/pipeline.h"
#include "reader/progress.h"
#include "reader/recover.h"
#include "reader/users.h"
#include "supervise/crashsuspects.h"
#include "trace/witness.h"

#define SESSION "blkin"
#define STAMP "20260102-030405"
#define CREATED 1767323045 /* that */
/* The first that dies may be anybody's, then two for each user. */
#define READERS_MAX 64

struct reading {
	struct guard guard;
	const struct config *config;
	struct orders orders;
	int64_t lost; /* packets that were left out, by what is told of culprits */
};

static struct reading *reading;

char *recovery_folder(const char *output)
{
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	return g_build_filename(output, host, SESSION "-" STAMP, NULL);
}

/* Where the reader tells the agent */

bool agent_link_is_due(const struct agent_link *link)
{
	(void)link;
	return true;
}

void agent_link_tick(struct agent_link *link, uint64_t moves)
{
	(void)link;
	(void)moves;
}

void agent_link_offer(struct agent_link *link, uint64_t number, const struct buffer *place)
{
	(void)link;
	(void)number;
	(void)place;
}

uint64_t agent_link_settled(const struct agent_link *link, int64_t *cost)
{
	(void)link;
	*cost = 0;
	return 0;
}

void agent_link_save(struct agent_link *link)
{
	(void)link;
}

void agent_link_well(struct agent_link *link, uint64_t user)
{
	(void)link;
	(void)user;
}

size_t runstate_excess(const struct runstate *state)
{
	(void)state;
	return 0;
}

void runstate_alone(struct runstate *state, const uint64_t *user)
{
	(void)state;
	witness->alone = user ? *user + 1 : 0;
}

void runstate_collects_in_part(
	struct runstate *state, const char *session, enum reason reason, const char *error)
{
	(void)state;
	(void)session;
	(void)reason;
	(void)error;
}

/* The reader */

static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	const struct batch *spans = made->spans.batch;

	(void)data;
	(void)now;
	(void)at_once;
	ledger_post(change);
	memset(change, 0, sizeof(*change));
	if (spans)
		witness_see(spans);
}

static bool stopping(void *data)
{
	struct reading *is = data;

	is->guard.steps++;
	return false;
}

static void left_out(void *data, uint64_t user, uint64_t packets, const char *error)
{
	struct reading *is = data;

	(void)user;
	is->lost += (int64_t)packets;
	witness_hold(*error, "a user is left out without a reason");
}

static void read_session(struct reading *is, struct pipeline *pipeline, struct progress *progress)
{
	static const struct session_identity session = {.name = SESSION, .created = CREATED};
	GPtrArray *users = users_create(is->orders.suspects);
	struct runstate state = {0};
	const struct recover recover = {.config = is->config,
		.pipeline = pipeline,
		.progress = progress,
		.users = users,
		.state = &state,
		.alone = is->orders.alone,
		.stopping = stopping,
		.left_out = left_out,
		.data = is};
	char error[512] = "";

	progress_begin(progress, &session);
	witness_hold(
		recover_rest(&recover, error, sizeof(error)) == RECOVER_OK, "it cannot be read: %s", error);
	g_ptr_array_unref(users);
}

static void be_reader(void *data)
{
	struct reading *is = data;
	struct assembler_limits limits = pipeline_limits(is->config);
	struct pipeline *pipeline = pipeline_create(&limits, false, (struct pipeline_sink){.hand = hand});
	struct progress *progress = progress_create(is->config, pipeline, NULL, &is->orders);

	witness_begin();
	is->lost = 0;
	guard_watch(&is->guard);
	read_session(is, pipeline, progress);
	pipeline_flush(pipeline);
	progress_destroy(progress);
	pipeline_destroy(pipeline);
	ledger_read(&witness->rows);
	signal(SIGPROF, SIG_IGN); /* looking for leaks is no step */
	witness_hold(__lsan_do_recoverable_leak_check() == 0, "the reader leaks");
	is->guard.finished = true;
	_exit(0);
}

/* The agent */

static void check_end(void)
{
	const int64_t *row = witness->rows.row;

	witness_hold_ledger(&witness->rows);
	witness_hold(row[SPANS_PENDING] == 0 && row[SPANS_MADE] == witness->spans,
		"%" PRId64 " spans made, %" PRId64 " handed over", row[SPANS_MADE], witness->spans);
	witness_hold(row[PACKETS_LOST] + row[PACKETS_LOST_UNREADABLE] >= reading->lost,
		"%" PRId64 " packets lost, %" PRId64 " of them unreadable, %" PRId64 " left out",
		row[PACKETS_LOST], row[PACKETS_LOST_UNREADABLE], reading->lost);
	for (unsigned i = 0; i < witness->good; i++)
		witness_hold(witness->times[i] == 1, "span %u of the good trace is handed over %u times", i,
			witness->times[i]);
}

static bool run_reader(struct crash_suspects *crash)
{
	static GArray *suspects; /* LeakSanitizer does not look for pointers in shared memory */
	uint64_t alone;
	const char *how;
	bool done;

	reading->orders = (struct orders){0};
	crash_suspects_order(crash, &reading->orders);
	suspects = reading->orders.suspects;
	witness->alone = 0;
	done = guard_run(&reading->guard, be_reader, reading, false, &how);
	g_array_unref(suspects);
	witness_hold(done || reading->guard.stuck || strstr(how, "signal") || witness_excuses(how),
		"a reader %s", how);
	alone = witness->alone - 1;
	if (!done)
		crash_suspects_died(crash, witness->alone ? &alone : NULL, false, DEATH_PLAIN);
	return done;
}

void recover_output(const char *output)
{
	struct crash_suspects *crash = crash_suspects_create();
	struct config config;
	unsigned readers = 1;

	if (!reading)
		reading = guard_share(sizeof(*reading));
	fuzz_hold(reading != NULL, "memory can be shared");
	config_init(&config);
	g_free(config.relay_output);
	config.relay_output = g_strdup(output);
	g_free(config.state_directory);
	config.state_directory = g_strdup(fuzz_folder());
	reading->config = &config;
	while (!run_reader(crash) && readers < READERS_MAX)
		readers++;
	witness_hold(readers < READERS_MAX, "readers die for ever");
	check_end();
	config_free(&config);
	crash_suspects_destroy(crash);
}
