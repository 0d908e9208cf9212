/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin status`: shows how the agent is doing, and what LTTng knows of the programs that it collects from.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>
#include <sysexits.h>

#include "ask_lttng.h"
#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "options.h"
#include "state/findings.h"
#include "state/text.h"
#include "status/protocol.h"
#include "which_agent.h"
#include "wrap.h"

static const char help[] =
	"Usage: blkin status [--json] [--acknowledge] [--user] [--config FILE | --socket PATH]\n"
	"\n"
	"Show how the agent of this node is doing, and what to do if something is wrong.\n"
	"\n"
	"  --json         print one JSON object\n"
	"  --acknowledge  what is lost so far is known: from now on only show what is lost "
	"later\n" WHICH_AGENT_HELP "\n"
	"The node's agent answers root and the members of group `blkin` only, and a user's own that\n"
	"user. Root also learns how many programs record with blkin; who is in group `tracing` too,\n"
	"whether LTTng records their events. The exit code is 69 if no agent answers.\n";

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

static int acknowledge(const char *path, enum agent_kind kind)
{
	struct buffer answer = {0};
	int code = order_agent(path, kind, PROTOCOL_ACKNOWLEDGE_PATH, &answer);

	buffer_free(&answer);
	return code;
}

/* Shows it; false if it cannot be understood. */
static bool show(const char *answer, const struct census *census, const char *tracing_group, bool json)
{
	struct buffer state = {0}, text = {0};
	bool good = state_complete(&state, answer, census, tracing_group);

	if (good && json)
		fputs((const char *)state.data, stdout);
	else if (good && (good = state_text(&text, (const char *)state.data)))
		wrap_print(stdout, (const char *)text.data, wrap_width(stdout));
	buffer_free(&state);
	buffer_free(&text);
	return good;
}

/* @known: what is lost so far is acknowledged first. */
static int status(const char *path, enum agent_kind kind, bool json, bool known)
{
	struct buffer answer = {0};
	struct protocol_session session;
	struct census census;
	int code = ask_session(path, kind, &session);

	if (code == EX_OK && known)
		code = acknowledge(path, kind);
	if (code != EX_OK)
		return code;
	ask_lttng(session.name, session.tracing_group, &census);
	code = ask_agent(path, kind, PROTOCOL_STATUS_PATH, &answer);
	if (code == EX_OK && !show((const char *)answer.data, &census, session.tracing_group, json)) {
		log_error("what the agent on %s says of itself cannot be understood: try again, and if that "
			  "lasts, restart it",
			path);
		code = EXIT_FAILURE;
	}
	if (fflush(stdout) != 0)
		code = EXIT_FAILURE;
	buffer_free(&answer);
	return code;
}

int command_status(int argc, char **argv)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
		{"acknowledge", no_argument, NULL, 'a'}, WHICH_AGENT_OPTIONS, {0}};
	struct which_agent which = {0};
	bool json = false, known = false;
	int option, code;

	log_init("blkin status");
	while ((option = options_next(argc, argv, options, help)) >= 0)
		if (!which_agent_option(&which, option))
			*(option == 'a' ? &known : &json) = true;
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (options_no_arguments(argc, argv) == OPTIONS_WRONG)
		return EX_USAGE;
	code = which_agent_find(&which);
	if (code == EX_OK)
		code = status(which.path, which.kind, json, known);
	g_free(which.path);
	return code != EX_OK && code != EX_USAGE && which.wrong ? EX_CONFIG : code;
}
