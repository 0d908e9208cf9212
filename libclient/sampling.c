/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "sampling.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampling_page.h"

#define NS_PER_SECOND UINT64_C(1000000000)

static uint64_t program_threshold = UINT64_MAX;
static uint64_t environment_threshold; /* 0: BLKIN_SAMPLE is not set, */
static int environment_is_wrong;       /* or is no rate */
static uint32_t cap;                   /* traces a second; 0: none */
static uint64_t capped;                /* the second in the upper half, traces in it in the lower */
/* The user's own page comes first. */
static const struct sampling_page *user_page, *node_page;

static uint64_t relaxed(const uint64_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static uint64_t threshold_of(uint64_t one_in)
{
	return one_in > 1 ? UINT64_MAX / one_in : UINT64_MAX;
}

/* A page's threshold for the service; 0: none. */
static uint64_t page_threshold(const struct sampling_page *page, const char *service)
{
	uint64_t hash, count = relaxed(&page->services);

	if (count) {
		hash = sampling_hash(service);
		for (uint64_t i = 0; i < count && i < SAMPLING_PAGE_SERVICES; i++)
			if (relaxed(&page->service[i].hash) == hash && relaxed(&page->service[i].threshold))
				return relaxed(&page->service[i].threshold);
	}
	return relaxed(&page->threshold);
}

/* Counts the trace in its second; returns 0 if the limit is reached. */
static int within_cap(uint64_t now)
{
	uint64_t limit = __atomic_load_n(&cap, __ATOMIC_RELAXED), second = (now / NS_PER_SECOND) << 32;
	uint64_t seen, next;

	if (!limit)
		return 1;
	seen = relaxed(&capped);
	do {
		if (seen < second)
			next = second + 1;
		else if ((seen & UINT32_MAX) >= limit)
			return 0;
		else
			next = seen + 1;
	} while (!__atomic_compare_exchange_n(&capped, &seen, next, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return 1;
}

/*
 * Spread over all numbers, so that the ids of what is recorded are: whoever has it next may choose by them,
 * as collectors do. It is another hash than that of outputs (keep_hash), so that their shares multiply, and
 * is to stay as it is: a trace of which several receivers decide is to be whole.
 */
static uint64_t mix(uint64_t id)
{
	return (id ^ id >> 32) * UINT64_C(0xd6e8feb86659fd93);
}

int sampling_decide(uint64_t id, uint64_t now, const char *service)
{
	uint64_t threshold = user_page ? page_threshold(user_page, service) : 0;

	if (!threshold && node_page)
		threshold = page_threshold(node_page, service);
	if (!threshold)
		threshold = environment_threshold;
	if (!threshold)
		threshold = relaxed(&program_threshold);
	return mix(id) <= threshold && within_cap(now);
}

void sampling_set(uint32_t one_in, uint32_t per_second)
{
	__atomic_store_n(&program_threshold, threshold_of(one_in), __ATOMIC_RELAXED);
	__atomic_store_n(&cap, per_second, __ATOMIC_RELAXED);
}

static uint64_t own_rates(const struct sampling_page *page)
{
	uint64_t own = 0;

	for (uint64_t i = 0; page && i < relaxed(&page->services) && i < SAMPLING_PAGE_SERVICES; i++)
		own += relaxed(&page->service[i].threshold) != 0;
	return own;
}

void sampling_describe(char *text, size_t size)
{
	uint64_t threshold = user_page ? relaxed(&user_page->threshold) : 0;
	uint64_t own = own_rates(user_page) + own_rates(node_page);
	const char *who = "`blkin sampling --user`";
	char rate[32] = "off";
	int used;

	if (!threshold) {
		threshold = node_page ? relaxed(&node_page->threshold) : 0;
		who = "`blkin sampling`";
	}
	if (!threshold) {
		threshold = environment_threshold;
		who = "BLKIN_SAMPLE";
	}
	if (threshold > SAMPLING_OFF)
		snprintf(rate, sizeof(rate), "1/%" PRIu64, UINT64_MAX / threshold);
	if (threshold)
		used = snprintf(text, size, "%s, by %s", rate, who);
	else
		used = snprintf(text, size, "all, unless the program sets a rate%s",
			environment_is_wrong ? " (BLKIN_SAMPLE is no rate: use 1/N)" : "");
	if (own && used > 0 && (size_t)used < size)
		snprintf(text + used, size - (size_t)used, ", and %" PRIu64 " service%s of its own", own,
			own == 1 ? " with a rate" : "s, each with a rate");
}

/* The page must belong to root or the program's user, and nobody else may have write permission. */
static int trusted(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
	       (file.st_uid == 0 || file.st_uid == geteuid()) && !(file.st_mode & (S_IWGRP | S_IWOTH)) &&
	       file.st_size == (off_t)sizeof(struct sampling_page);
}

static const struct sampling_page *map_page(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const struct sampling_page *page = NULL;
	void *mapped = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (trusted(fd))
		mapped = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, fd, 0);
	if (mapped != MAP_FAILED) {
		page = mapped;
		if (page->magic != SAMPLING_PAGE_MAGIC) {
			munmap(mapped, sizeof(*page));
			page = NULL;
		}
	}
	close(fd);
	return page;
}

/* What the variable names is in the place of both. */
static void map_pages(void)
{
	const char *path = secure_getenv(SAMPLING_PAGE_VARIABLE), *runtime = secure_getenv("XDG_RUNTIME_DIR");
	char own[PATH_MAX];

	node_page = map_page(path ? path : SAMPLING_PAGE_FILE);
	if (path || !runtime || *runtime != '/')
		return;
	if ((size_t)snprintf(own, sizeof(own), "%s/blkin/sampling", runtime) < sizeof(own))
		user_page = map_page(own);
}

/* BLKIN_SAMPLE=1/100, or =100; 0, or 1/0, records nothing. Anything else is ignored, but for BLKIN_DEBUG. */
static void read_environment(void)
{
	const char *text = getenv("BLKIN_SAMPLE");
	unsigned long one_in;
	char *end;

	if (!text || !*text)
		return;
	if (strncmp(text, "1/", 2) == 0)
		text += 2;
	one_in = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0')
		environment_threshold = one_in ? threshold_of(one_in) : SAMPLING_OFF;
	else
		environment_is_wrong = 1;
}

__attribute__((constructor)) static void start_sampling(void)
{
	read_environment();
	map_pages();
}
