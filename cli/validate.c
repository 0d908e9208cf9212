/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin validate`: is this configuration one that the agent takes, and what comes of it? */
#include <stdio.h>
#include <stdlib.h>

#include <sysexits.h>

#include "commands.h"
#include "config/config.h"
#include "base/log.h"
#include "options.h"

static const char help[] =
	"Usage: blkin validate [--print] [--user] [FILE]\n"
	"\n"
	"Reads the configuration as blkin-agent does: FILE, or " CONFIG_DEFAULT_FILE " if it is\n"
	"there, and then FILE.d/*.conf. Tells every mistake with its file and line, and exits with 78\n"
	"if there is one.\n"
	"\n"
	"  --print  print every setting, and where it was set\n"
	"  --user   as blkin-agent --user, with this user's own file and defaults\n";

static int validate(const char *file, bool user, bool print)
{
	struct config config;

	if (config_load(&config, file, user) != 0) {
		config_free(&config);
		return EX_CONFIG;
	}
	if (print)
		config_print(&config, stdout);
	for (guint i = 0; !print && i < config.files->len; i++)
		printf("%s: OK\n", (const char *)g_ptr_array_index(config.files, i));
	if (!print && config.files->len == 0)
		printf("no file is there, so every setting has its default\n");
	config_free(&config);
	return fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
}

int command_validate(int argc, char **argv)
{
	static const struct option options[] = {
		{"print", no_argument, NULL, 'p'}, {"user", no_argument, NULL, 'u'}, {0}};
	bool print = false, user = false;
	int option;

	log_init("blkin validate");
	while ((option = options_next(argc, argv, options, help)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EX_OK;
		if (option == OPTIONS_WRONG)
			return EX_USAGE;
		*(option == 'u' ? &user : &print) = true;
	}
	if (argc - optind > 1) {
		fprintf(stderr, "blkin validate: it takes one FILE, but there is also %s\n",
			argv[optind + 1]);
		return EX_USAGE;
	}
	return validate(argv[optind], user, print);
}
