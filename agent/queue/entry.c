/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/entry.h"

#include <stdlib.h>

#include "base/memory.h"

struct entry *entry_create(struct batch *batch)
{
	struct entry *entry = memory_get(sizeof(*entry));

	entry->batch = batch;
	return entry;
}

void entry_destroy(struct entry *entry)
{
	if (!entry)
		return;
	batch_unref(entry->batch);
	free(entry);
}

size_t entry_bytes(const struct entry *entry)
{
	return sizeof(*entry) + batch_bytes(entry->batch);
}
