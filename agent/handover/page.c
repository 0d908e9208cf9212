/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memfd_create, seals */
#include "handover/page.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"

void page_beat(struct page *page, uint64_t number)
{
	uint64_t first = atomic_load(&page->canary_first), last = atomic_load(&page->canary_last);

	if (!first || number - first >= CANARY_MAX || (last && last >= number))
		return;
	atomic_store(&page->canary_came, clock_monotonic());
	atomic_store(&page->canary_last, number);
}

struct page *page_map(int fd)
{
	void *page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return page == MAP_FAILED ? NULL : page;
}

struct page *page_create(int *fd)
{
	struct page *page = NULL;

	*fd = memfd_create("blkin-page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (*fd >= 0 && ftruncate(*fd, sizeof(struct page)) == 0 &&
		fcntl(*fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
		page = page_map(*fd);
	if (!page && *fd >= 0)
		close(*fd);
	return page;
}

void page_unmap(struct page *page)
{
	munmap(page, sizeof(*page));
}
