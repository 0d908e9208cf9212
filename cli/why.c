/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin why`: where the time of a span went, by what its thread did in the kernel. */
#include <stdlib.h>
#include <sysexits.h>

#include "base/log.h"
#include "commands.h"
#include "config/load.h"
#include "find_traces.h"
#include "import/around.h"
#include "options.h"
#include "why/run.h"
#include "why/words.h"

static const char help[] =
	"Usage: blkin why [OPTION]... ID FOLDER...\n"
	"Say why a span was slow, by the kernel's events of its thread: how long it ran, waited\n"
	"for a processor, the disk, a lock, the network, a timer or memory, in which system calls,\n"
	"and who woke it. ID is a trace's, or a span's; FOLDER has CTF traces in or below it, as\n"
	"LTTng writes them, of the programs and of the kernel.\n"
	"\n"
	"  --json   a line of JSON for each span\n"
	"  --help   show this\n"
	"\n"
	"The kernel's trace needs sched_switch; for all of it, [kernel] of the agent has\n"
	"    events = sched_switch, sched_waking, block_rq_*, irq_handler_*, irq_softirq_e*,\n"
	"        timer_hrtimer_expire_*   (on one line)\n"
	"    syscalls = *\n"
	"The parts add up to the span's duration; what the events do not tell is \"unknown\".\n";

static int run(uint64_t id, bool json, int count, char **folders)
{
	g_autoptr(GPtrArray) traces = g_ptr_array_new_with_free_func(g_free);
	struct config config;
	int status = EXIT_SUCCESS;

	for (int i = 0; i < count; i++)
		if (find_traces(folders[i], traces, false) != 0)
			status = EXIT_FAILURE;
	config_init(&config);
	if (status == EXIT_SUCCESS)
		status = why_run(&config, id, json, traces);
	config_free(&config);
	return status;
}

int command_why(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {0}};
	bool json = false;
	uint64_t id;
	int option;

	log_init("blkin why");
	while ((option = options_next(argc, argv, options, help)) >= 0)
		json = true;
	if (option == OPTIONS_HELP)
		return EX_OK;
	if (option == OPTIONS_WRONG)
		return EX_USAGE;
	if (optind == argc || !around_parse(argv[optind], &id)) {
		log_error("name a trace's or a span's id, in up to 32 hexadecimal digits%s%s: `blkin why ID "
			  "FOLDER...`",
			optind == argc ? "" : ", not ", optind == argc ? "" : argv[optind]);
		return EX_USAGE;
	}
	if (optind + 1 == argc) {
		log_error("name the folders of the traces: `blkin why ID FOLDER...`");
		return EX_USAGE;
	}
	return run(id, json, argc - optind - 1, argv + optind + 1);
}
