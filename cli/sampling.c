/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin sampling`: sets how many traces the programs of this node record, while they run. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "base/log.h"
#include "commands.h"
#include "options.h"
#include "sampling_page.h"

static const char help[] =
	"Usage: blkin sampling [OPTION]... [1/N | off | default]\n"
	"Let every traced program of this node record one in N of the traces that begin in it. It\n"
	"takes effect while they run. Without a rate, show the rates that are set.\n"
	"\n"
	"  --service NAME  set the rate of this service only; it takes precedence\n"
	"  --page FILE     use this file instead of " SAMPLING_PAGE_FILE "; programs find it if\n"
	"                  BLKIN_SAMPLING_PAGE in their environment names it\n"
	"  --help          show this\n"
	"\n"
	"`off` records nothing; `default` leaves the rate to BLKIN_SAMPLE and the program. A program\n"
	"that was started before the file existed must be restarted once. Programs accept the file\n"
	"only if it belongs to root or to their own user.\n";

struct request {
	const char *page, *service, *rate;
};

static uint64_t load(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static void store(uint64_t *word, uint64_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Creates an empty page; programs never see half of one. */
static int create_page(const char *path)
{
	g_autofree char *fresh = g_strdup_printf("%s.%d", path, (int)getpid());
	g_autofree struct sampling_page *empty = g_new0(struct sampling_page, 1);
	int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), status = -1;

	empty->magic = SAMPLING_PAGE_MAGIC;
	if (fd >= 0 && fchmod(fd, 0644) == 0 && write(fd, empty, sizeof(*empty)) == (ssize_t)sizeof(*empty) &&
		(link(fresh, path) == 0 || errno == EEXIST))
		status = 0;
	else
		log_error("cannot create the page %s: %s", path, strerror(errno));
	if (fd >= 0) {
		unlink(fresh);
		close(fd);
	}
	return status;
}

/* Maps the page; NULL, having printed why, if that fails. @writable creates it if it does not exist. */
static struct sampling_page *open_page(const char *path, bool writable)
{
	struct sampling_page *page = MAP_FAILED;
	struct stat file;
	int fd;

	if (writable && access(path, F_OK) != 0 && create_page(path) != 0)
		return NULL;
	fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &file) != 0) {
		log_error("cannot open the page %s: %s", path, strerror(errno));
		goto out;
	}
	if (S_ISREG(file.st_mode) && file.st_size == (off_t)sizeof(*page))
		page = mmap(NULL, sizeof(*page), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
			fd, 0);
	if (page != MAP_FAILED && page->magic == SAMPLING_PAGE_MAGIC)
		goto out;
	log_error(
		"%s is not a page of this version, and programs ignore it: remove it, and restart them once",
		path);
	if (page != MAP_FAILED)
		munmap(page, sizeof(*page));
	page = MAP_FAILED;
out:
	if (fd >= 0)
		close(fd);
	return page == MAP_FAILED ? NULL : page;
}

static void print_rate(const char *who, uint64_t threshold)
{
	if (!threshold)
		printf("%s: default\n", who);
	else if (threshold == SAMPLING_OFF)
		printf("%s: off\n", who);
	else
		printf("%s: 1/%" PRIu64 "\n", who, UINT64_MAX / threshold);
}

static int show(const char *path)
{
	struct sampling_page *page;

	if (access(path, F_OK) != 0 && errno == ENOENT) {
		print_rate("every service", 0);
		return EX_OK;
	}
	page = open_page(path, false);
	if (!page)
		return EXIT_FAILURE;
	print_rate("every service", load(&page->threshold));
	for (uint64_t i = 0; i < load(&page->services) && i < SAMPLING_PAGE_SERVICES; i++) {
		g_autofree char *name = g_strndup(page->names[i], sizeof(page->names[i]));

		if (load(&page->service[i].threshold))
			print_rate(name, load(&page->service[i].threshold));
	}
	munmap(page, sizeof(*page));
	return EX_OK;
}

/*
 * The service's entry, which is added if it does not exist; NULL if the page is full. Entries are never
 * removed, because programs may be reading them.
 */
static uint64_t *service_threshold(struct sampling_page *page, const char *service)
{
	uint64_t hash = sampling_hash(service), count = load(&page->services);

	for (uint64_t i = 0; i < count && i < SAMPLING_PAGE_SERVICES; i++)
		if (load(&page->service[i].hash) == hash)
			return &page->service[i].threshold;
	if (count >= SAMPLING_PAGE_SERVICES) {
		log_error("the page is full: it has room for %d services", SAMPLING_PAGE_SERVICES);
		return NULL;
	}
	g_strlcpy(page->names[count], service, sizeof(page->names[count]));
	store(&page->service[count].hash, hash);
	store(&page->services, count + 1);
	return &page->service[count].threshold;
}

/* Reads 1/N, off or default; returns false if it is none. */
static bool parse_rate(const char *text, uint64_t *threshold)
{
	char *end;
	unsigned long long one_in;

	if (!strcmp(text, "default") || !strcmp(text, "off")) {
		*threshold = *text == 'o' ? SAMPLING_OFF : 0;
		return true;
	}
	if (strncmp(text, "1/", 2) != 0 || !g_ascii_isdigit(text[2]))
		return false;
	errno = 0;
	one_in = strtoull(text + 2, &end, 10);
	if (*end || errno || one_in == 0 || one_in > UINT32_MAX)
		return false;
	*threshold = UINT64_MAX / one_in;
	return true;
}

static int set(const struct request *request)
{
	struct sampling_page *page;
	uint64_t threshold, *where;

	if (!parse_rate(request->rate, &threshold)) {
		log_error("%s is not a rate: use 1/N (such as 1/100), off or default", request->rate);
		return EX_USAGE;
	}
	page = open_page(request->page, true);
	if (!page)
		return EXIT_FAILURE;
	where = request->service ? service_threshold(page, request->service) : &page->threshold;
	if (where)
		store(where, threshold);
	munmap(page, sizeof(*page));
	return where ? show(request->page) : EXIT_FAILURE;
}

int command_sampling(int argc, char **argv)
{
	static const struct option options[] = {
		{"service", required_argument, NULL, 's'}, {"page", required_argument, NULL, 'p'}, {0}};
	struct request request = {.page = SAMPLING_PAGE_FILE};
	int option;

	log_init("blkin sampling");
	while ((option = options_next(argc, argv, options, help)) >= 0)
		*(option == 's' ? &request.service : &request.page) = optarg;
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (optind < argc)
		request.rate = argv[optind++];
	if (optind < argc) {
		log_error("unexpected argument %s after the rate", argv[optind]);
		return EX_USAGE;
	}
	if (request.service && (!*request.service || !request.rate)) {
		log_error("--service needs a name and a rate, as in: blkin sampling 1/10 --service osd.0");
		return EX_USAGE;
	}
	return request.rate ? set(&request) : show(request.page);
}
