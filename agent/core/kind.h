/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What outputs deliver: kinds of items. An output's `takes` has a bit for each, in this order.
 *
 * Each kind that an output takes goes its own way there, its *lane*, with a queue, a spool, an uplink and an
 * account, so that a flood of one kind is nothing to the others. The lane of spans is called by the output's
 * name; those of others by that name, a colon, and the kind: "site:messages".
 */
#ifndef CORE_KIND_H
#define CORE_KIND_H

#include <stddef.h>

enum kind {
	KIND_SPANS,
	KIND_EVENTS,   /* that are not part of a span, as JSON */
	KIND_MESSAGES, /* of Scribe's, as they came */
	KINDS
};

/* "spans", "events", "messages": for people, and in names of lanes and metrics. */
const char *kind_name(enum kind kind);

/* The text, which speaks of spans, for items of the kind; g_free. */
char *kind_text(enum kind kind, const char *text);

/* The lane's name; g_free. */
char *lane_name(const char *output, enum kind kind);

/* The kind of the lane's items, and in @size, unless it is NULL, how much of its name is the output's. */
enum kind lane_kind(const char *lane, size_t *size);

#endif
