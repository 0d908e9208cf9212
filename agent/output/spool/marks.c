/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/marks.h"

void marks_add(struct marks *marks, const struct entry *list)
{
	for (; list; list = list->next)
		marks->ids[marks->next++ % MARKS_MAX] = list->spool_id;
}

void marks_restore(struct marks *marks, struct entry *entry)
{
	for (unsigned i = 0; i < MARKS_MAX; i++) {
		if (marks->ids[i] != entry->spool_id)
			continue;
		marks->ids[i] = 0;
		entry->failures = ENTRY_FAILURES_MAX;
	}
}
