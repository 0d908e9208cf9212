/* SPDX-License-Identifier: BSD-2-Clause */
/* What outputs deliver: kinds of items. An output's `takes` has a bit for each, in this order. */
#ifndef CORE_KIND_H
#define CORE_KIND_H

enum kind {
	KIND_SPANS,
	KIND_EVENTS,   /* that are not part of a span, as JSON */
	KIND_MESSAGES, /* of Scribe's, as they came */
	KINDS
};

/* "spans", "events", "messages": for people, and in names of spools, accounts and metrics. */
const char *kind_name(enum kind kind);

#endif
