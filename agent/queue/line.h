/* SPDX-License-Identifier: BSD-2-Clause */
/* Entries that wait in line. Suspects for which there is no room aside stand behind all others. */
#ifndef QUEUE_LINE_H
#define QUEUE_LINE_H

#include "queue/entry.h"

struct line {
	struct entry *first, **end; /* of those that are no suspects; the suspects follow */
};

static inline void line_init(struct line *line)
{
	line->first = NULL;
	line->end = &line->first;
}

/* Before the one at @at, which is no suspect unless that is the end. */
static inline void line_insert(struct line *line, struct entry **at, struct entry *entry)
{
	entry->next = *at;
	*at = entry;
	if (line->end == at)
		line->end = &entry->next;
}

static inline struct entry *line_unlink(struct line *line, struct entry **at)
{
	struct entry *entry = *at;

	*at = entry->next;
	if (line->end == &entry->next)
		line->end = at;
	entry->next = NULL;
	return entry;
}

/* What was taken is the first again; or, if it is a suspect, the last. */
static inline void line_put_back(struct line *line, struct entry *entry)
{
	struct entry **last = line->end;

	if (!entry_is_suspect(entry)) {
		line_insert(line, &line->first, entry);
		return;
	}
	while (*last)
		last = &(*last)->next;
	*last = entry;
	entry->next = NULL;
}

/* Whether the first is one, as all that wait are. */
static inline bool line_has_only_suspects(const struct line *line)
{
	return line->first && line->end == &line->first;
}

#endif
