/* SPDX-License-Identifier: BSD-2-Clause */
/* Statistics, and spans for them as a reader hands them over. */
#ifndef STATS_RIG_H
#define STATS_RIG_H

#include <check.h>
#include <stdbool.h>
#include <string.h>

#include "queue/keep.h"
#include "stats/names.h"
#include "stats/statistics.h"

static struct names *names;
static struct statistics *statistics;
static struct namer *namer; /* of the spans that come next */
static struct buffer traits, named, words;
static uint32_t waiting;
static uint32_t user = 7; /* whose spans come next */

static inline void make_statistics(void)
{
	names = names_create();
	statistics = statistics_create();
	namer = statistics_namer(statistics, STATISTICS_READER);
}

static inline void end_statistics(void)
{
	names_destroy(names);
	statistics_destroy(statistics);
	buffer_free(&traits);
	buffer_free(&named);
	buffer_free(&words);
	waiting = 0;
	user = 7;
}

static inline struct text text_of(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

static inline void put_trait(const struct span *span)
{
	struct trait trait = trait_of(span);

	buffer_put(&traits, &trait, sizeof(trait));
}

static inline void add(const char *service, const char *name, int64_t duration, bool error, uint32_t pid)
{
	static const struct tag failed = {{"error", 5}, {"", 0}, TAG_TEXT};
	struct span span = {.local.service = text_of(service),
		.name = text_of(name),
		.duration = duration,
		.tags = &failed,
		.tag_count = error,
		.program = text_of("program"),
		.pid = pid,
		.has_user = true,
		.user = user};
	struct name_keys keys = names_keys(names, &span);
	struct named its = names_of(names, &span, &keys, waiting++, &words);

	buffer_put(&named, &its, sizeof(its));
	put_trait(&span);
}

/* As they are until the next ones are taken; @counted is for what has their number. */
static inline struct items items_of(struct batch *counted)
{
	counted->count = waiting; /* only its traits and names are looked at */
	return (struct items){.batch = counted,
		.traits = (const struct trait *)(const void *)traits.data,
		.named = named.data,
		.words = words.data,
		.words_size = words.size};
}

static inline bool take(void)
{
	struct batch counted = {0};
	struct items spans = items_of(&counted);
	bool good = statistics_take(namer, &spans);

	waiting = 0;
	traits.size = named.size = words.size = 0;
	return good;
}

#endif
