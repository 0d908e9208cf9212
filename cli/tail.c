/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin tail`: the spans of this node as they finish. */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "look/folding.h"
#include "look/stream.h"
#include "look/wanted.h"
#include "options.h"
#include "print_spans.h"
#include "status/protocol.h"
#include "which_agent.h"

/* How often an agent that is gone is looked for, and losses are told at most. */
#define AGAIN_MS 500
#define TELL_NS NS_PER_SECOND

static const char help[] =
	"Usage: blkin tail [OPTION]...\n"
	"\n"
	"Show the spans of this node as they finish, whatever the outputs keep of them: when, how\n"
	"long, the service, the name, the trace and the tags. Stop it with Ctrl-C.\n"
	"\n"
	"  --service PATTERN    only those of this service; * and ? stand for anything\n"
	"  --name PATTERN       only those of this name\n"
	"  --min-duration TIME  only those that took so long: 250us, 20ms, 1.5s\n"
	"  --errors             only those with the tag `error`\n"
	"  --tag TAG            only those with this tag: KEY=VALUE, or KEY with any value\n"
	"  --trace ID           only those of this trace\n"
	"  --trees              whole traces, as `blkin collect` draws them; the options above choose\n"
	"                       the traces that have such a span, and what took less is folded\n"
	"  --json               print one span per line, in Zipkin's version 2 JSON\n"
	"  --count N            stop after N spans, or with --trees after N traces\n" FOLDING_HELP
	"\n" WHICH_AGENT_HELP "\n"
	"What comes faster than it is taken is left out, and counted; the agent waits for nobody.\n"
	"The node's answers root and the members of group `blkin` only, and a user's own that user.\n";

struct tail {
	struct which_agent which;
	struct wanted wanted;
	struct span_printer_options printing;
	bool trees;
	uint64_t count; /* of spans, or of trees; 0: no end */

	struct stream stream;
	struct span_printer *printer;
	GPtrArray *spans;
	uint64_t shown, lost, told;
	int64_t told_at;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Losses */

static void tell_losses(struct tail *tail, bool at_once)
{
	uint64_t lost = tail->lost + tail->stream.lost;
	int64_t now = clock_monotonic();

	if (lost == tail->told || (!at_once && now - tail->told_at < TELL_NS))
		return;
	fprintf(stderr, "blkin tail: %" PRIu64 " spans left out, as they came faster than they were taken\n",
		lost - tail->told);
	tail->told = lost;
	tail->told_at = now;
}

/* The agent */

/* For whole traces it is asked for all spans: only the trace that they are of may be chosen. */
static int open_stream(struct tail *tail, bool quiet)
{
	struct tail_filter filter = tail->wanted.filter;
	struct buffer page = {0};
	int code, fd;

	if (tail->trees)
		filter = (struct tail_filter){.trace = filter.trace};
	buffer_printf(&page, PROTOCOL_TAIL_PATH "?");
	tail_filter_put(&page, &filter);
	buffer_put(&page, "", 1);
	code = ask_agent_open(
		tail->which.path, tail->which.kind, (const char *)page.data, quiet, &tail->stream.in, &fd);
	buffer_free(&page);
	if (code == EX_OK)
		stream_begin(&tail->stream, fd);
	return code;
}

/* It is looked for until it is there again, or that was interrupted. */
static void open_again(struct tail *tail)
{
	tail->lost += tail->stream.lost;
	stream_end(&tail->stream);
	fprintf(stderr, "blkin tail: the agent on %s is gone: waiting for it\n", tail->which.path);
	while (!interrupted && open_stream(tail, true) != EX_OK)
		poll(NULL, 0, AGAIN_MS);
	if (!interrupted)
		fprintf(stderr, "blkin tail: the agent is there again\n");
}

/* Showing */

static bool is_done(const struct tail *tail)
{
	return interrupted || (tail->count && tail->shown >= tail->count);
}

/* The printer chooses whole traces. */
static void choose(struct tail *tail)
{
	if (tail->trees)
		return;
	for (guint i = 0; i < tail->spans->len;) {
		if (wanted_takes(&tail->wanted, g_ptr_array_index(tail->spans, i)))
			i++;
		else
			g_ptr_array_remove_index(tail->spans, i);
	}
	if (tail->count && tail->spans->len > tail->count - tail->shown)
		g_ptr_array_set_size(tail->spans, (gint)(tail->count - tail->shown));
	tail->shown += tail->spans->len;
}

/* Returns an exit code, or -1 to go on. */
static int show(struct tail *tail)
{
	bool failed;

	choose(tail);
	span_printer_add(tail->printer, tail->spans);
	span_printer_show_quiet(tail->printer);
	if (tail->trees)
		tail->shown = span_printer_traces(tail->printer);
	if (is_done(tail))
		span_printer_show_all(tail->printer);
	if (!span_printer_write(tail->printer, &failed))
		return failed ? EXIT_FAILURE : EX_OK;
	tell_losses(tail, is_done(tail));
	return is_done(tail) ? EX_OK : -1;
}

static int run(struct tail *tail)
{
	int code = open_stream(tail, false);

	if (code != EX_OK)
		return code;
	do {
		struct pollfd ready = {.fd = tail->stream.fd, .events = POLLIN};

		if (poll(&ready, 1, 100) > 0 && !stream_take(&tail->stream, tail->spans)) {
			if (tail->stream.strange) {
				log_error("the agent on %s is of another version than this blkin %s",
					tail->which.path, BLKIN_VERSION);
				return EXIT_FAILURE;
			}
			if (!interrupted)
				open_again(tail);
		}
		code = show(tail);
	} while (code < 0);
	return code;
}

static int tail_spans(struct tail *tail)
{
	struct sigaction action = {.sa_handler = on_signal};
	int code;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	tail->printing.lines = !tail->trees;
	if (tail->trees) {
		tail->printing.wants = wanted_takes_any;
		tail->printing.data = &tail->wanted;
		tail->printing.most_traces = tail->count;
	}
	tail->spans = g_ptr_array_new_with_free_func(span2_free);
	tail->printer = span_printer_create(&tail->printing);
	code = run(tail);
	stream_end(&tail->stream);
	span_printer_destroy(tail->printer);
	g_ptr_array_unref(tail->spans);
	return code;
}

/* Options */

static bool take_text(const char *option, const char *value, char text[TAIL_FILTER_TEXT_MAX])
{
	if (g_strlcpy(text, value, TAIL_FILTER_TEXT_MAX) < TAIL_FILTER_TEXT_MAX)
		return true;
	log_error("--%s is too long", option);
	return false;
}

static bool take_count(const char *text, uint64_t *count)
{
	if (g_ascii_string_to_unsigned(text, 10, 1, UINT64_MAX, count, NULL))
		return true;
	log_error("--count takes a whole number above 0, not %s", text);
	return false;
}

static bool take_option(struct tail *tail, int option)
{
	switch (option) {
	case 'S':
		return take_text("service", optarg, tail->wanted.filter.service);
	case 'N':
		return take_text("name", optarg, tail->wanted.filter.name);
	case 'm':
		return folding_option(&tail->printing.folding, option) &&
		       wanted_duration(optarg, &tail->wanted.filter.min_duration);
	case 'e':
		tail->wanted.filter.errors = true;
		return true;
	case 't':
		g_ptr_array_add(tail->wanted.tags, optarg);
		return true;
	case 'i':
		return wanted_trace(&tail->wanted, optarg);
	case 'T':
		tail->trees = true;
		return true;
	case 'j':
		tail->printing.json = true;
		return true;
	case 'n':
		return take_count(optarg, &tail->count);
	default:
		return which_agent_option(&tail->which, option) ||
		       folding_option(&tail->printing.folding, option);
	}
}

static int read_options(int argc, char **argv, struct tail *tail)
{
	static const struct option known[] = {
		{"service", required_argument, NULL, 'S'},
		{"name", required_argument, NULL, 'N'},
		FOLDING_OPTIONS,
		{"errors", no_argument, NULL, 'e'},
		{"tag", required_argument, NULL, 't'},
		{"trace", required_argument, NULL, 'i'},
		{"trees", no_argument, NULL, 'T'},
		{"json", no_argument, NULL, 'j'},
		{"count", required_argument, NULL, 'n'},
		WHICH_AGENT_OPTIONS,
		{0},
	};
	int option;

	while ((option = options_next(argc, argv, known, help)) >= 0)
		if (!take_option(tail, option))
			return OPTIONS_WRONG;
	if (option != OPTIONS_END)
		return option;
	if (tail->trees && tail->printing.json) {
		log_error("--trees is for people, and --json for machines: use one of them");
		return OPTIONS_WRONG;
	}
	return options_no_arguments(argc, argv);
}

int command_tail(int argc, char **argv)
{
	struct tail tail = {.wanted.tags = g_ptr_array_new()};
	int code = EX_USAGE;

	log_init("blkin tail");
	switch (read_options(argc, argv, &tail)) {
	case OPTIONS_END:
		code = which_agent_find(&tail.which);
		break;
	case OPTIONS_HELP:
		g_ptr_array_unref(tail.wanted.tags);
		return EX_OK;
	default:
		break;
	}
	if (tail.which.path)
		code = tail_spans(&tail);
	g_free(tail.which.path);
	g_ptr_array_unref(tail.wanted.tags);
	return code;
}
