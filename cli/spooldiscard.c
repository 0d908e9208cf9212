/* SPDX-License-Identifier: BSD-2-Clause */
#include "spooldiscard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "ask_agent.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/log.h"
#include "base/suggest.h"
#include "output/spool/spoollist.h"
#include "output/spool/spoolremove.h"
#include "output/spool/spoolrow.h"
#include "spoolview.h"
#include "status/discardtalk.h"

/* Between two questions how it goes. */
#define LOOK_US 50000

bool spooldiscard_read_time(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		int64_t seconds;
	} units[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
	char *end;
	guint64 number = g_ascii_strtoull(text, &end, 10);

	for (size_t i = 0; g_ascii_isdigit(*text) && i < G_N_ELEMENTS(units); i++)
		if (strcmp(end, units[i].name) == 0 && number > 0 && number <= INT32_MAX &&
			!__builtin_mul_overflow((int64_t)number, units[i].seconds * NS_PER_SECOND, ns))
			return true;
	return false;
}

/* One spool of those that were named. */
struct job {
	const struct spooldiscard *request;
	const char *output;
	const struct spool_found *left; /* that no output delivers any more; NULL: the agent has it */
	int64_t before;                 /* INT64_MAX: any event */
	int64_t spans, oldest, newest;  /* what is to go; the newest event of all */
};

static const char *items_of(const struct job *job)
{
	return kind_name(lane_kind(job->output, NULL));
}

/* What is there */

static void add(struct job *job, const struct spoolrow *row)
{
	job->newest = MAX(job->newest, row->newest);
	if (row->newest >= job->before)
		return;
	job->oldest = job->spans ? MIN(job->oldest, row->oldest) : row->oldest;
	job->spans += row->count;
}

static int count_rows(struct job *job, struct spoolview *view)
{
	sqlite3_stmt *stmt = spoolview_prepare(view, SPOOLROW_NEXT_HEAD);
	struct spoolrow row = {0};
	int rc = SQLITE_ROW;

	if (!stmt)
		return EXIT_FAILURE;
	while (rc == SQLITE_ROW) {
		int64_t before = row.id;

		rc = spoolview_step_behind(stmt, before);
		if (rc == SQLITE_ROW && (!spoolrow_read(stmt, &row) || row.id <= before))
			rc = SQLITE_CORRUPT;
		sqlite3_reset(stmt);
		if (rc == SQLITE_ROW)
			add(job, &row);
	}
	return spoolview_finish(view, stmt, rc);
}

static int count(struct job *job)
{
	g_autofree char *path = spoolname_spool(job->request->config->state_directory, job->output);
	struct spoolview view = {.output = job->output, .path = path};
	int code = spoolview_open(&view);

	if (view.db)
		code = count_rows(job, &view);
	spoolview_close(&view);
	return code;
}

/* The question */

/* Whether to go on. */
static bool agrees(const struct job *job)
{
	int64_t age = MAX(clock_wall() - job->oldest, 0);
	char line[16] = "", text[HUMAN_MAX];

	if (job->request->yes)
		return true;
	printf("Discard %" PRId64 " %s of %soutput %s", job->spans, items_of(job),
		job->left ? "the former " : "", job->output);
	if (job->spans)
		printf(", oldest from %s ago", human_time(text, age - age % NS_PER_SECOND));
	printf("? [y/N] ");
	fflush(stdout);
	if (fgets(line, sizeof(line), stdin) &&
		(g_ascii_strcasecmp(line, "y\n") == 0 || g_ascii_strcasecmp(line, "yes\n") == 0))
		return true;
	printf("nothing of output %s is discarded\n", job->output);
	return false;
}

/* By the agent */

static int ask(const struct job *job, bool order, struct discard_state *state)
{
	struct discard_question question = {.before = job->before};
	const struct config *config = job->request->config;
	const enum agent_kind kind = config->user ? AGENT_OF_USER : AGENT_OF_SYSTEM;
	const char *socket = config->socket;
	struct buffer page = {0}, answer = {0};
	int code;

	g_strlcpy(question.output, job->output, sizeof(question.output));
	buffer_printf(&page, "%s?", DISCARDTALK_PATH);
	discardtalk_put_question(&page, &question);
	buffer_put(&page, "", 1);
	code = (order ? order_agent : ask_agent)(socket, kind, (const char *)page.data, &answer);
	if (code == EX_OK && !discardtalk_get_answer((const char *)answer.data, state)) {
		log_error("what answers on %s is not blkin-agent", socket);
		code = EXIT_FAILURE;
	}
	buffer_free(&page);
	buffer_free(&answer);
	return code;
}

static int tell(const struct job *job, const struct discard_state *state)
{
	printf("output %s: %" PRId64 " %s are discarded", job->output, state->spans, items_of(job));
	if (state->under_way)
		printf("; %" PRId64 " %s being sent, and discarded if %s back", state->under_way,
			state->under_way == 1 ? "batch is" : "batches are",
			state->under_way == 1 ? "it comes" : "they come");
	printf("\n");
	fflush(stdout);
	if (!state->error[0])
		return EX_OK;
	log_error("output %s: the rest is not discarded: %s", job->output, state->error);
	return EXIT_FAILURE;
}

/* Waits until the agent is through. */
static int wait_for(const struct job *job, struct discard_state *state)
{
	const uint64_t order = state->order;
	struct discard_state last = *state;

	while (!state->over && state->order == order) {
		g_usleep(LOOK_US);
		last = *state;
		if (ask(job, false, state) != EX_OK) {
			log_error("output %s: the agent ended while it discarded spans; it has counted those "
				  "that "
				  "are gone: try again once it runs",
				job->output);
			return EXIT_FAILURE;
		}
	}
	if (state->order == order)
		return tell(job, state);
	log_error("output %s: the agent was restarted, or got another order, after %" PRId64
		  " spans were discarded: try again",
		job->output, last.spans);
	return EXIT_FAILURE;
}

static int by_agent(struct job *job)
{
	struct discard_state state;
	int code = EX_OK;

	if (!*job->request->config->socket) {
		log_error("the control socket is switched off in the configuration (`socket` in [agent]), so "
			  "the "
			  "agent cannot be asked");
		return EX_CONFIG;
	}
	code = ask(job, false, &state);
	if (code == EX_OK && !job->request->yes)
		code = count(job);
	if (code != EX_OK)
		return code;
	if (!job->request->yes && !job->spans) {
		printf("output %s: no such %s wait in its spool\n", job->output, items_of(job));
		return EX_OK;
	}
	if (!agrees(job))
		return EXIT_FAILURE;
	code = ask(job, true, &state);
	return code == EX_OK ? wait_for(job, &state) : code;
}

/* Without it: the spool of an output that is gone */

static int remove_left(struct job *job)
{
	const char *directory = job->request->config->state_directory;
	char why[512] = "";

	job->spans = 0;
	if (job->request->yes && !job->request->older_ns)
		job->spans = job->left->counted ? job->left->spans : 0; /* though it may be damaged */
	else if (count(job) != EX_OK)
		return EXIT_FAILURE;
	if (job->newest >= job->before) {
		log_error("the spool of %s, which no output delivers, has newer spans too: it is removed as "
			  "a whole "
			  "or not at all",
			job->output);
		return EXIT_FAILURE;
	}
	if (!agrees(job))
		return EXIT_FAILURE;
	switch (spoolremove(directory, job->output, why, sizeof(why))) {
	case SPOOL_REMOVED:
		printf("output %s: %" PRId64 " %s are discarded, with the spool's files\n", job->output,
			job->spans, items_of(job));
		return EX_OK;
	case SPOOL_IN_USE:
		log_error("output %s is not in the configuration, but the agent still has its spool: reload "
			  "the "
			  "agent, or wait until it has ended the output",
			job->output);
		return EXIT_FAILURE;
	default:
		log_error("%s", why);
		return EXIT_FAILURE;
	}
}

/* All of them */

static bool is_delivered(const struct config *config, const char *output)
{
	const struct output_config *is = config_output(config, output);

	return is && config_lane_is_on(is, lane_kind(output, NULL)) && is->spool_size;
}

static int discard_one(const struct spooldiscard *request, const char *output, const struct spool_found *left)
{
	struct job job = {.request = request, .output = output, .left = left, .before = INT64_MAX};

	if (request->older_ns)
		job.before = MAX(clock_wall() - request->older_ns, 0);
	return left ? remove_left(&job) : by_agent(&job);
}

static const struct spool_found *find_left(const GPtrArray *spools, const char *output)
{
	for (guint i = 0; i < spools->len; i++) {
		const struct spool_found *found = g_ptr_array_index(spools, i);

		if (strcmp(found->output, output) == 0)
			return found;
	}
	return NULL;
}

/* Neither the configuration nor the folder knows it. */
static int say_unknown(const struct spooldiscard *request)
{
	const GPtrArray *outputs = request->config->outputs;
	const char *names[CONFIG_OUTPUTS_MAX], *meant;
	size_t known = 0;

	if (config_output(request->config, request->output)) {
		log_error("output %s has no spool", request->output);
		return EXIT_FAILURE;
	}
	for (guint i = 0; i < outputs->len && known < CONFIG_OUTPUTS_MAX; i++)
		names[known++] = ((const struct output_config *)g_ptr_array_index(outputs, i))->name;
	meant = suggest(request->output, names, known);
	log_error("there is no output %s in the configuration, and no spool of it in %s%s%s%s",
		request->output, request->config->state_directory, meant ? "; did you mean " : "",
		meant ? meant : "", meant ? "?" : "");
	return EXIT_FAILURE;
}

/* The agent's absence is told once. */
static int discard_all(const struct spooldiscard *request, const GPtrArray *spools)
{
	const GPtrArray *outputs = request->config->outputs;
	int code = EX_OK, one = EX_OK;

	for (guint i = 0; i < KINDS * outputs->len && one != EX_UNAVAILABLE; i++) {
		const struct output_config *is = g_ptr_array_index(outputs, i / KINDS);
		g_autofree char *lane = lane_name(is->name, i % KINDS);

		if (!is_delivered(request->config, lane))
			continue;
		one = discard_one(request, lane, NULL);
		code = one != EX_OK ? one : code;
	}
	for (guint i = 0; i < spools->len; i++) {
		const struct spool_found *found = g_ptr_array_index(spools, i);

		if (!is_delivered(request->config, found->output) &&
			discard_one(request, found->output, found) != EX_OK && code == EX_OK)
			code = EXIT_FAILURE;
	}
	return code;
}

int spooldiscard(const struct spooldiscard *request)
{
	g_autoptr(GPtrArray) spools = spoollist_read(request->config->state_directory);
	const struct spool_found *left;

	if (!request->yes && !isatty(STDIN_FILENO)) {
		log_error("there is no terminal to ask on: with --yes nothing is asked");
		return EX_USAGE;
	}
	if (!spools) {
		log_error("%s: %s; root, and the user that the agent runs as, can see the spools",
			request->config->state_directory, g_strerror(errno));
		return EXIT_FAILURE;
	}
	if (!request->output)
		return discard_all(request, spools);
	if (is_delivered(request->config, request->output))
		return discard_one(request, request->output, NULL);
	left = find_left(spools, request->output);
	return left ? discard_one(request, request->output, left) : say_unknown(request);
}
