/* SPDX-License-Identifier: BSD-2-Clause */
/* Which agent a command asks: the node's, the user's own, or the one of a configuration or a socket. */
#ifndef WHICH_AGENT_H
#define WHICH_AGENT_H

#include <stdbool.h>

#include "ask_agent.h"

/* For a command's table of options, and the letters that they have. */
#define WHICH_AGENT_OPTIONS                                                                                  \
	{"user", no_argument, NULL, 'u'}, {"config", required_argument, NULL, 'c'},                          \
	{                                                                                                    \
		"socket", required_argument, NULL, 's'                                                       \
	}

/* For its help. */
#define WHICH_AGENT_HELP                                                                                     \
	"  --user         ask this user's own agent (blkin-agent --user)\n"                                  \
	"  --config FILE  the agent's configuration, which names its control socket\n"                       \
	"                 (" CONFIG_DEFAULT_FILE ")\n"                                                       \
	"  --socket PATH  use this control socket\n"

struct which_agent {
	bool user;
	const char *file, *socket; /* NULL: not named */
	/* found: */
	char *path; /* of the control socket, the caller's */
	enum agent_kind kind;
	bool wrong; /* the configuration has mistakes */
};

/* Takes an option, of which optarg is the value; false if it is none of these. */
bool which_agent_option(struct which_agent *which, int option);

/* Finds the control socket; returns an exit code, having logged what is wrong if it is not 0. */
int which_agent_find(struct which_agent *which);

#endif
