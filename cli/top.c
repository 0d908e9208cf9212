/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin top`: what the programs of this node do, by service and name, or by program. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/suggest.h"
#include "commands.h"
#include "config/config.h"
#include "look/fit.h"
#include "look/heading.h"
#include "look/live.h"
#include "look/ranking.h"
#include "look/screen.h"
#include "look/table.h"
#include "look/wanted.h"
#include "options.h"
#include "status/protocol.h"
#include "status/spansjson.h"
#include "which_agent.h"

static const char help[] =
	"Usage: blkin top [OPTION]...\n"
	"\n"
	"Show the spans of this node by service and name: how many, how long, which failed, anew\n"
	"every two seconds; `h` lists the keys. Without a terminal it is as with --once.\n"
	"All are counted, also those that no output keeps.\n"
	"\n"
	"  --once         print them once, as counted since the agent began, and end\n"
	"  --every TIME   look that often: 500ms, 10s\n"
	"  --programs     by program instead: its name, pid and user\n"
	"  --sort KEY     by share (of the time), rate, mean, p50, p99, max, errors, count\n"
	"                 or name\n"
	"  --filter TEXT  only those whose names have these words\n"
	"  --json         with --once: print an array of JSON\n" WHICH_AGENT_HELP "\n"
	"The node's agent answers root and the members of group `blkin` only, and a user's own that\n"
	"user. The exit code is 69 if no agent answers.\n";

struct options {
	struct which_agent which;
	struct ranking ranking;
	bool once, json;
	double seconds; /* between two looks */
};

static int print(struct buffer *out)
{
	bool good;

	fit_locale(out);
	fwrite(out->data, 1, out->size, stdout);
	good = fflush(stdout) == 0;
	buffer_free(out);
	return good ? EX_OK : EXIT_FAILURE;
}

static int print_bytes(struct buffer *out)
{
	fwrite(out->data, 1, out->size, stdout);
	buffer_free(out);
	return fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
}

static int print_programs(const struct snapshot *snapshot)
{
	struct buffer out = {0};

	figures_put_programs(&out, snapshot);
	buffer_printf(&out, "\n");
	return print_bytes(&out);
}

/* What the agent's page has, in the agent's words: it knows the thresholds. */
static int print_series(const struct options *options)
{
	struct buffer out = {0};
	int code = ask_agent(options->which.path, options->which.kind, SPANSJSON_PATH, &out);

	if (code == EX_OK)
		return print_bytes(&out);
	buffer_free(&out);
	return code;
}

static int print_text(const struct options *options, const struct snapshot *snapshot)
{
	const char *no_colour = getenv("NO_COLOR");
	struct buffer out = {0};
	struct winsize window;
	struct table table = {
		.count = UINT_MAX, .programs = options->ranking.programs, .key = options->ranking.key};
	g_autoptr(GArray) rows = ranking_make(&options->ranking, snapshot);

	table.rows = rows;
	if (isatty(STDOUT_FILENO)) {
		table.colour = !no_colour || !*no_colour;
		if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
			table.width = window.ws_col;
	}
	heading_put(&out, snapshot, NULL, table.width);
	buffer_printf(&out, "\n");
	table_draw(&out, &table);
	return print(&out);
}

static int show_once(const struct options *options)
{
	struct buffer answer = {0};
	struct snapshot snapshot;
	struct unpacker from;
	int code;

	if (options->json && !options->ranking.programs)
		return print_series(options);
	code = ask_agent(options->which.path, options->which.kind, PROTOCOL_SPANS_PATH, &answer);
	if (code == EX_OK) {
		from = unpacker_of(answer.data, answer.size);
		if (!snapshot_unpack(&from, &snapshot)) {
			log_error("the agent on %s is of another version than this blkin %s",
				options->which.path, BLKIN_VERSION);
			code = EXIT_FAILURE;
		} else {
			code = options->json ? print_programs(&snapshot) : print_text(options, &snapshot);
		}
		snapshot_clear(&snapshot);
	}
	buffer_free(&answer);
	return code;
}

/* Who is not answered learns why before the screen is taken. */
static int show(const struct options *options)
{
	struct buffer answer = {0};
	int code;

	if (options->once || options->json || !screen_is_there())
		return show_once(options);
	code = ask_agent(options->which.path, options->which.kind, PROTOCOL_SPANS_PATH, &answer);
	buffer_free(&answer);
	return code == EX_OK ? live_run(options->which.path, &options->ranking, options->seconds) : code;
}

static bool read_key(const char *word, enum ranking_key *key)
{
	const char *nearest;

	for (int i = 0; i < RANKING_KEYS; i++) {
		if (strcmp(word, ranking_keys[i]) != 0)
			continue;
		*key = i;
		return true;
	}
	nearest = suggest(word, (const char **)(uintptr_t)ranking_keys, RANKING_KEYS);
	log_error("--sort takes share, rate, mean, p50, p99, max, errors, count or name, not %s%s%s%s", word,
		nearest ? "; did you mean " : "", nearest ? nearest : "", nearest ? "?" : "");
	return false;
}

static bool read_time(const char *text, double *seconds)
{
	int64_t ns;

	if (!wanted_duration(text, &ns))
		return false;
	*seconds = (double)ns / NS_PER_SECOND;
	return true;
}

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"once", no_argument, NULL, 'o'},
		{"every", required_argument, NULL, 'y'},
		{"programs", no_argument, NULL, 'p'},
		{"sort", required_argument, NULL, 'k'},
		{"filter", required_argument, NULL, 'f'},
		{"json", no_argument, NULL, 'j'},
		WHICH_AGENT_OPTIONS,
		{0},
	};
	int option;

	while ((option = options_next(argc, argv, known, help)) >= 0) {
		if (option == 'k' && !read_key(optarg, &options->ranking.key))
			return OPTIONS_WRONG;
		if (option == 'y' && !read_time(optarg, &options->seconds))
			return OPTIONS_WRONG;
		if (option == 'f')
			options->ranking.filter = optarg;
		options->ranking.programs |= option == 'p';
		options->once |= option == 'o';
		options->json |= option == 'j';
		which_agent_option(&options->which, option);
	}
	return option == OPTIONS_END ? options_no_arguments(argc, argv) : option;
}

int command_top(int argc, char **argv)
{
	struct options options = {.ranking.filter = "", .seconds = 2};
	int code;

	log_init("blkin top");
	switch (read_options(argc, argv, &options)) {
	case OPTIONS_END:
		break;
	case OPTIONS_HELP:
		return EX_OK;
	default:
		return EX_USAGE;
	}
	code = which_agent_find(&options.which);
	if (code == EX_OK)
		code = show(&options);
	g_free(options.which.path);
	return code;
}
