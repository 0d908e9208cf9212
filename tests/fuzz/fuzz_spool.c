/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A spool's file: whatever it is, the spool opens, says what it holds, gives that out in order or counts it
 * as lost, and stores a batch.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "spool/spool.h"

#define SPANS 3

static void store_one(struct spool *spool)
{
	struct batch *batch = batch_create(BATCH_ZIPKIN_SPANS, SPANS, 64);
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct spool_options options = {fuzz_folder(), "default", 16 << 20, false};
	struct spool_losses losses;
	struct spool_holds holds;
	struct spool *spool;
	int64_t held, taken;

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
	return 0;
}
