/* SPDX-License-Identifier: BSD-2-Clause */
/* blkin-agent: collects the node's spans from LTTng and delivers them to Zipkin. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <sysexits.h>

#include "agent.h"
#include "config.h"
#include "log.h"

static const char usage[] =
	"Usage: blkin-agent [-c FILE]\n"
	"Collect the spans that this node's programs record, and deliver them to Zipkin.\n"
	"\n"
	"  -c, --config FILE  read FILE; without it " CONFIG_DEFAULT_FILE ", if it is there;\n"
	"                     then FILE.d/*.conf\n"
	"  -h, --help         show this\n"
	"      --version      show the version\n"
	"\n"
	"It stays in the foreground and logs to standard error. SIGTERM stops it once everything that was\n"
	"recorded is delivered. blkin-agent(8) tells more; `blkin status` shows what it does.\n";

static const struct option options[] = {
	{"config", required_argument, NULL, 'c'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'v'},
	{NULL, 0, NULL, 0},
};

int main(int argc, char **argv)
{
	const char *file = NULL;
	struct config config;
	int option, status;

	log_init("blkin-agent");
	while ((option = getopt_long(argc, argv, "c:h", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			file = optarg;
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
	config_init(&config);
	if (config_read(&config, file ? file : CONFIG_DEFAULT_FILE, !file) == 0)
		status = agent_run(&config);
	else
		status = EX_CONFIG;
	config_free(&config);
	return status;
}
