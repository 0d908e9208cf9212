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
	free(entry);
}

size_t entry_bytes(const struct entry *entry)
{
	return sizeof(*entry) + batch_bytes(entry->batch);
}
