/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/rare.h"

#include <glib.h>

#include "base/clock.h"

#define EVERY_NS (1 * NS_PER_SECOND)
/* What is remembered: the services of a set by which was kept last. */
#define SETS 256
#define WAYS 8

struct kept {
	uint32_t service;
	int64_t at; /* 0: the place is free */
};

struct rare {
	struct kept kept[SETS][WAYS];
	int64_t since;   /* this second's begin, */
	unsigned wanted; /* and how many were kept for this alone */
};

struct rare *rare_create(void)
{
	return g_new0(struct rare, 1);
}

void rare_destroy(struct rare *rare)
{
	g_free(rare);
}

/* The service's place, or else that of the set which was used least recently. */
static struct kept *find(struct rare *rare, uint32_t service)
{
	struct kept *set = rare->kept[service % SETS], *oldest = set;

	for (int i = 0; i < WAYS; i++) {
		if (set[i].at && set[i].service == service)
			return &set[i];
		if (set[i].at < oldest->at)
			oldest = &set[i];
	}
	return oldest;
}

void rare_keep(struct rare *rare, uint32_t service, int64_t now)
{
	*find(rare, service) = (struct kept){service, now};
}

bool rare_wants(struct rare *rare, uint32_t service, int64_t now)
{
	struct kept *kept = find(rare, service);

	if (kept->at && kept->service == service && now - kept->at < EVERY_NS)
		return false;
	if (now - rare->since >= EVERY_NS) {
		rare->since = now;
		rare->wanted = 0;
	}
	if (rare->wanted >= RARE_MAX)
		return false;
	rare->wanted++;
	*kept = (struct kept){service, now};
	return true;
}
