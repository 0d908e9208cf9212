/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin status`: shows how the agent is doing, and what LTTng knows of the programs that it collects from.
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
#include "environment.h"
#include "options.h"
#include "status/protocol.h"
#include "wrap.h"

static const char help[] =
	"Usage: blkin status [--json] [--user] [--config FILE | --socket PATH]\n"
	"\n"
	"Show how the agent of this node is doing, and what to do if something is wrong.\n"
	"\n"
	"  --json         print one JSON object\n"
	"  --user         ask this user's own agent (blkin-agent --user)\n"
	"  --config FILE  the agent's configuration, which names its control socket\n"
	"                 (" CONFIG_DEFAULT_FILE ")\n"
	"  --socket PATH  use this control socket\n"
	"\n"
	"The agent answers root and the members of group `blkin` only. Of these, root and who is in\n"
	"group `tracing` too also learn from LTTng how many programs record with blkin. The exit code\n"
	"is 69 if no agent answers.\n";

/*
 * The control socket of the configuration, which the caller frees with g_free; NULL, having logged why, if
 * there is none. @wrong says whether the configuration has mistakes: an agent that runs keeps the one it
 * read before, so it is asked all the same, unless a @file that was named cannot be read.
 */
static char *socket_of(const char *file, bool user, bool *wrong)
{
	struct config config;
	char *path = NULL;

	if (!user)
		environment_add(ENVIRONMENT_FILE);
	*wrong = config_load(&config, file, user) != 0;
	if (*wrong)
		log_error("no agent starts with this configuration; one that runs keeps the previous one");
	if (*wrong && file && access(file, R_OK) != 0)
		path = NULL;
	else if (!*config.socket)
		log_error("the control socket is switched off in the configuration (`socket` in [agent])");
	else
		path = g_strdup(config.socket);
	config_free(&config);
	return path;
}

/* Asks which session the agent keeps, and whether it understands this command; returns an exit code. */
static int ask_session(const char *path, enum agent_kind kind, struct protocol_session *session)
{
	struct buffer answer = {0};
	int code = ask_agent(path, kind, PROTOCOL_SESSION_PATH, &answer);

	if (code != EX_OK)
		goto out;
	code = EXIT_FAILURE;
	if (!protocol_get_session((const char *)answer.data, session))
		log_error("what answers on %s is not blkin-agent", path);
	else if (session->protocol != PROTOCOL_VERSION)
		log_error(
			"the agent on %s is of %s, and this is blkin %s, which does not understand it: use "
			"the "
			"`blkin` of its version, or restart the agent if it was upgraded (systemctl restart "
			"blkin-agent)",
			path, *session->agent ? session->agent : "an older version", BLKIN_VERSION);
	else
		code = EX_OK;
out:
	buffer_free(&answer);
	return code;
}

static int status(const char *path, enum agent_kind kind, bool json)
{
	struct buffer page = {0}, answer = {0};
	struct protocol_session session;
	struct census census;
	int code = ask_session(path, kind, &session);

	if (code != EX_OK)
		return code;
	ask_lttng(session.name, session.tracing_group, &census);
	buffer_printf(&page, "%s?", json ? PROTOCOL_STATUS_JSON_PATH : PROTOCOL_STATUS_PATH);
	protocol_put_census(&page, &census);
	buffer_put(&page, "", 1);
	code = ask_agent(path, kind, (const char *)page.data, &answer);
	if (code == EX_OK) {
		if (json)
			fwrite(answer.data, 1, answer.size, stdout);
		else
			wrap_print(stdout, (const char *)answer.data, wrap_width(stdout));
		code = fflush(stdout) == 0 ? EX_OK : EXIT_FAILURE;
	}
	buffer_free(&page);
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
	bool json = false, user = false, wrong = false;
	enum agent_kind kind = AGENT_ANY;
	int option, code;

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
	if (path && (file || user)) {
		log_error("use either --socket, or --config and --user: each says which agent to ask");
		return EX_USAGE;
	}
	if (path && !*path) {
		log_error("--socket needs the path of an agent's control socket, and it is empty");
		return EX_USAGE;
	}
	if (user)
		kind = AGENT_OF_USER;
	else if (!path && !file)
		kind = AGENT_OF_SYSTEM;
	if (!path)
		path = socket_of(file, user, &wrong);
	code = path ? status(path, kind, json) : EX_CONFIG;
	return code != EX_OK && wrong ? EX_CONFIG : code;
}
