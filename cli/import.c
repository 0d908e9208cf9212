/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin import`: sends traces and files of spans, through the agent's own code, to the outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/address.h"
#include "base/log.h"
#include "commands.h"
#include "config/globs.h"
#include "config/load.h"
#include "config/outputtype.h"
#include "config/section.h"
#include "environment.h"
#include "find_traces.h"
#include "import/around.h"
#include "import/examine.h"
#include "import/guard.h"
#include "import/report.h"
#include "import/send.h"
#include "look/folding.h"
#include "options.h"

static const char help[] =
	"Usage: blkin import [OPTION]... PATH...\n"
	"Send the spans in traces and files on disk to the configured outputs, and other events\n"
	"in traces to those that take events. PATH is\n"
	"  a CTF trace, or a folder of traces, such as `lttng create --output=DIR` creates;\n"
	"  a file *.jsonl of spans, or a folder with such files in or below it, as outputs of\n"
	"  `type = file` write them: Zipkin's JSON of version 2, one span a line, or OTLP's.\n"
	"\n"
	"  --config FILE        the configuration with the outputs; by default\n"
	"                       " CONFIG_DEFAULT_FILE ", if it is there\n"
	"  --user               the configuration of this user's agent, blkin-agent --user\n"
	"  --server HOST:PORT   send to this collector instead of the configured outputs\n"
	"  --print              print them instead, each trace as a tree; what was read is said on\n"
	"                       standard error\n"
	"  --around ID          print the trace ID, with the events of programs and of the kernel\n"
	"                       that its spans' threads had meanwhile\n"
	"  --json               with --print: a line for each span, Zipkin's JSON of version 2;\n"
	"                       with --around: one for each span with its events\n"
	"  --events[=NAMES]     send only events of these names (NAME, or GLOB, with commas) to the\n"
	"                       outputs that take events; with --print: print the events that are no\n"
	"                       part of a span, instead of spans, a line of JSON each\n" FOLDING_HELP
		FOLDING_DURATION_HELP "  --help               show this\n"
	"\n"
	"It waits while a collector is away, and exits with 0 once every span is accepted.\n"
	"A damaged trace, or a line that is no span, is named, and the rest is sent; it exits\n"
	"with 1 then.\n"
	"Spans that are imported twice are harmless where Zipkin merges duplicates; files and\n"
	"events are not merged.\n";

struct import {
	struct config config;
	struct send_to to;
	struct import_result result;
	bool traces, files; /* some are named */
	bool whole;         /* nothing was left out */
	const char *around; /* NULL: all spans are meant */
};

static void add_result(struct import_result *sum, const struct import_result *more)
{
	for (int i = 0; i < LEDGER_ROWS; i++)
		sum->rows.row[i] += more->rows.row[i];
	sum->printed += more->printed;
	sum->events_printed += more->events_printed;
	sum->events_too_large += more->events_too_large;
	sum->lines.read += more->lines.read;
	sum->lines.spans += more->lines.spans;
	sum->lines.bad += more->lines.bad;
	for (size_t i = 0; i < more->outputs; i++) {
		memcpy(sum->output[i].name, more->output[i].name, sizeof(sum->output[i].name));
		for (int k = 0; k < ACCOUNT_ROWS; k++)
			sum->output[i].row[k] += more->output[i].row[k];
	}
	sum->outputs = MAX(sum->outputs, more->outputs);
}

/* Bad traces */

/* Moves those that are bad from @good to @bad; @steps as of examine_traces. */
static void sort_out(GPtrArray *good, GArray *bad, unsigned long steps)
{
	GArray *found = examine_traces(good, steps);

	for (guint i = 0; i < found->len; i++)
		g_ptr_array_remove(good, (gpointer)(uintptr_t)g_array_index(found, struct bad_trace, i).dir);
	g_array_append_vals(bad, found->data, found->len);
	g_array_unref(found);
}

/* Sends what comes before the damage: also of the step in which reading fails, unless that ends the process.
 */
static void send_part(struct import *import, const struct bad_trace *bad)
{
	struct import_result result = {0};
	GPtrArray *alone = g_ptr_array_new();
	char error[SEND_ERROR_SIZE];

	g_ptr_array_add(alone, (gpointer)(uintptr_t)bad->dir);
	if (bad->steps || !bad->ended) {
		send_traces(&import->to, alone, bad->ended ? bad->steps : 0, &result, error);
		add_result(&import->result, &result);
	}
	log_error("%s: %s: %s", bad->dir,
		bad->steps || result.rows.row[EVENTS_READ] ? "read up to where it is damaged"
							   : "skipped, as babeltrace2 cannot read it",
		bad->reason);
	g_ptr_array_unref(alone);
}

/* Though each seems to be good, they cannot be read together. */
static void send_one_by_one(struct import *import, const GPtrArray *traces)
{
	for (guint i = 0; i < traces->len && !guard_interrupted(); i++) {
		struct import_result result = {0};
		GPtrArray *alone = g_ptr_array_new();
		char error[SEND_ERROR_SIZE];

		g_ptr_array_add(alone, traces->pdata[i]);
		if (send_traces(&import->to, alone, 0, &result, error) != SEND_DONE) {
			import->whole = false;
			log_error("%s: not read to its end: %s", (char *)traces->pdata[i], error);
		}
		add_result(&import->result, &result);
		g_ptr_array_unref(alone);
	}
}

/* Sends those that are good, together. What it finds to be bad it adds to @bad. */
static void send_good(struct import *import, GPtrArray *good, GArray *bad)
{
	while (good->len && !guard_interrupted()) {
		struct import_result result = {0};
		char error[SEND_ERROR_SIZE];
		enum send_end end = send_traces(&import->to, good, 0, &result, error);
		guint known = bad->len;

		if (end == SEND_DONE || end == SEND_UNABLE || guard_interrupted()) {
			import->whole &= end == SEND_DONE;
			add_result(&import->result, &result);
			return;
		}
		/* what this has sent is sent again, and counted only then */
		sort_out(good, bad, 0);
		if (bad->len == known && !guard_interrupted()) {
			send_one_by_one(import, good);
			return;
		}
	}
}

static void send_all(struct import *import, const GPtrArray *traces)
{
	GPtrArray *good = g_ptr_array_new();
	GArray *bad = g_array_new(FALSE, FALSE, sizeof(struct bad_trace));

	for (guint i = 0; i < traces->len; i++)
		g_ptr_array_add(good, traces->pdata[i]);
	sort_out(good, bad, EXAMINE_BEGINNING);
	send_good(import, good, bad);
	for (guint i = 0; i < bad->len && !guard_interrupted(); i++)
		send_part(import, &g_array_index(bad, struct bad_trace, i));
	import->whole &= bad->len == 0;
	g_array_unref(bad);
	g_ptr_array_unref(good);
}

static void send_files(struct import *import, const GPtrArray *files)
{
	struct import_result result = {0};
	char error[SEND_ERROR_SIZE];
	enum send_end end = send_lines(&import->to, files, &result, error);

	if (end == SEND_DIED)
		log_error("the files were not read to their ends: %s", error);
	import->whole &= end == SEND_DONE && !result.lines.bad;
	add_result(&import->result, &result);
}

/* Prints what became of everything; returns the exit code. */
static int report(const struct import *import)
{
	const struct report report = {&import->result, &import->to, import->traces, import->files};
	bool good = import->whole && !guard_interrupted() && !import->result.rows.row[SPANS_PENDING];

	return report_all(&report) && good ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Whether @output would write where @file is read: a second time, and perhaps in its place. */
static bool is_written_to(const struct output_config *output, const char *file)
{
	g_autofree char *folder = g_path_get_dirname(file);
	char *into = output_type_has_directory(output_type_of(output))
			     ? realpath(config_output_place(output), NULL)
			     : NULL;
	bool same = into && !strcmp(folder, into);

	free(into);
	return same;
}

/* @files are real paths. */
static bool are_apart(const struct config *config, const GPtrArray *files)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(config->outputs, i);

		for (guint k = 0; k < files->len; k++) {
			if (!is_written_to(output, files->pdata[k]))
				continue;
			log_error("%s: [%s] writes into this folder: name a collector with --server, or "
				  "with --config a configuration without this output",
				(const char *)files->pdata[k], output->section);
			return false;
		}
	}
	return true;
}

/* A folder may have both. One that is closed, which is said, does not keep the others from being read. */
static bool find_all(struct import *import, const char *path, GPtrArray *traces, GPtrArray *files)
{
	bool closed = g_file_test(path, G_FILE_TEST_IS_DIR) && find_closed(path);
	bool any = find_lines(path, files);

	import->whole &= !closed;
	return find_traces(path, traces, any || closed) == 0 || any || closed;
}

static int run(struct import *import, int argc, char **argv)
{
	GPtrArray *traces = g_ptr_array_new_with_free_func(free),
		  *files = g_ptr_array_new_with_free_func(free);
	int status = EXIT_FAILURE;
	bool found = true;

	import->whole = true;
	for (int i = 0; i < argc; i++)
		found &= find_all(import, argv[i], traces, files);
	found &= traces->len || files->len;
	if (found && import->around && !traces->len)
		log_error("--around reads LTTng's traces: files of lines have no events");
	else if (found && import->around)
		status = around_run(&import->config, import->around, &import->to.printing, traces);
	else if (found && are_apart(&import->config, files)) {
		import->traces = traces->len > 0;
		import->files = files->len > 0;
		if (import->traces)
			send_all(import, traces);
		if (import->files && !guard_interrupted())
			send_files(import, files);
		status = report(import);
	}
	g_ptr_array_unref(traces);
	g_ptr_array_unref(files);
	return import->whole ? status : EXIT_FAILURE;
}

/* Leaves one output, to @server, with the other settings of [output]. */
static void deliver_to(struct config *config, const char *server)
{
	struct output_config *output = g_ptr_array_index(config->outputs, 0);

	g_ptr_array_set_size(config->outputs, 1);
	if (!output_key_fits(output, config_key_find("output", "server")))
		output->type = CONFIG_OUTPUT_SCRIBE;
	g_free(output->server);
	output->server = g_strdup(server);
}

/* Leaves no output: spans are printed. */
static void deliver_nowhere(struct config *config)
{
	struct output_config *output = g_ptr_array_index(config->outputs, 0);

	g_ptr_array_set_size(config->outputs, 1);
	output->type = CONFIG_OUTPUT_NONE;
}

static bool delivers(const struct config *config)
{
	for (guint i = 0; i < config->outputs->len; i++) {
		if (config_output_delivers(g_ptr_array_index(config->outputs, i)))
			return true;
	}
	return false;
}

/* @names: patterns, with commas in between; NULL: all events. */
static void want_events(struct send_to *to, const char *names)
{
	to->events = true;
	g_clear_pointer(&to->names, g_strfreev);
	if (names)
		to->names = globs_split(names);
}

/* Reads the options into @import's config; returns an exit code, or -1 to go on. */
static int read_options(struct import *import, int argc, char **argv)
{
	static const struct option options[] = {{"config", required_argument, NULL, 'c'},
		{"server", required_argument, NULL, 's'}, {"print", no_argument, NULL, 'p'},
		{"json", no_argument, NULL, 'j'}, {"user", no_argument, NULL, 'u'},
		{"around", required_argument, NULL, 'a'}, {"events", optional_argument, NULL, 'e'},
		FOLDING_OPTIONS, {0}};
	const char *file = NULL, *server = NULL;
	struct send_to *to = &import->to;
	struct address addresses[ADDRESSES_MAX];
	bool user = false;
	int option;

	while ((option = options_next(argc, argv, options, help)) >= 0)
		if (option == 'p' || option == 'j' || option == 'u')
			*(option == 'p' ? &to->print : option == 'j' ? &to->printing.json : &user) = true;
		else if (option == 'c' || option == 's' || option == 'a')
			*(option == 'c' ? &file : option == 's' ? &server : &import->around) = optarg;
		else if (option == 'e')
			want_events(to, optarg);
		else if (!folding_option(&to->printing.folding, option))
			return EX_USAGE;
	if (option == OPTIONS_HELP)
		return EX_OK;
	if (option == OPTIONS_WRONG)
		return EX_USAGE;
	if (server && to->print) {
		log_error("--print does not go with --server");
		return EX_USAGE;
	}
	if (to->printing.json && !to->print && !import->around) {
		log_error("--json needs --print, or --around");
		return EX_USAGE;
	}
	if (import->around && (server || to->print)) {
		log_error("--around prints: leave --print and --server out");
		return EX_USAGE;
	}
	if (import->around && !around_parse(import->around, NULL)) {
		log_error(
			"--around takes a trace's id in up to 32 hexadecimal digits, not %s", import->around);
		return EX_USAGE;
	}
	if (server && address_parse_list(server, addresses) == 0) {
		log_error("--server takes HOST:PORT, such as 127.0.0.1:9410 or [::1]:9410, not %s", server);
		return EX_USAGE;
	}
	if (optind == argc) {
		log_error("name the traces, or the files of spans: `blkin import PATH...`");
		return EX_USAGE;
	}
	if (!user)
		environment_add(ENVIRONMENT_FILE);
	config_free(&import->config);
	if (config_load(&import->config, file, user) != 0)
		return EX_CONFIG;
	if (server)
		deliver_to(&import->config, server);
	to->config = &import->config;
	if (to->print || import->around)
		deliver_nowhere(&import->config);
	else if (!delivers(&import->config)) {
		log_error("every output has `type = none`: name the collector with --server, or use --print");
		return EX_CONFIG;
	} else if (to->events && !config_wants_events(&import->config)) {
		log_error("no output takes events: add `takes = events` to one, or use --print");
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
	g_strfreev(import.to.names);
	return status;
}
