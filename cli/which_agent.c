/* SPDX-License-Identifier: BSD-2-Clause */
#include "which_agent.h"

#include <getopt.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "base/log.h"
#include "config/config.h"
#include "config/load.h"
#include "environment.h"

bool which_agent_option(struct which_agent *which, int option)
{
	if (option == 'u')
		which->user = true;
	else if (option == 'c')
		which->file = optarg;
	else if (option == 's')
		which->socket = optarg;
	else
		return false;
	return true;
}

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

int which_agent_find(struct which_agent *which)
{
	if (which->socket && (which->file || which->user)) {
		log_error("use either --socket, or --config and --user: each says which agent to ask");
		return EX_USAGE;
	}
	if (which->socket && !*which->socket) {
		log_error("--socket needs the path of an agent's control socket, and it is empty");
		return EX_USAGE;
	}
	which->kind = which->user                    ? AGENT_OF_USER
		      : which->socket || which->file ? AGENT_ANY
						     : AGENT_OF_SYSTEM;
	which->path =
		which->socket ? g_strdup(which->socket) : socket_of(which->file, which->user, &which->wrong);
	return which->path ? EX_OK : EX_CONFIG;
}
