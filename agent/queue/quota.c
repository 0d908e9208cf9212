/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/quota.h"

#include "base/clock.h"

/* 2^64 */
#define HASHES 18446744073709551616.0
/* No smaller part is told, so that nobody's words count for more. */
#define PART_MIN 1e-6
/* Nor, once senders know ours, one that is so many times smaller: they follow within seconds, and anybody may
 * tell any. */
#define LAG 8
/* An agent that may send little sends a call once in so long (output/server/sendpace.c). */
#define TURN_NS (20 * NS_PER_SECOND)

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
	uint64_t offered = atomic_load_explicit(&quota->offered, memory_order_relaxed); /* or 0 */
	double part = quota_part(share), least = quota_part(offered) / LAG;

	atomic_fetch_add_explicit(&quota->before, (uint64_t)((double)spans / (part > least ? part : least)),
		memory_order_relaxed);
	atomic_fetch_add_explicit(&quota->told, spans, memory_order_relaxed);
}

uint64_t quota_turn(int64_t now)
{
	return (uint64_t)(now / TURN_NS) + 1;
}

void quota_replay(struct quota *quota, uint64_t spans, uint64_t turn, bool is_new)
{
	uint64_t before = atomic_load(&quota->turn);

	if (before != turn) {
		atomic_store(&quota->replayers_before, before + 1 == turn ? quota->replayers : 0);
		atomic_store(&quota->replayers, 0);
		atomic_store(&quota->turn, turn);
	}
	atomic_fetch_add_explicit(&quota->replayers, is_new, memory_order_relaxed);
	atomic_fetch_add_explicit(&quota->replayed, spans, memory_order_relaxed);
}

uint64_t quota_replayers(struct quota *quota, uint64_t turn)
{
	uint64_t latest = atomic_load(&quota->turn), now = atomic_load(&quota->replayers),
		 before = atomic_load(&quota->replayers_before);

	if (latest == turn)
		return now > before ? now : before;
	return latest + 1 == turn ? now : 0;
}
