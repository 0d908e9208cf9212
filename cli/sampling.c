/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin sampling`: sets how many traces the programs of this node record, while they run and after a boot.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <sampling_page.h>
#include <sysexits.h>

#include "base/log.h"
#include "commands.h"
#include "config/rates.h"
#include "config/user.h"
#include "options.h"

static const char help[] =
	"Usage: blkin sampling [OPTION]... [1/N | off | default]\n"
	"Let every traced program of this node record one in N of the traces that begin in it. It\n"
	"takes effect while they run, and lasts: also after a reboot. Without a rate, show the rates\n"
	"that are set, and how long they last.\n"
	"\n"
	"  --service NAME  set the rate of this service only; it takes precedence\n"
	"  --now           set it until the next boot only; then the rate that lasts applies again\n"
	"  --user          the rates of this user's own programs, which take precedence; they last in\n"
	"                  the user's state directory. Needs XDG_RUNTIME_DIR, as the programs do\n"
	"  --page FILE     use this file instead of " SAMPLING_PAGE_FILE "; programs find it if\n"
	"                  BLKIN_SAMPLING_PAGE in their environment names it. Its rates last as long\n"
	"                  as it does\n"
	"  --restore       apply the rates that last, unless it was done since the boot; the agent's\n"
	"                  service does it when it starts\n"
	"  --help          show this\n"
	"\n"
	"`off` records nothing; `default` leaves the rate to BLKIN_SAMPLE and the program, now and\n"
	"after a reboot. A program that was started before the file existed must be restarted once.\n"
	"Programs accept the file only if it belongs to root or to their own user. The rates that\n"
	"last are in " RATES_KEPT_FILE ".\n";

struct request {
	const char *page, *service, *rate;
	const char *kept; /* NULL: the page is all there is */
	bool now, user, restore;
};

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* Showing */

/* @last is the rate that is kept, or that of the page again if none can be. */
static void print_rate(const char *who, uint64_t threshold, const struct request *request, uint64_t last)
{
	g_autofree char *rate = rates_text(threshold), *then = rates_text(last);

	if (!request->kept || (!threshold && !last))
		printf("%s: %s\n", who, rate);
	else if (threshold == last)
		printf("%s: %s, also after a reboot\n", who, rate);
	else
		printf("%s: %s until the next boot, then %s\n", who, rate, then);
}

/* Those that are kept and not in the page. */
static void print_rest(GHashTable *kept)
{
	g_autoptr(GList) services = g_list_sort(g_hash_table_get_keys(kept), (GCompareFunc)strcmp);

	for (GList *at = services; at; at = at->next) {
		const char *service = at->data;
		g_autofree char *rate = rates_text(rates_get(kept, service));

		printf("%s: %s when the agent starts\n", *service ? service : "every service", rate);
	}
}

/* The whole name of a service, of which the page has the beginning only; or that. */
static char *whole_name(const struct sampling_page *page, uint64_t i, GHashTable *kept)
{
	GHashTableIter iter;
	gpointer service;

	g_hash_table_iter_init(&iter, kept);
	while (g_hash_table_iter_next(&iter, &service, NULL))
		if (sampling_hash(service) == load(&page->service[i].hash))
			return g_strdup(service);
	return g_strndup(page->names[i], sizeof(page->names[i]));
}

static void print_page(const struct sampling_page *page, const struct request *request, GHashTable *kept)
{
	print_rate("every service", load(&page->threshold), request, rates_get(kept, ""));
	g_hash_table_remove(kept, "");
	for (uint64_t i = 0; i < load(&page->services) && i < SAMPLING_PAGE_SERVICES; i++) {
		g_autofree char *name = whole_name(page, i, kept);
		uint64_t threshold = load(&page->service[i].threshold), last = rates_get(kept, name);

		if (threshold || last)
			print_rate(name, threshold, request, last);
		g_hash_table_remove(kept, name);
	}
}

static int show(const struct request *request)
{
	/* no file has an empty name */
	g_autoptr(GHashTable) kept = rates_read(request->kept ? request->kept : "");
	struct sampling_page *page;

	if (!kept)
		return EXIT_FAILURE;
	if (access(request->page, F_OK) == 0 || errno != ENOENT) {
		page = rates_open_page(request->page, false);
		if (!page)
			return EXIT_FAILURE;
		print_page(page, request, kept);
		rates_close_page(page);
	} else if (!rates_get(kept, "")) {
		print_rate("every service", 0, request, 0);
	}
	print_rest(kept);
	return EX_OK;
}

/* Setting */

/* First in the file that lasts, then in the page: what cannot last, or finds no room in one of them, is not
 * set at all. */
static int change_both(
	const struct request *request, struct sampling_page *page, const char *service, uint64_t threshold)
{
	bool lasts = request->kept && !request->now;
	g_autoptr(GHashTable) kept = lasts ? rates_read(request->kept) : NULL;

	if ((lasts && !kept) || !rates_have_room(page, kept, service, threshold))
		return -1;
	if (lasts) {
		rates_set(kept, service, threshold);
		if (rates_write(request->kept, kept) != 0)
			return -1;
	}
	return rates_set_in_page(page, service, threshold);
}

/* While nobody else does. */
static int change(const struct request *request, uint64_t threshold)
{
	const char *service = request->service ? request->service : "";
	struct sampling_page *page;
	int lock = rates_lock(request->page), status = -1;

	if (lock < 0)
		return -1;
	page = rates_open_page(request->page, true);
	if (page) {
		status = change_both(request, page, service, threshold);
		rates_close_page(page);
	}
	close(lock);
	return status;
}

static int set(const struct request *request)
{
	g_autofree char *folder = g_path_get_dirname(request->page);
	uint64_t threshold;

	if (!rates_parse(request->rate, &threshold)) {
		log_error("%s is not a rate: use 1/N (such as 1/100), off or default", request->rate);
		return EX_USAGE;
	}
	if (request->user)
		g_mkdir_with_parents(folder, 0700);
	/* what lasts comes first, or the agent's next start would undo this */
	if (request->kept && rates_restore(request->page, request->kept) != 0)
		return EXIT_FAILURE;
	return change(request, threshold) == 0 ? show(request) : EXIT_FAILURE;
}

static int run(const struct request *request)
{
	if (request->restore)
		return rates_restore(request->page, request->kept) == 0 ? EX_OK : EXIT_FAILURE;
	return request->rate ? set(request) : show(request);
}

/* Options */

static int read_options(int argc, char **argv, struct request *request)
{
	static const struct option options[] = {{"service", required_argument, NULL, 's'},
		{"now", no_argument, NULL, 'n'}, {"user", no_argument, NULL, 'u'},
		{"page", required_argument, NULL, 'p'}, {"restore", no_argument, NULL, 'r'}, {0}};
	int option;

	while ((option = options_next(argc, argv, options, help)) >= 0) {
		switch (option) {
		case 's':
			request->service = optarg;
			break;
		case 'n':
			request->now = true;
			break;
		case 'u':
			request->user = true;
			break;
		case 'p':
			request->page = optarg;
			break;
		default:
			request->restore = true;
		}
	}
	return option;
}

static bool is_name(const char *service)
{
	for (; *service; service++)
		if (g_ascii_iscntrl(*service))
			return false;
	return true;
}

/* As libclient sees it. */
static bool has_runtime_folder(void)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	return folder && g_path_is_absolute(folder);
}

/* What is wrong with the command line; NULL if nothing is. */
static const char *find_mistake(const struct request *request)
{
	if (request->service && (!*request->service || !request->rate))
		return "--service needs a name and a rate, as in: blkin sampling 1/10 --service osd.0";
	if (request->service && !is_name(request->service))
		return "a service's name has no control characters";
	if (request->page && (request->user || request->now || request->restore))
		return "--page names a file whose rates last as long as it does: use it without --now, "
		       "--user and --restore";
	if (request->user && !has_runtime_folder())
		return "--user needs XDG_RUNTIME_DIR, as programs look for their user's rates there only: "
		       "where there is none, use --page FILE, and name it to them by BLKIN_SAMPLING_PAGE";
	if (request->now && !request->rate)
		return "--now needs a rate, as in: blkin sampling 1/10 --now";
	if (request->restore && request->rate)
		return "--restore takes no rate";
	return NULL;
}

int command_sampling(int argc, char **argv)
{
	struct request request = {0};
	g_autofree char *page = user_sampling_page(), *kept = user_sampling_file();
	int option = read_options(argc, argv, &request);
	const char *mistake;

	log_init("blkin sampling");
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (optind < argc)
		request.rate = argv[optind++];
	if (optind < argc) {
		log_error("unexpected argument %s after the rate", argv[optind]);
		return EX_USAGE;
	}
	mistake = find_mistake(&request);
	if (mistake) {
		log_error("%s", mistake);
		return EX_USAGE;
	}
	if (!request.page) {
		request.page = request.user ? page : SAMPLING_PAGE_FILE;
		request.kept = request.user ? kept : RATES_KEPT_FILE;
	}
	return run(&request);
}
