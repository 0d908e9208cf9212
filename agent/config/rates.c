/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/rates.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sampling_page.h>

#include "base/buffer.h"
#include "base/log.h"
#include "base/regularfile.h"

/* Who has the lock needs it for moments. */
#define LOCK_TRIES 100
#define LOCK_AGAIN_US 50000

#define HEAD "# Kept by `blkin sampling`, which changes it; applied when blkin-agent starts after a boot.\n"

/* Rates */

bool rates_parse(const char *text, uint64_t *threshold)
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

char *rates_text(uint64_t threshold)
{
	if (!threshold)
		return g_strdup("default");
	return threshold == SAMPLING_OFF ? g_strdup("off")
					 : g_strdup_printf("1/%" PRIu64, UINT64_MAX / threshold);
}

void rates_set(GHashTable *rates, const char *service, uint64_t threshold)
{
	uint64_t *value = g_new(uint64_t, 1);

	*value = threshold;
	if (threshold)
		g_hash_table_replace(rates, g_strdup(service), value);
	else {
		g_hash_table_remove(rates, service);
		g_free(value);
	}
}

uint64_t rates_get(GHashTable *rates, const char *service)
{
	const uint64_t *value = g_hash_table_lookup(rates, service);

	return value ? *value : 0;
}

/* The file that keeps them */

static bool read_line(GHashTable *rates, char *line)
{
	char *service = strchr(line, ' ');
	uint64_t threshold;

	if (!*line || *line == '#')
		return true;
	if (service)
		*service++ = '\0';
	if (!rates_parse(line, &threshold) || (service && !*service))
		return false;
	rates_set(rates, service ? service : "", threshold);
	return true;
}

GHashTable *rates_read(const char *kept)
{
	g_autoptr(GHashTable) found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	struct buffer text = {0};
	g_auto(GStrv) lines = NULL;
	bool good = true;

	if (regularfile_read(kept, &text) != 0) {
		int error = errno;

		buffer_free(&text);
		if (error == ENOENT)
			return g_steal_pointer(&found);
		log_error("cannot read the rates that are kept in %s: %s", kept, regularfile_error(error));
		return NULL;
	}
	buffer_put(&text, "", 1);
	lines = g_strsplit((const char *)text.data, "\n", -1);
	buffer_free(&text);
	for (int i = 0; lines[i]; i++) {
		if (read_line(found, lines[i]))
			continue;
		log_error("%s:%d: expected 1/N or off, and a service, as `blkin sampling` writes it: correct "
			  "or remove the line",
			kept, i + 1);
		good = false;
	}
	return good ? g_steal_pointer(&found) : NULL;
}

int rates_write(const char *kept, GHashTable *rates)
{
	g_autoptr(GList) services = g_list_sort(g_hash_table_get_keys(rates), (GCompareFunc)strcmp);
	g_autoptr(GString) text = g_string_new(HEAD);
	g_autofree char *folder = g_path_get_dirname(kept);
	g_autoptr(GError) error = NULL;

	if (!services && (unlink(kept) == 0 || errno == ENOENT))
		return 0;
	for (GList *at = services; at; at = at->next) {
		const char *service = at->data;
		g_autofree char *rate = rates_text(rates_get(rates, service));

		g_string_append_printf(text, "%s%s%s\n", rate, *service ? " " : "", service);
	}
	/* an error here shows in the next call; everybody may read the rates, whatever the umask */
	g_mkdir_with_parents(folder, 0755);
	if (g_file_set_contents_full(kept, text->str, (gssize)text->len,
		    G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0644, &error) &&
		chmod(kept, 0644) == 0)
		return 0;
	log_error("cannot keep the rate over a reboot: %s; --now sets it until the next boot",
		error ? error->message : g_strerror(errno));
	return -1;
}

/* Locking */

int rates_lock(const char *path)
{
	g_autofree char *name = g_strdup_printf("%s.lock", path);
	int fd = regularfile_open(name, O_RDWR | O_CREAT, 0600), error = errno;

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return fd;
		error = errno;
		g_usleep(LOCK_AGAIN_US);
	}
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && error == EWOULDBLOCK)
		log_error("another `blkin sampling` holds %s: try again", name);
	else
		log_error("cannot lock %s: %s", name, regularfile_error(error));
	return -1;
}

/* The page */

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

struct sampling_page *rates_open_page(const char *path, bool writable)
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

void rates_close_page(struct sampling_page *page)
{
	munmap(page, sizeof(*page));
}

static uint64_t count_services(const struct sampling_page *page)
{
	return MIN(load(&page->services), SAMPLING_PAGE_SERVICES);
}

static uint64_t *find_service(struct sampling_page *page, uint64_t hash)
{
	for (uint64_t i = 0; i < count_services(page); i++)
		if (load(&page->service[i].hash) == hash)
			return &page->service[i].threshold;
	return NULL;
}

/* That of one without a rate, which programs pass by, or the next one; SAMPLING_PAGE_SERVICES: there is none.
 */
static uint64_t free_place(const struct sampling_page *page)
{
	uint64_t count = count_services(page), i = 0;

	while (i < count && load(&page->service[i].threshold))
		i++;
	return i;
}

static uint64_t *add_service(struct sampling_page *page, const char *service, uint64_t hash)
{
	uint64_t i = free_place(page);

	if (i == SAMPLING_PAGE_SERVICES)
		return NULL;
	g_strlcpy(page->names[i], service, sizeof(page->names[i]));
	store(&page->service[i].hash, hash);
	if (i == count_services(page))
		store(&page->services, i + 1);
	return &page->service[i].threshold;
}

int rates_set_in_page(struct sampling_page *page, const char *service, uint64_t threshold)
{
	uint64_t hash = sampling_hash(service),
		 *where = *service ? find_service(page, hash) : &page->threshold;

	if (!where && !threshold)
		return 0;
	if (!where)
		where = add_service(page, service, hash);
	if (!where)
		return -1;
	store(where, threshold);
	return 0;
}

/* Room */

static bool page_has_room(struct sampling_page *page, const char *service)
{
	return find_service(page, sampling_hash(service)) || free_place(page) < SAMPLING_PAGE_SERVICES;
}

/* For as many services as the page has, besides what is for all others. */
static bool kept_have_room(GHashTable *kept, const char *service)
{
	return rates_get(kept, service) ||
	       g_hash_table_size(kept) - (rates_get(kept, "") != 0) < SAMPLING_PAGE_SERVICES;
}

bool rates_have_room(struct sampling_page *page, GHashTable *kept, const char *service, uint64_t threshold)
{
	if (!threshold || !*service)
		return true;
	if (page_has_room(page, service) && (!kept || kept_have_room(kept, service)))
		return true;
	log_error("%d services have a rate of their own, and there can be no more: set one that needs "
		  "none to default, as in: blkin sampling default --service NAME",
		SAMPLING_PAGE_SERVICES);
	return false;
}

/* After a boot */

/* As many as there is room for, in the order of the file: the one for all others comes first. */
static int copy(struct sampling_page *page, GHashTable *rates, const char *kept)
{
	g_autoptr(GList) services = g_list_sort(g_hash_table_get_keys(rates), (GCompareFunc)strcmp);
	const char *left_out = NULL;
	unsigned count = 0;

	for (GList *at = services; at; at = at->next) {
		if (rates_set_in_page(page, at->data, rates_get(rates, at->data)) == 0)
			continue;
		left_out = left_out ? left_out : at->data;
		count++;
	}
	if (left_out)
		log_error("%s has rates of more than %d services, and %u of them, such as that of %s, do not "
			  "apply: set some that need none to default, as in: blkin sampling default "
			  "--service NAME",
			kept, SAMPLING_PAGE_SERVICES, count, left_out);
	return left_out ? -1 : 0;
}

static bool is_restored(const char *path, const char *marker)
{
	return access(path, F_OK) == 0 && access(marker, F_OK) == 0;
}

/* The marker is made also if some had no room: what is set after this is not to be undone at each start. */
static int restore(const char *path, const char *kept, const char *marker)
{
	g_autoptr(GHashTable) rates = rates_read(kept);
	struct sampling_page *page = rates ? rates_open_page(path, true) : NULL;
	int fd, status;

	if (!page)
		return -1;
	status = copy(page, rates, kept);
	rates_close_page(page);
	fd = regularfile_open(marker, O_WRONLY | O_CREAT, 0644);
	if (fd >= 0)
		close(fd);
	return status;
}

int rates_restore(const char *path, const char *kept)
{
	g_autofree char *marker = g_strdup_printf("%s.restored", path);
	int lock, status = 0;

	if (is_restored(path, marker))
		return 0;
	lock = rates_lock(path);
	if (lock < 0)
		return -1;
	if (!is_restored(path, marker))
		status = restore(path, kept, marker);
	close(lock);
	return status;
}
