/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin validate`: is this configuration one that the agent takes, and what comes of it? */
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <event2/thread.h>
#include <sysexits.h>

#include "ask_agent.h"
#include "base/address.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/proxyurl.h"
#include "commands.h"
#include "config/load.h"
#include "config/outputtype.h"
#include "config/ownport.h"
#include "config/pairrules.h"
#include "config/section.h"
#include "config/thresholds.h"
#include "connect.h"
#include "environment.h"
#include "needs.h"
#include "net/lookup.h"
#include "options.h"
#include "status/protocol.h"

static const char help[] =
	"Usage: blkin validate [--print | --connect | --no-environment] [--reload] [--user] [FILE]\n"
	"\n"
	"Read the configuration as blkin-agent does: FILE, or " CONFIG_DEFAULT_FILE " if it is\n"
	"there, and then FILE.d/*.conf. Report every mistake with its file and line, and exit with 78\n"
	"if there is one. Notes point out what may surprise.\n"
	"Then try whether the agent can use what it needs: these files, TLS files, folders, its port. If\n"
	"root runs the command, it tries this as the agent's user. Exit with 1 if something cannot be used,\n"
	"with 78 if the agent does not start without it.\n"
	"\n"
	"  --connect         then send each server of each output a span of its own, over the\n"
	"                    output's own protocol, TLS and compression, and say what came back and\n"
	"                    how long it took. Exit with 1 if one of the servers did not accept it.\n"
	"                    No agent needs to run\n"
	"  --reload          for the service, before it has the agent reload: an exit with 78 is told\n"
	"                    to the agent, whose status and metrics then say that it keeps the\n"
	"                    previous configuration\n"
	"  --print           only print every setting, and where it was set\n"
	"  --no-environment  only read the configuration, and try nothing of this node: for files of\n"
	"                    other nodes. Variables are this command's own, not also the unit's\n"
	"  --user            as blkin-agent --user, with this user's own file and defaults\n";

struct wishes {
	const char *file; /* NULL: the usual one */
	bool user, print, connects, reload, alone;
};

/* Ports of other protocols of the collectors that take this one. */
static void note_ports(const struct config *config, const struct output_config *output, const char *prefix)
{
	const struct output_port *usual = output_type_of(output)->ports;
	struct address list[ADDRESSES_MAX];
	size_t count = output_servers(output, list);
	const char *own = ownport_find(config, output, &list[0]);

	if (own) {
		printf("%snote: [%s] sends to port %u of %s, which is %s\n", prefix, output->section,
			list[0].port, list[0].host, own);
		return;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; usual && usual[k].words; k++)
			if (usual[k].port == list[i].port)
				printf("%snote: [%s] sends to port %u of %s, %s\n", prefix, output->section,
					list[i].port, list[i].host, usual[k].words);
}

/* Keys that say nothing. */
static void note_keep(const struct output_config *output, const char *prefix)
{
	bool single = output->keep_errors || output->keep_slower;
	const char *key = output->keep_errors   ? "keep-errors"
			  : output->keep_slower ? "keep-slower"
						: "keep-traces";

	if (output->keep == 1 && (single || output->keep_traces))
		printf("%snote: [%s] keeps every trace, as `keep = 1/1`: `%s` has no effect\n", prefix,
			output->section, key);
	else if (output->keep_traces && !single)
		printf("%snote: [%s] keeps no single spans, as neither `keep-errors` nor `keep-slower` is "
		       "set: "
		       "`keep-traces` has no effect\n",
			prefix, output->section);
}

static void note_budget(const struct output_config *output, const char *prefix)
{
	if (!output->keep && !output->budget && !*output->budget_file)
		printf("%snote: [%s] keeps every trace, unless its server is an agent that says which share "
		       "to "
		       "keep: `keep = auto` has neither `budget` nor `budget-file`\n",
			prefix, output->section);
}

/* A look-up takes no longer: who waits for a name service has to be told nothing. */
#define LOOKUP_NS (2 * NS_PER_SECOND)

/* Those of the family that is used. */
static void on_looked_up(struct addrinfo *addresses, const char *why, void *data)
{
	size_t *count = data;

	(void)why;
	for (const struct addrinfo *at = addresses; at; at = at->ai_next)
		*count += at->ai_family == addresses->ai_family;
	if (addresses)
		freeaddrinfo(addresses);
}

/* How many addresses there are; 0: that is not known. */
static size_t count_addresses(const struct address *server)
{
	struct event_base *base;
	struct lookup *lookup;
	size_t count = 0;

	evthread_use_pthreads();
	base = event_base_new();
	if (!base)
		g_error("no event loop");
	lookup = lookup_create(base, server, LOOKUP_NS, on_looked_up, &count);
	event_base_dispatch(base);
	lookup_destroy(lookup);
	event_base_free(base);
	return count;
}

/* Between what is there to choose? */
static void note_balance(const struct output_config *output, const char *prefix)
{
	struct address list[ADDRESSES_MAX];
	struct proxyurl proxy;

	if (!output->balance || address_parse_list(output->server, list) > 1)
		return;
	if (*output->proxy && !proxyurl_parse(output->proxy, &proxy))
		list[0] = proxy.address;
	if (count_addresses(&list[0]) == 1)
		printf("%snote: [%s] has one %s, with one address: `balance = yes` has no effect there, but "
		       "that the connection is renewed now and then\n",
			prefix, output->section, *output->proxy ? "proxy" : "server");
}

/* What outputs can take; the flight recorder's events are not read. */
static bool records_events(const struct config *config)
{
	return *config->event_names || config_reads_kernel(config);
}

static bool has_intake(const struct config *config)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (*config->input[i])
			return true;
	return false;
}

/* Of messages there are none without an intake, and of events those that are asked for. */
static void note_lanes(const struct config *config, const struct output_config *output, const char *prefix)
{
	if (config_lane_is_on(output, KIND_EVENTS) && config_flies(config) && !records_events(config))
		printf("%snote: [%s] takes events, but none come of [kernel] with `mode = flight`: "
		       "set `mode = live`, or `names` in [events]\n",
			prefix, output->section);
	else if (config_lane_is_on(output, KIND_EVENTS) && !records_events(config))
		printf("%snote: [%s] takes events, but none are recorded: set `names` in [events], or "
		       "`events`, `syscalls` or `functions` in [kernel]\n",
			prefix, output->section);
	if (config_lane_is_on(output, KIND_MESSAGES) && !has_intake(config))
		printf("%snote: [%s] takes messages, but none come in: set `scribe`, `otlp` or `otlp-grpc` "
		       "in "
		       "[input]\n",
			prefix, output->section);
}

static bool takes(const struct config *config, enum kind kind)
{
	bool taken = false;

	for (guint i = 0; i < config->outputs->len; i++)
		taken |= config_lane_is_on(g_ptr_array_index(config->outputs, i), kind);
	return taken;
}

/* Pairs of the kernel's events are made of what [kernel] has recorded, and all of them are spans. */
static void note_pairs(const struct config *config, const struct pair_rules *pairs, const char *prefix)
{
	if (pair_rules_have(pairs, true) && !config_reads_kernel(config) && !config_flies(config))
		printf("%snote: `spans` of [events] has pairs by tid, which need `events`, `syscalls` "
		       "or `functions` in [kernel]\n",
			prefix);
	if (pairs->count && !takes(config, KIND_SPANS))
		printf("%snote: `spans` of [events] has no effect, as no output takes spans\n", prefix);
}

/* The flight recorder is never asked for anything, or not for what it cannot give. */
static void note_flight(const struct config *config, const struct pair_rules *pairs, const char *prefix)
{
	bool limited = false;

	if (!config_flies(config))
		return;
	for (guint i = 0; i < config->thresholds->len; i++)
		limited |= limits_any(&((const struct threshold *)config->thresholds->pdata[i])->limits);
	if (!limited)
		printf("%snote: [kernel] has `mode = flight`, and nothing is ever late: set limits in "
		       "[thresholds]\n",
			prefix);
	if (pair_rules_have(pairs, true))
		printf("%snote: `spans` of [events] has pairs by tid, which are not made while [kernel] has "
		       "`mode = flight`\n",
			prefix);
}

/* Programs would be slowed down for what is then thrown away. */
static void note_events(const struct config *config, const char *prefix)
{
	bool taken = takes(config, KIND_EVENTS);
	struct pair_rules pairs;
	char error[512];

	pair_rules_parse(&pairs, config->event_spans, error, sizeof(error));
	note_pairs(config, &pairs, prefix);
	note_flight(config, &pairs, prefix);
	taken |= !*config->event_names && pair_rules_have(&pairs, true);
	if (records_events(config) && !taken && *config->event_names)
		printf("%snote: [events] has events recorded, but no output takes them: set `takes = spans, "
		       "events` in one\n",
			prefix);
	else if (records_events(config) && !taken)
		printf("%snote: no output takes what [kernel] has recorded: it is of use to `blkin why` "
		       "only\n",
			prefix);
	if (*config->event_filter && !*config->event_names)
		printf("%snote: `filter` of [events] has no effect, as `names` is empty\n", prefix);
}

static void note_of_type(const struct output_config *output, const char *prefix)
{
	const struct output_type *type = output_type_of(output);
	g_autofree char *words = type->note ? type->note(output) : NULL;

	if (words)
		printf("%snote: [%s] %s\n", prefix, output->section, words);
}

static void note_input(const char *address, const char *prefix)
{
	struct address input;

	if (*address && address_parse(address, &input) && !address_is_loopback(&input))
		printf("%snote: [input] takes spans at %s from whoever can connect there: nobody is asked "
		       "who they are, and nothing is encrypted (see blkin-agent.conf(5))\n",
			prefix, address);
}

/* Whoever has got an answer does not send again. */
static void note_ack(const struct config *config, const struct output_config *output, const char *prefix)
{
	if (has_intake(config) && config->input_ack == CONFIG_ACK_QUEUED && !output->spool_size &&
		output_key_fits(output, config_key_find("output", "spool-size")))
		printf("%snote: [%s] has no spool, and `ack = queued` of [input] acknowledges what waits in "
		       "memory only: a "
		       "stop or a kill while the server is away loses it\n",
			prefix, output->section);
}

/* What is no mistake, and may surprise; each a line behind @prefix. @looks_up: names, too. */
static void print_notes(const struct config *config, bool looks_up, const char *prefix)
{
	bool delivers = false;

	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(config->outputs, i);

		if (!config_output_delivers(output))
			continue;
		delivers = true;
		note_ports(config, output, prefix);
		note_keep(output, prefix);
		note_budget(output, prefix);
		note_lanes(config, output, prefix);
		note_ack(config, output, prefix);
		if (looks_up)
			note_balance(output, prefix);
		note_of_type(output, prefix);
		if (output_key_fits(output, config_key_find("output", "server")) &&
			config->outputs->len > 1 && !config_output_is_set(output, "server"))
			printf("%snote: [%s] delivers to %s, as no `server` is set there; `type = none` "
			       "switches it off\n",
				prefix, output->section, output->server);
	}
	note_events(config, prefix);
	for (size_t i = 0; i < INPUTS; i++)
		note_input(config->input[i], prefix);
	if (!delivers)
		printf("%snote: no output delivers: events are read and counted, and their spans thrown "
		       "away\n",
			prefix);
}

/* There will be no reload. */
static int refuse(const struct config *config, bool user, bool reload)
{
	struct buffer answer = {0};

	if (reload && *config->socket)
		order_agent(config->socket, user ? AGENT_OF_USER : AGENT_OF_SYSTEM, PROTOCOL_REFUSED_PATH,
			&answer);
	buffer_free(&answer);
	return EX_CONFIG;
}

/* What the agent needs of this node, if that is asked for. */
static enum needs try_needs(const struct wishes *wishes, const struct config *config)
{
	return wishes->print || wishes->alone ? NEEDS_MET : needs_try(config);
}

static void print_files(const struct config *config, enum needs needs)
{
	for (guint i = 0; needs != NEEDS_UNMET && needs != NEEDS_HOPELESS && i < config->files->len; i++)
		printf("%s: OK\n", (const char *)g_ptr_array_index(config->files, i));
	if (config->files->len == 0)
		printf("there is no configuration file, so every setting has its default\n");
}

static int validate(const struct wishes *wishes)
{
	struct config config;
	bool accepted = true;
	enum needs needs;
	int code;

	if (!wishes->user && !wishes->alone)
		environment_add(ENVIRONMENT_FILE);
	if (config_load(&config, wishes->file, wishes->user) != 0) {
		code = refuse(&config, wishes->user, wishes->reload);
		config_free(&config);
		return code;
	}
	if (wishes->print)
		config_print(&config, stdout);
	needs = try_needs(wishes, &config);
	if (!wishes->print)
		print_files(&config, needs);
	print_notes(&config, !wishes->print && !wishes->alone, wishes->print ? "\n# " : "");
	if (needs == NEEDS_UNTRIED)
		printf("note: only root and the agent's user can try whether the agent can read its TLS "
		       "files, write its folders and open its port\n");
	if (wishes->connects)
		accepted = connect_try(&config);
	if (needs == NEEDS_HOPELESS)
		code = refuse(&config, wishes->user, wishes->reload);
	else
		code = fflush(stdout) == 0 && needs != NEEDS_UNMET && accepted ? EX_OK : EXIT_FAILURE;
	config_free(&config);
	return code;
}

/* What is wrong with the command line; NULL if nothing is. */
static const char *find_mistake(const struct wishes *wishes)
{
	if (wishes->print && wishes->connects)
		return "--print only prints: leave it out, or --connect";
	if (wishes->alone && (wishes->connects || wishes->reload))
		return "--no-environment tries nothing: leave it out, or --connect and --reload";
	return NULL;
}

int command_validate(int argc, char **argv)
{
	static const struct option options[] = {{"connect", no_argument, NULL, 'c'},
		{"no-environment", no_argument, NULL, 'n'}, {"print", no_argument, NULL, 'p'},
		{"reload", no_argument, NULL, 'r'}, {"user", no_argument, NULL, 'u'}, {0}};
	struct wishes wishes = {0};
	const char *mistake;
	int option;

	log_init("blkin validate");
	while ((option = options_next(argc, argv, options, help)) != OPTIONS_END) {
		if (option == OPTIONS_HELP)
			return EX_OK;
		if (option == OPTIONS_WRONG)
			return EX_USAGE;
		wishes.user |= option == 'u';
		wishes.connects |= option == 'c';
		wishes.reload |= option == 'r';
		wishes.print |= option == 'p';
		wishes.alone |= option == 'n';
	}
	mistake = find_mistake(&wishes);
	if (mistake) {
		log_error("%s", mistake);
		return EX_USAGE;
	}
	if (argc - optind > 1) {
		log_error("more than one FILE is given: %s", argv[optind + 1]);
		return EX_USAGE;
	}
	wishes.file = argv[optind];
	return validate(&wishes);
}
