/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/quota.h"

/* 2^64 */
#define HASHES 18446744073709551616.0
/* No smaller part is told, so that nobody's words count for more. */
#define PART_MIN 1e-6

void quota_init(struct quota *quota)
{
	atomic_store(&quota->share, QUOTA_ALL);
}

double quota_part(uint64_t share)
{
	double part = ((double)share + 1) / HASHES;

	return part > 1 ? 1 : part < PART_MIN ? PART_MIN : part;
}

uint64_t quota_share(double part)
{
	if (!(part < 1))
		return QUOTA_ALL;
	return part < PART_MIN ? (uint64_t)(PART_MIN * HASHES) : (uint64_t)(part * HASHES);
}

void quota_tell(struct quota *quota, uint64_t spans, uint64_t share)
{
	atomic_fetch_add_explicit(
		&quota->before, (uint64_t)((double)spans / quota_part(share)), memory_order_relaxed);
	atomic_fetch_add_explicit(&quota->told, spans, memory_order_relaxed);
}
