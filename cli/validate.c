/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin validate`: is this configuration one that the agent takes, and what comes of it? */
#include <stdio.h>
#include <stdlib.h>

#include <sysexits.h>

#include "commands.h"
#include "config.h"
#include "log.h"
#include "options.h"

static const char help[] =
	"Usage: blkin validate [--print] [FILE]\n"
	"\n"
	"Reads the configuration as blkin-agent does: FILE, or " CONFIG_DEFAULT_FILE " if it is\n"
	"there, and then FILE.d/*.conf. Tells every mistake with its file and line, and exits with 78\n"
	"if there is one.\n"
	"\n"
	"  --print  print every setting, and where it was set\n";

static int validate(const char *file, bool print)
{
	struct config config;
	int wrong;

	config_init(&config);
	wrong = config_read(&config, file ? file : CONFIG_DEFAULT_FILE, !file);
	if (wrong) {
		config_free(&config);
		return EX_CONFIG;
	}
	if (print)
		config_print(&config, stdout);
	for (guint i = 0; !print && i < config.files->len; i++)
		printf("%s: OK\n", (const char *)g_ptr_array_index(config.files, i));
	if (!print && config.files->len == 0)
		printf("%s: not there, so every setting has its default\n", CONFIG_DEFAULT_FILE);
	config_free(&config);
	return fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
}

int command_validate(int argc, char **argv)
{
	static const struct option options[] = {{"print", no_argument, NULL, 'p'}, {0}};
	bool print = false;
	int option;

	log_init("blkin validate");
	while ((option = options_next(argc, argv, options, help)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EX_OK;
		if (option == OPTIONS_WRONG)
			return EX_USAGE;
		print = true;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "blkin validate: it takes one FILE, but there is also %s\n",
			argv[optind + 1]);
		return EX_USAGE;
	}
	return validate(argv[optind], print);
}
