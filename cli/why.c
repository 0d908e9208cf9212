/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin why`: where the time of a span went, by what its thread did in the kernel. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/log.h"
#include "commands.h"
#include "config/load.h"
#include "environment.h"
#include "find_traces.h"
#include "handover/frames.h"
#include "import/around.h"
#include "import/guard.h"
#include "options.h"
#include "why/kept.h"
#include "why/run.h"
#include "why/session.h"

static const char help[] =
	"Usage: blkin why [OPTION]... ID [FOLDER]...\n"
	"Say why a span was slow, by the kernel's events of its thread: how long it ran, waited\n"
	"for a processor, the disk, a lock, the network, a timer or memory, in which system calls,\n"
	"and who woke it. ID is a trace's, or a span's; FOLDER has CTF traces in or below it, as\n"
	"LTTng writes them, of the programs and of the kernel. Without one, it is looked for in\n"
	"what this node's agent has recorded, which root and the members of group `blkin` may read.\n"
	"\n"
	"  --json         a line of JSON for each span\n"
	"  --config FILE  the agent's configuration, by default\n"
	"                 " CONFIG_DEFAULT_FILE ", if it is there\n"
	"  --user         the configuration of this user's agent, blkin-agent --user\n"
	"  --help         show this\n"
	"\n"
	"The kernel's trace needs sched_switch; for all of it, [kernel] of the agent has\n"
	"    events = sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*,\n"
	"        timer_hrtimer_expire_*   (on one line)\n"
	"    syscalls = *\n"
	"The parts add up to the span's duration; what the events do not tell is \"unknown\".\n";

struct why_options {
	const char *file, *flight;
	bool json, user;
	const char *typed; /* the id */
	uint64_t id;
};

/* With the snapshot of the flight recorder, for the agent, which has made the folder. */
static int run_flight(const struct why_options *options, const struct config *config, GPtrArray *traces)
{
	g_autofree char *snapshot = g_build_filename(options->flight, "snapshot", NULL);
	struct kept_files files;
	int status;

	if (find_traces(snapshot, traces, true) != 0) {
		log_error("%s: there is nothing in the flight recorder's snapshot", snapshot);
		return EXIT_FAILURE;
	}
	files = kept_files(options->flight, options->id);
	status = why_run_kept(config, options->typed, traces, &files);
	if (status == EXIT_SUCCESS && !kept_finish(options->flight, options->id, &files))
		status = EXIT_FAILURE;
	kept_files_free(&files);
	return status;
}

/* In what the agent has recorded. */
static int run_here(const struct why_options *options, const struct config *config)
{
	g_autofree char *folder = NULL, *scratch = NULL;
	GPtrArray *traces;
	int status = EXIT_FAILURE;
	bool unread = false;

	guard_catch(); /* as the folder is to be removed */
	folder = g_dir_make_tmp("blkin-why-XXXXXX", NULL);
	if (!folder) {
		log_error("no folder can be made in %s: %s", g_get_tmp_dir(), strerror(errno));
		return EXIT_FAILURE;
	}
	scratch = g_build_filename(folder, "traces", NULL);
	traces = session_copy(config, options->typed, scratch, &unread);
	if (traces) {
		if (options->flight)
			status = run_flight(options, config, traces);
		else
			status = why_run(config, options->typed, options->json, unread, traces);
		g_ptr_array_unref(traces);
	}
	session_remove(scratch);
	rmdir(folder);
	return status;
}

/* Says why nothing can be found there; true if it is a folder. */
static bool is_folder(const char *path)
{
	struct stat file;

	if (stat(path, &file) != 0)
		log_error("%s: %s", strerror(errno), path);
	else if (!S_ISDIR(file.st_mode))
		log_error("%s: it is a file: name the folder that the traces are in", path);
	else
		return true;
	return false;
}

/* Adds its traces to @traces. Whether all of it can be looked into goes to @all; returns false if nothing is
 * there, as far as that can be told. */
static bool look_into(const char *folder, GPtrArray *traces, bool *all)
{
	bool any, closed;

	if (!is_folder(folder))
		return false;
	closed = find_closed(folder);
	*all &= !closed;
	any = find_traces(folder, traces, true) == 0;
	if (!any && !closed)
		log_error("%s: there is no CTF trace in it (a folder with a file `metadata`)", folder);
	return any || closed;
}

static int run_folders(
	const struct why_options *options, const struct config *config, int count, char **folders)
{
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
	int status = EXIT_FAILURE;
	bool all = true, found = true;

	for (int i = 0; i < count; i++)
		found &= look_into(folders[i], traces, &all);
	if (found && traces->len)
		status = why_run(config, options->typed, options->json, false, traces);
	return all ? status : EXIT_FAILURE;
}

static void say_not_kept(const struct config *config, uint64_t id)
{
	g_autofree char *snapshot = g_build_filename(config->state_directory, FLIGHT_SNAPSHOT, NULL);

	if (access(snapshot, F_OK) == 0)
		log_warning("a late trace is being looked into just now: if it is %016" PRIx64
			    ", ask again when `blkin status` says that one more is kept",
			id);
	else
		log_warning("[kernel] has `mode = flight`, and nothing is kept of %016" PRIx64
			    ": what the kernel did is known of late traces only ([thresholds]), from some "
			    "seconds after they have ended; `blkin status` says how many were refused, or "
			    "failed",
			id);
}

/* An answer that the flight recorder keeps comes first: what is recorded otherwise has no kernel's events. */
static int run_kept_or_here(const struct why_options *options, const struct config *config)
{
	bool failed = false;

	if (!options->flight && kept_show(config, options->id, options->json, &failed))
		return failed ? EXIT_FAILURE : EXIT_SUCCESS;
	if (!options->flight && config_flies(config))
		say_not_kept(config, options->id);
	return run_here(options, config);
}

static int run(const struct why_options *options, int count, char **folders)
{
	struct config config;
	int status = EX_CONFIG;

	config_init(&config);
	if (count)
		status = run_folders(options, &config, count, folders);
	else {
		if (!options->user)
			environment_add(ENVIRONMENT_FILE);
		config_free(&config);
		if (config_load(&config, options->file, options->user) == 0)
			status = run_kept_or_here(options, &config);
	}
	config_free(&config);
	return status;
}

int command_why(int argc, char **argv)
{
	static const struct option all[] = {{"json", no_argument, NULL, 'j'},
		{"user", no_argument, NULL, 'u'}, {"config", required_argument, NULL, 'c'},
		{"flight", required_argument, NULL, 'f'}, /* the agent's own */
		{0}};
	struct why_options options = {0};
	int option;

	log_init("blkin why");
	while ((option = options_next(argc, argv, all, help)) >= 0)
		if (option == 'c')
			options.file = optarg;
		else if (option == 'f')
			options.flight = optarg;
		else
			*(option == 'j' ? &options.json : &options.user) = true;
	if (option == OPTIONS_HELP)
		return EX_OK;
	if (option == OPTIONS_WRONG)
		return EX_USAGE;
	if (optind == argc || !around_parse(argv[optind], &options.id)) {
		log_error("name a trace's or a span's id, in up to 32 hexadecimal digits%s%s: `blkin why ID`",
			optind == argc ? "" : ", not ", optind == argc ? "" : argv[optind]);
		return EX_USAGE;
	}
	options.typed = argv[optind];
	return run(&options, argc - optind - 1, argv + optind + 1);
}
