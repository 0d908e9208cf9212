/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin status`: what the agent says of itself, and what LTTng says of the programs that it collects from.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "ask_agent.h"
#include "ask_lttng.h"
#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "options.h"

static const char help[] =
	"Usage: blkin status [--json] [--user] [--config FILE | --socket PATH]\n"
	"\n"
	"Tells how the agent of this node is doing, and what to do if it is not well.\n"
	"\n"
	"  --json         as one JSON object\n"
	"  --user         the agent of this user, blkin-agent --user\n"
	"  --config FILE  the agent's configuration, which names its control socket\n"
	"                 (" CONFIG_DEFAULT_FILE ")\n"
	"  --socket PATH  the agent's control socket\n"
	"\n"
	"Root and members of group `tracing` learn more of the programs. Exits with 69 if no\n"
	"agent answers.\n";

/* The control socket of the configuration; NULL having said what is wrong with it. The caller's to g_free. */
static char *socket_of(const char *file, bool user)
{
	struct config config;
	char *path = NULL;

	if (config_load(&config, file, user) != 0)
		log_error("with such a configuration no agent starts");
	else if (!*config.socket)
		log_error("the configuration switches the control socket off (`socket` in [agent])");
	else
		path = g_strdup(config.socket);
	config_free(&config);
	return path;
}

/* The value of a line "@name value" in @text; the caller's to g_free. */
static char *value_of(const char *text, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, name) && (*line)[strlen(name)] == ' ')
			return g_strdup(*line + strlen(name) + 1);
	return g_strdup("");
}

static int status(const char *path, bool json)
{
	struct buffer session = {0}, answer = {0};
	g_autofree char *query = NULL, *page = NULL, *name = NULL, *group = NULL;
	int code = ask_agent(path, "/session", &session);

	if (code == EX_OK) {
		name = value_of((const char *)session.data, "session");
		group = value_of((const char *)session.data, "tracing-group");
		query = census_take(name, group);
		page = g_strconcat(json ? "/status.json?" : "/status?", query, NULL);
		code = ask_agent(path, page, &answer);
	}
	if (code == EX_OK) {
		fwrite(answer.data, 1, answer.size, stdout);
		code = fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
	}
	buffer_free(&session);
	buffer_free(&answer);
	return code;
}

int command_status(int argc, char **argv)
{
	static const struct option options[] = {
		{"json", no_argument, NULL, 'j'},
		{"user", no_argument, NULL, 'u'},
		{"config", required_argument, NULL, 'c'},
		{"socket", required_argument, NULL, 's'},
		{0},
	};
	g_autofree char *path = NULL;
	const char *file = NULL;
	bool json = false, user = false;
	int option;

	log_init("blkin status");
	while ((option = options_next(argc, argv, options, help)) >= 0) {
		if (option == 'j')
			json = true;
		if (option == 'u')
			user = true;
		if (option == 'c')
			file = optarg;
		if (option == 's') {
			g_free(path);
			path = g_strdup(optarg);
		}
	}
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (options_no_arguments(argc, argv) == OPTIONS_WRONG)
		return EX_USAGE;
	if (!path)
		path = socket_of(file, user);
	return path ? status(path, json) : EX_CONFIG;
}
