/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin validate`: is this configuration one that the agent takes? */
#include <stdio.h>

#include <sysexits.h>

#include "commands.h"
#include "config.h"
#include "log.h"
#include "options.h"

static const char help[] =
	"Usage: blkin validate [FILE]\n"
	"\n"
	"Reads a configuration file as blkin-agent does, " CONFIG_DEFAULT_FILE " unless FILE is\n"
	"given, and tells every mistake with its line. Exits with 78 if there is one.\n";

static int validate(const char *file)
{
	struct config config;
	int wrong;

	config_init(&config);
	wrong = config_read(&config, file, false);
	config_free(&config);
	if (wrong)
		return EX_CONFIG;
	printf("%s: OK\n", file);
	return EX_OK;
}

int command_validate(int argc, char **argv)
{
	static const struct option options[] = {{0}};

	log_init("blkin validate");
	switch (options_next(argc, argv, options, help)) {
	case OPTIONS_HELP:
		return EX_OK;
	case OPTIONS_WRONG:
		return EX_USAGE;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "blkin validate: it takes one FILE, but there is also %s\n",
			argv[optind + 1]);
		return EX_USAGE;
	}
	return validate(optind < argc ? argv[optind] : CONFIG_DEFAULT_FILE);
}
