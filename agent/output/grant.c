/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/grant.h"

#include <glib.h>

/* Rates are means over such a time. */
#define MEAN_SECONDS 5.0
/* Of what the collector takes beside the fresh spans, senders get such a part; the rest is for what waits
 * here. */
#define PART 0.5

uint64_t grant_step(struct grant *grant, const struct grant_second *second)
{
	double weight = MIN(second->seconds / MEAN_SECONDS, 1), seconds = MAX(second->seconds, 0.1);
	double each;

	grant->sent += (second->sent / seconds - grant->sent) * weight;
	grant->fresh += (MAX(second->came - second->replayed, 0) / seconds - grant->fresh) * weight;
	if (!second->behind || !second->senders)
		return 0;
	each = PART * (grant->sent - grant->fresh) / (double)second->senders;
	return each > 1 ? (uint64_t)each : 1;
}
