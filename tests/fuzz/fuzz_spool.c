/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spool's file: whatever it is, the spool opens, says what it holds, gives that out in order or counts it
 * as lost, and stores a batch.
 */
#include "fuzz.h"

#include <stddef.h>
#include <string.h>

#include <glib.h>
#include <sqlite3.h>

#include "output/spool/spool.h"

#define SPANS 3

/*
 * SQLite is no part of what is tried, and most of the work. Its memory is glibc's, past the sanitizer's, and
 * it counts what it has; its locks and its log's index are not seen by other processes.
 */

void *__libc_malloc(size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

/* Ahead of each piece. */
union head {
	int size;
	max_align_t align;
};

static void *sqlite_malloc(int size)
{
	union head *head = __libc_malloc(sizeof(*head) + (size_t)size);

	if (!head)
		return NULL;
	head->size = size;
	return head + 1;
}

static void sqlite_free(void *memory)
{
	if (memory)
		__libc_free((union head *)memory - 1);
}

static void *sqlite_realloc(void *memory, int size)
{
	union head *head = __libc_realloc((union head *)memory - 1, sizeof(*head) + (size_t)size);

	if (!head)
		return NULL;
	head->size = size;
	return head + 1;
}

static int sqlite_size(void *memory)
{
	return memory ? ((union head *)memory - 1)->size : 0;
}

static int sqlite_round(int size)
{
	return (size + 7) & ~7;
}

static int sqlite_begin(void *data)
{
	(void)data;
	return SQLITE_OK;
}

static void sqlite_end(void *data)
{
	(void)data;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static sqlite3_mem_methods memory = {sqlite_malloc, sqlite_free, sqlite_realloc, sqlite_size,
		sqlite_round, sqlite_begin, sqlite_end, NULL};

	(void)argc;
	(void)argv;
	fuzz_hold(sqlite3_config(SQLITE_CONFIG_MALLOC, &memory) == SQLITE_OK &&
			  sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 1) == SQLITE_OK &&
			  sqlite3_initialize() == SQLITE_OK &&
			  sqlite3_vfs_register(sqlite3_vfs_find("unix-excl"), 1) == SQLITE_OK,
		"SQLite can be set up");
	return 0;
}

static void store_one(struct spool *spool)
{
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, SPANS, 64);
	struct entry *entry;

	for (int i = 0; i < SPANS; i++)
		batch_add(batch, (const uint8_t *)"a span", 6, 1 + i);
	entry = entry_create(batch);
	fuzz_hold(spool_put(spool, entry), "a batch can be stored");
	entry_destroy(entry);
}

/* Reads all, and deletes it; returns how many spans there were. */
static int64_t take_all(struct spool *spool)
{
	enum spool_read status;
	struct entry *entry;
	int64_t last = 0, spans = 0;

	while ((status = spool_read(spool, last, &entry)) == SPOOL_READ) {
		fuzz_hold(entry->spool_id > last, "ids grow");
		last = entry->spool_id;
		spans += entry->batch->count;
		fuzz_hold(spool_delete(spool, &last, 1), "what was read can be deleted");
		entry_destroy(entry);
	}
	fuzz_hold(status == SPOOL_END, "there is an end");
	return spans;
}

static sqlite3_int64 memory_at_first = -1;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spool_options options = {fuzz_folder(), "default", 16 << 20, false};
	struct spool_losses losses;
	struct spool_holds holds;
	struct spool *spool;
	int64_t held, taken;

	if (memory_at_first < 0)
		memory_at_first = sqlite3_memory_used();
	fuzz_clear_folder();
	g_free(fuzz_write("spool.db", data, size));
	spool = spool_create(&options);
	if (spool_open(spool)) {
		spool_take_losses(spool, &losses);
		store_one(spool);
		spool_read_holds(spool, &holds);
		held = holds.spans;
		taken = take_all(spool);
		spool_take_losses(spool, &losses);
		fuzz_hold(
			taken + losses.corrupt + losses.evicted >= held, "what it held is taken or counted");
		spool_read_holds(spool, &holds);
		fuzz_hold(holds.batches == 0 && holds.spans == 0, "nothing is left");
	}
	spool_destroy(spool);
	fuzz_hold(sqlite3_memory_used() == memory_at_first, "SQLite leaks");
	return 0;
}
