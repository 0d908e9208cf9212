/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans of programs of this node are counted in its statistics, as those that the reader reads: inner.h. What
 * other nodes send, these have counted.
 *
 * Of the groups that are open at the same time, any may be handed over first, so each kind has names of its
 * own: a name is told with the first span that has it.
 */
#include "inlet/inner.h"

bool count_is_due(const struct connection *connection)
{
	return connection->holder->peer.is_user;
}

/* A program says of itself no more than its service. */
static struct span as_counted(const struct span *span, uint32_t user)
{
	struct span counted = *span;

	if (!counted.program.size)
		counted.program = counted.local.service;
	counted.has_user = true;
	counted.user = user;
	return counted;
}

void count_note(struct group *group, const struct connection *connection, const struct span *span)
{
	struct names **names = &connection->inlet->names[group->namer];
	struct trait trait = trait_of(span);
	struct span counted;
	struct name_keys keys;
	struct named named;

	buffer_put(&group->traits, &trait, sizeof(trait));
	if (!group->counted)
		return;
	if (!*names)
		*names = names_create();
	counted = as_counted(span, connection->holder->peer.user);
	keys = names_keys(*names, &counted);
	named = names_of(*names, &counted, &keys, group->spans->count - 1, &group->words);
	buffer_put(&group->named, &named, sizeof(named));
}

struct items count_items(const struct group *group)
{
	return (struct items){
		.batch = group->spans,
		.lasting = group->spans,
		.traits = (const struct trait *)(const void *)group->traits.data,
		.named = group->named.data,
		.words = group->words.data,
		.words_size = group->words.size,
	};
}

void count_take(struct inlet *inlet, const struct group *group, const struct items *spans)
{
	struct namer *namer = inlet->options.namer[group->namer];

	if (!group->counted) {
		traces_take(inlet->options.traces, spans, NULL, 0);
		return;
	}
	statistics_hold(namer);
	statistics_take(namer, spans);
	statistics_give(namer, spans, inlet->options.traces);
	statistics_release(namer);
}

/* What was put off has told the names in vain. */
void count_forget(struct inlet *inlet, const struct group *group)
{
	struct namer *namer = inlet->options.namer[group->namer];

	if (!group->words.size)
		return;
	names_destroy(inlet->names[group->namer]);
	inlet->names[group->namer] = NULL;
	statistics_hold(namer);
	statistics_begin(namer);
	statistics_release(namer);
}

void count_free(struct group *group)
{
	buffer_free(&group->traits);
	buffer_free(&group->named);
	buffer_free(&group->words);
}
