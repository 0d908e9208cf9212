/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin spool`: shows what waits on disk and what was refused, checks whether it is intact, and gives it up.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <sysexits.h>

#include "base/log.h"
#include "base/suggest.h"
#include "commands.h"
#include "config/config.h"
#include "config/load.h"
#include "environment.h"
#include "options.h"
#include "output/spool/spoollist.h"
#include "output/spool/spoolname.h"
#include "spooldiscard.h"
#include "spoolview.h"

static const char help[] =
	"Usage: blkin spool list [--json] [--output NAME] [--user] [--config FILE | --directory DIR]\n"
	"       blkin spool check [--json] [--output NAME] [--user] [--config FILE | --directory DIR]\n"
	"       blkin spool discard (--output NAME | --all) [--older-than TIME] [--yes] [--user]\n"
	"             [--config FILE]\n"
	"\n"
	"Show the spools, where spans wait on disk while a collector does not accept them. Each\n"
	"output has one. The agent may be running or not. `list` shows the batches, and the\n"
	"newest spans that the collector refused; `check` reads every batch, and exits with 1 if\n"
	"one is damaged. `discard` gives up what waits: the agent, which has to run, deletes it and\n"
	"counts it. Only root, and the user that the agent runs as, may do so. The spool of an output\n"
	"that is no longer configured is removed without the agent.\n"
	"\n"
	"  --json             print each batch and refused span as a line of JSON; of `check`, a\n"
	"                     list with an object for each spool\n"
	"  --output NAME      only the spool of this output; [output] is called default\n"
	"  --all              discard what waits in all spools\n"
	"  --older-than TIME  discard only batches whose spans all ended longer ago than this, such\n"
	"                     as 30min, 3h or 2d\n"
	"  --yes              discard without a question\n"
	"  --user             the spools of this user's agent, blkin-agent --user\n"
	"  --config FILE      the configuration that says where the spools and the agent are\n"
	"                     (" CONFIG_DEFAULT_FILE ")\n"
	"  --directory DIR    the folder of the spools\n";

struct request {
	bool check, json, user, discard, all, yes;
	const char *output, *config, *directory, *older;
	int64_t older_ns;
	const struct config *configured; /* NULL with a directory */
};

static int look_into(const struct request *request, const struct spool_found *found)
{
	struct spoolview view = {.output = found->output, .path = found->path, .json = request->json};
	int code = spoolview_open(&view);

	if (request->json && request->check && !view.db)
		spoolview_put_checked(&view, code == EXIT_SUCCESS ? 0 : -1, 0);
	if (view.db)
		code = request->check ? spoolview_check(&view) : spoolview_list(&view);
	else if (code == EXIT_SUCCESS && !request->json)
		printf("output %s: %s is not there yet\n", view.output, view.path);
	spoolview_close(&view);
	return code;
}

/* An output of which nobody has heard is a mistake, if that can be known. */
static int say_none(const struct request *request, const char *directory)
{
	const char *names[CONFIG_OUTPUTS_MAX], *meant;
	size_t count = 0;

	if (request->output && request->configured && !config_output(request->configured, request->output)) {
		const GPtrArray *outputs = request->configured->outputs;

		for (guint i = 0; i < outputs->len && count < CONFIG_OUTPUTS_MAX; i++)
			names[count++] = ((const struct output_config *)g_ptr_array_index(outputs, i))->name;
		meant = suggest(request->output, names, count);
		log_error("there is no output %s in the configuration, and no spool of it in %s%s%s%s",
			request->output, directory, meant ? "; did you mean " : "", meant ? meant : "",
			meant ? "?" : "");
		return EXIT_FAILURE;
	}
	if (request->json)
		return EXIT_SUCCESS;
	if (request->output)
		printf("there is no spool of output %s in %s\n", request->output, directory);
	else
		printf("there is no spool in %s\n", directory);
	return EXIT_SUCCESS;
}

static int look(const struct request *request, const char *directory)
{
	GPtrArray *list = spoollist_read(directory);
	bool any = false, listed = request->json && request->check;
	int code = EXIT_SUCCESS;

	if (!list) {
		log_error("%s: %s; `state-directory` in the configuration says where the spools are",
			directory, g_strerror(errno));
		return EXIT_FAILURE;
	}
	if (listed)
		printf("[");
	for (guint i = 0; i < list->len; i++) {
		const struct spool_found *found = g_ptr_array_index(list, i);

		if (request->output && strcmp(found->output, request->output) != 0)
			continue;
		if (any && !request->check && !request->json)
			printf("\n");
		if (any && listed)
			printf(",\n");
		any = true;
		if (look_into(request, found) != EXIT_SUCCESS)
			code = EXIT_FAILURE;
	}
	if (listed)
		printf("]\n");
	if (!any)
		code = say_none(request, directory);
	g_ptr_array_unref(list);
	return code;
}

static int discard(const struct request *request)
{
	const struct spooldiscard is = {
		.config = request->configured,
		.output = request->output,
		.older_ns = request->older_ns,
		.yes = request->yes,
	};

	return spooldiscard(&is);
}

static int look_where_configured(struct request *request)
{
	struct config config;
	int code = EX_CONFIG;

	request->configured = &config;
	if (!request->user)
		environment_add(ENVIRONMENT_FILE);
	if (config_load(&config, request->config, request->user) == 0)
		code = request->discard ? discard(request) : look(request, config.state_directory);
	request->configured = NULL;
	config_free(&config);
	return code;
}

static int read_options(int argc, char **argv, struct request *request)
{
	static const struct option known[] = {{"json", no_argument, NULL, 'j'},
		{"user", no_argument, NULL, 'u'}, {"output", required_argument, NULL, 'o'},
		{"config", required_argument, NULL, 'c'}, {"directory", required_argument, NULL, 'd'},
		{"all", no_argument, NULL, 'a'}, {"older-than", required_argument, NULL, 't'},
		{"yes", no_argument, NULL, 'y'}, {0}};
	int option;

	while ((option = options_next(argc, argv, known, help)) >= 0) {
		switch (option) {
		case 'j':
			request->json = true;
			break;
		case 'u':
			request->user = true;
			break;
		case 'a':
			request->all = true;
			break;
		case 't':
			request->older = optarg;
			break;
		case 'y':
			request->yes = true;
			break;
		case 'o':
			request->output = optarg;
			break;
		case 'c':
			request->config = optarg;
			break;
		default:
			request->directory = optarg;
		}
	}
	return option;
}

static bool read_word(int argc, char **argv, struct request *request)
{
	const char *word = optind < argc ? argv[optind] : "";

	request->check = strcmp(word, "check") == 0;
	request->discard = strcmp(word, "discard") == 0;
	return optind + 1 == argc && (request->check || request->discard || strcmp(word, "list") == 0);
}

/* What is wrong with the command line; NULL if nothing is. */
static const char *find_mistake(struct request *request)
{
	if (request->directory && (request->config || request->user))
		return "use either --directory, or --config and --user: each says where the spools are";
	if (request->output && !spoolname_is_good(request->output))
		return "--output must be the name of an output: letters, digits, - and _";
	if (!request->discard)
		return request->all || request->older || request->yes
			       ? "--all, --older-than and --yes belong to `blkin spool discard`"
			       : NULL;
	if (request->directory || request->json)
		return "`blkin spool discard` takes neither --directory nor --json: it asks the agent, which "
		       "the "
		       "configuration names";
	if (!request->output == !request->all)
		return "say what to discard: --output NAME, or --all";
	if (request->older && !spooldiscard_read_time(request->older, &request->older_ns))
		return "--older-than must be a time with its unit: s, min, h or d, as in 3h";
	return NULL;
}

int command_spool(int argc, char **argv)
{
	struct request request = {0};
	int option = read_options(argc, argv, &request);
	const char *mistake;

	log_init("blkin spool");
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	mistake = read_word(argc, argv, &request)
			  ? find_mistake(&request)
			  : "use `blkin spool list`, `blkin spool check` or `blkin spool discard`";
	if (mistake) {
		log_error("%s", mistake);
		return EX_USAGE;
	}
	return request.directory ? look(&request, request.directory) : look_where_configured(&request);
}
