/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin page`: the address of the agent's page, which lets a browser in. */
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>
#include <sysexits.h>

#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "options.h"
#include "status/protocol.h"
#include "which_agent.h"

static const char help[] =
	"Usage: blkin page [--user] [--config FILE | --socket PATH]\n"
	"\n"
	"Print the address of the agent's page, with the token that lets a browser in. Whoever has it sees\n"
	"what services and spans are called. The exit code is 1 if there is no page.\n"
	"\n" WHICH_AGENT_HELP;

static int print_address(const struct which_agent *which)
{
	struct buffer address = {0};
	int code = ask_agent(which->path, which->kind, PROTOCOL_PAGE_PATH, &address);

	if (code == EX_OK && address.size == 0) {
		log_error("the agent has no page: `page` in [agent] is off, or it has no port (`http`)");
		code = EXIT_FAILURE;
	}
	if (code == EX_OK)
		fwrite(address.data, 1, address.size, stdout);
	buffer_free(&address);
	return code;
}

int command_page(int argc, char **argv)
{
	static const struct option options[] = {WHICH_AGENT_OPTIONS, {0}};
	struct which_agent which = {0};
	int option, code;

	log_init("blkin page");
	while ((option = options_next(argc, argv, options, help)) >= 0)
		which_agent_option(&which, option);
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (options_no_arguments(argc, argv) == OPTIONS_WRONG)
		return EX_USAGE;
	code = which_agent_find(&which);
	if (code == EX_OK)
		code = print_address(&which);
	g_free(which.path);
	return code;
}
