/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/ratelimit.h"

#include "base/clock.h"

int64_t ratelimit_wait(const struct ratelimit *rate, int64_t now)
{
	return rate->limit && rate->free > now ? rate->free - now : 0;
}

void ratelimit_spend(struct ratelimit *rate, uint64_t bytes, int64_t now)
{
	if (!rate->limit)
		return;
	if (rate->free < now)
		rate->free = now;
	rate->free += (int64_t)((double)bytes / (double)rate->limit * (double)NS_PER_SECOND);
}
