/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/budget.h"

#include <string.h>

#include <glib.h>

/* These are tests/cluster/budget's. More than so much of the budget makes the share smaller, */
#define MOST 1.1
/* and it gets larger only by so much at least: each change cuts traces. */
#define STEP 1.15
/* Senders are told nothing before so many seconds of what comes were seen. */
#define KNOWN 3

void budget_init(struct budget *budget)
{
	memset(budget, 0, sizeof(*budget));
	budget->part = 1;
}

/* Spans that there were before anybody left any out. What senders with a larger share than ours send is cut
 * here; with a smaller one, it is theirs that was cut. */
static double whole_of(const struct budget *budget, const struct budget_second *second)
{
	double all = second->came - second->told + second->before;

	if (!second->told || !second->came || all <= second->came)
		return second->came;
	return second->kept / MIN(budget->part, second->came / all);
}

static double mean_of(const struct budget *budget)
{
	double whole = 0, seconds = 0;

	for (unsigned i = 1; i <= BUDGET_MEAN; i++) {
		unsigned at = (budget->next + BUDGET_PEAK - i) % BUDGET_PEAK;

		whole += budget->whole[at];
		seconds += budget->seconds[at];
	}
	return seconds > 0 ? whole / seconds : 0;
}

static double peak_of(const struct budget *budget)
{
	double peak = 0;

	for (unsigned i = 0; i < BUDGET_PEAK; i++)
		peak = MAX(peak, budget->means[i]);
	return peak;
}

void budget_step(struct budget *budget, double rate, const struct budget_second *second)
{
	unsigned at = budget->next;
	double mean, peak;

	budget->whole[at] = whole_of(budget, second);
	budget->seconds[at] = second->seconds;
	budget->next = (at + 1) % BUDGET_PEAK;
	budget->means[at] = mean = mean_of(budget);
	peak = peak_of(budget);
	budget->known = peak > 0 ? MIN(budget->known + 1, KNOWN) : 0;
	if (budget->part * mean > MOST * rate)
		budget->part = rate / mean;
	else if (rate > STEP * budget->part * peak)
		budget->part = peak > rate ? rate / peak : 1;
}

bool budget_knows(const struct budget *budget)
{
	return budget->known >= KNOWN;
}
