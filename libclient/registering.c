/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "registering.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MS INT64_C(1000000)
/* A daemon that is well answers within 30 ms. */
#define WAIT (200 * MS)
/* For how long nobody waits after that, at first and at most. It doubles with each wait in vain. */
#define PAUSE_MIN (1000 * MS)
#define PAUSE_MAX (64000 * MS)

/* Shared by all forked processes; zero while the daemon answers. */
struct hung {
	int64_t until; /* CLOCK_MONOTONIC ns; nobody waits before that */
	int64_t pause;
};

static struct hung *hung;
static bool forked;

static int64_t now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * (1000 * MS) + time.tv_nsec;
}

/* Children that waited in vain at the same time count as one. */
static void note_silence(int64_t known)
{
	int64_t pause = 2 * __atomic_load_n(&hung->pause, __ATOMIC_RELAXED);

	if (pause < PAUSE_MIN)
		pause = PAUSE_MIN;
	if (pause > PAUSE_MAX)
		pause = PAUSE_MAX;
	if (__atomic_compare_exchange_n(&hung->until, &known, now(CLOCK_MONOTONIC) + pause, false,
		    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		__atomic_store_n(&hung->pause, pause, __ATOMIC_RELAXED);
}

/* Waits until the daemon has answered, for less long than LTTng would. */
static int wait_shortly(sem_t *answered)
{
	int64_t known = __atomic_load_n(&hung->until, __ATOMIC_RELAXED), end;
	struct timespec deadline;
	int result;

	if (now(CLOCK_MONOTONIC) < known) {
		errno = ETIMEDOUT;
		return -1;
	}
	end = now(CLOCK_REALTIME) + WAIT;
	deadline.tv_sec = (time_t)(end / (1000 * MS));
	deadline.tv_nsec = (long)(end % (1000 * MS));
	do
		result = sem_timedwait(answered, &deadline);
	while (result != 0 && errno == EINTR);
	if (result != 0) {
		note_silence(known);
		errno = ETIMEDOUT;
	} else if (known) {
		__atomic_store_n(&hung->pause, 0, __ATOMIC_RELAXED);
		__atomic_store_n(&hung->until, 0, __ATOMIC_RELAXED);
	}
	return result;
}

static int wait_for_answer(sem_t *answered, const struct timespec *deadline)
{
	return forked ? wait_shortly(answered) : sem_timedwait(answered, deadline);
}

/* The table of imports */

struct object {
	ElfW(Addr) base;
	const char *strings;
	const ElfW(Sym) * symbols;
	ElfW(Addr) imports;
	size_t size, entry; /* of the table, and of an entry: REL or RELA, which begin alike */
};

/* The dynamic linker has turned offsets into addresses, but for some machines. */
static ElfW(Addr) address(const struct object *object, ElfW(Addr) value)
{
	return value < object->base ? object->base + value : value;
}

static struct object read_object(ElfW(Addr) base, const ElfW(Dyn) * entry)
{
	struct object object = {.base = base, .entry = sizeof(ElfW(Rela))};

	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_STRTAB)
			object.strings = (const char *)address(&object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_SYMTAB)
			object.symbols = (const ElfW(Sym) *)address(&object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_JMPREL)
			object.imports = address(&object, entry->d_un.d_ptr);
		else if (entry->d_tag == DT_PLTRELSZ)
			object.size = entry->d_un.d_val;
		else if (entry->d_tag == DT_PLTREL && entry->d_un.d_val == DT_REL)
			object.entry = sizeof(ElfW(Rel));
	}
	return object;
}

static size_t symbol_of(const ElfW(Rel) * import)
{
	return sizeof(import->r_info) == 8 ? (size_t)((uint64_t)import->r_info >> 32)
					   : (size_t)(import->r_info >> 8);
}

/* Where @object keeps the address of the function @name that it calls; NULL if it calls none. */
static void **find_import(const struct object *object, const char *name)
{
	if (!object->strings || !object->symbols || !object->imports)
		return NULL;
	for (size_t at = 0; at + object->entry <= object->size; at += object->entry) {
		const ElfW(Rel) *import = (const ElfW(Rel) *)(object->imports + at);

		if (!strcmp(object->strings + object->symbols[symbol_of(import)].st_name, name))
			return (void **)(object->base + import->r_offset);
	}
	return NULL;
}

/* Makes the import lead to @function. Its page is read-only if it ends before @read_only does. */
static void replace(void **import, void *function, uintptr_t read_only)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uintptr_t page = (uintptr_t)import & ~(uintptr_t)(size - 1);
	bool protected = page + size <= read_only;

	if (protected && mprotect((void *)page, size, PROT_READ | PROT_WRITE) != 0)
		return;
	__atomic_store_n(import, function, __ATOMIC_RELAXED);
	if (protected)
		mprotect((void *)page, size, PROT_READ);
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
	const ElfW(Phdr) *dynamic = NULL;
	uintptr_t read_only = 0; /* the end of what is, once the object is loaded */
	struct object object;
	void **import;

	(void)size;
	(void)data;
	if (!info->dlpi_name || !strstr(info->dlpi_name, "/liblttng-ust.so.1"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (part->p_type == PT_DYNAMIC)
			dynamic = part;
		else if (part->p_type == PT_GNU_RELRO)
			read_only = info->dlpi_addr + part->p_vaddr + part->p_memsz;
	}
	if (!dynamic)
		return 0;
	object = read_object(info->dlpi_addr, (const ElfW(Dyn) *)(info->dlpi_addr + dynamic->p_vaddr));
	import = find_import(&object, "sem_timedwait");
	if (import)
		replace(import, (void *)(uintptr_t)wait_for_answer, read_only);
	return 1;
}

void registering_prepare(void)
{
	void *shared;

	if (getenv("LTTNG_UST_REGISTER_TIMEOUT"))
		return;
	shared = mmap(NULL, sizeof(*hung), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return;
	hung = shared;
	dl_iterate_phdr(visit, NULL);
}

void registering_in_child(void)
{
	forked = true;
}
