/* SPDX-License-Identifier: BSD-2-Clause */
/* blkin-agent: collects the node's spans from LTTng and delivers them to Zipkin. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>
#include <unistd.h>

#include <sampling_page.h>

#include "agent.h"
#include "base/log.h"
#include "config/config.h"
#include "config/load.h"
#include "config/rates.h"
#include "config/user.h"
#include "session/daemons.h"

static const char usage[] =
	"Usage: blkin-agent [--user] [-c FILE]\n"
	"Collect the spans that this node's programs record, and deliver them to collectors.\n"
	"\n"
	"  -c, --config FILE  read FILE; without it " CONFIG_DEFAULT_FILE ", if it is there;\n"
	"                     then FILE.d/*.conf\n"
	"  -u, --user         collect from this user's programs only: no root, files in ~/.config and\n"
	"                     ~/.local/state, LTTng's daemons started if need be\n"
	"  -h, --help         show this\n"
	"      --version      show the version\n"
	"\n"
	"It stays in the foreground and logs to standard error. SIGTERM stops it once what it has read is\n"
	"delivered, or `stop-timeout` is over. See blkin-agent(8); `blkin status` shows what it does.\n";

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'},
	{"user", no_argument, NULL, 'u'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

/*
 * The rates of `blkin sampling` that last, once after each boot. Programs have to find the user's page when
 * they start. The system's is root's: the service has the command do it; otherwise it is this agent's to do,
 * if it can. It starts in any case.
 */
static void restore_rates(bool user)
{
	g_autofree char *page = user_sampling_page(), *kept = user_sampling_file();

	if (user)
		rates_restore(page, kept);
	else if (geteuid() == 0 && access(RATES_KEPT_FILE, F_OK) == 0)
		rates_restore(SAMPLING_PAGE_FILE, RATES_KEPT_FILE);
}

int main(int argc, char **argv)
{
	const char *file = NULL;
	/* never freed: a thread that hangs in LTTng may still read it at the end */
	static struct config config;
	bool user = false;
	int option, status;

	log_init("blkin-agent");
	while ((option = getopt_long(argc, argv, "c:uh", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			file = optarg;
			break;
		case 'u':
			user = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		case 'v':
			puts("blkin-agent " BLKIN_VERSION);
			return EXIT_SUCCESS;
		default:
			fputs("Try `blkin-agent --help`.\n", stderr);
			return EX_USAGE;
		}
	}
	if (optind < argc) {
		log_error("`%s` is not an option; try `blkin-agent --help`", argv[optind]);
		return EX_USAGE;
	}
	if (config_load(&config, file, user) != 0)
		return EX_CONFIG;
	log_configure((enum log_level)config.log_level, (enum log_format)config.log_format);
	if ((user && user_make_folders(&config) != 0) || daemons_choose_ports(&config) != 0)
		status = EXIT_FAILURE;
	else {
		restore_rates(user);
		status = agent_run(&config, file);
	}
	return status;
}
