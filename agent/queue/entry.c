/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/entry.h"

#include <stdlib.h>

#include "base/memory.h"

struct entry *entry_create(struct batch *batch)
{
	struct entry *entry = memory_get(sizeof(*entry));

	entry->batch = batch;
	entry->receipt = receipt_take_part(batch->receipt);
	return entry;
}

struct entry *entry_merge(struct entry *entry, struct entry *next)
{
	const struct batch *from = next->batch;

	if (!entry->more_ids)
		entry->more_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_array_append_val(entry->more_ids, next->spool_id);
	if (entry->batch->rules != from->rules)
		entry->batch->rules = NULL;
	entry->batch->otlp_names &= from->otlp_names;
	batch_add_run(entry->batch, from->spans.data, batch_sizes(from), batch_events(from), from->count);
	entry_destroy(next);
	return entry;
}

void entry_set_wire(struct entry *entry, struct batch *wire)
{
	batch_unref(entry->wire);
	entry->wire = wire;
}

void entry_settle(struct entry *entry, bool good)
{
	receipt_end_part(entry->receipt, good);
	entry->receipt = NULL;
}

void entry_destroy(struct entry *entry)
{
	if (!entry)
		return;
	entry_settle(entry, false);
	batch_unref(entry->batch);
	batch_unref(entry->wire);
	if (entry->more_ids)
		g_array_unref(entry->more_ids);
	free(entry);
}

size_t entry_bytes(const struct entry *entry)
{
	return sizeof(*entry) + batch_bytes(entry->batch);
}
