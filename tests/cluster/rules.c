/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's own rules of sending, for tests/live/test_simulate.py to compare those of the simulation with.
 * Each line of the input is a time in seconds, what happens then, and two numbers; one of the output is what
 * follows from it.
 */
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "core/fault.h"
#include "output/budget.h"
#include "output/server/courtesy.h"
#include "output/spool/pace.h"
#include "output/uplink/backoff.h"

#define WINDOW 8
#define FLOOR 100
#define SHARE 50
#define BUDGET 100

static struct courtesy courtesy;
static struct backoff backoff;
static struct pace pace;
static struct budget budget;
static struct budget_second second = {.seconds = 1};
static const double ns = (double)NS_PER_SECOND;

/* No chance here, nor in the simulation. */
gdouble g_random_double(void)
{
	return 0.5;
}

gdouble g_random_double_range(gdouble begin, gdouble end)
{
	return (begin + end) / 2;
}

static double sendpace(const char *what, int64_t now, double a)
{
	double result = 0;

	if (strcmp(what, "look") == 0)
		sendpace_look(&courtesy.pace, now, (uint64_t)a, FLOOR);
	else if (strcmp(what, "wait") == 0)
		result = (double)sendpace_wait(&courtesy.pace, now) / ns;
	else if (strcmp(what, "held") == 0)
		result = (double)courtesy_wait(&courtesy, (uint64_t)a, now) / ns;
	else if (strcmp(what, "taken") == 0)
		sendpace_good(&courtesy.pace, now);
	else if (strcmp(what, "grant") == 0)
		sendpace_grant(&courtesy.pace, (uint64_t)a);
	return result;
}

static double happens(const char *what, int64_t now, double a, double b)
{
	double result = sendpace(what, now, a);

	if (strcmp(what, "good") == 0) {
		courtesy_good(&courtesy, now);
		backoff_good(&backoff, now);
	} else if (strcmp(what, "spend") == 0) {
		courtesy_spend(&courtesy, (uint32_t)a, b > 0);
	} else if (strcmp(what, "put_off") == 0) {
		courtesy_put_off(&courtesy, (uint32_t)a);
	} else if (strcmp(what, "too_fast") == 0) {
		courtesy_too_fast(&courtesy, now);
	} else if (strcmp(what, "failed") == 0) {
		courtesy_failed(&courtesy, a > 0 ? FAULT_CLOSED : FAULT_CONNECT_REFUSED, (unsigned)b, now);
	} else if (strcmp(what, "serves") == 0) {
		result = courtesy_serves(&courtesy, now);
	} else if (strcmp(what, "next") == 0) {
		result = (double)backoff_next(&backoff, (int64_t)(a * ns), now) / ns;
	} else if (strcmp(what, "connected") == 0) {
		backoff_connected(&backoff);
	} else if (strcmp(what, "restart") == 0) {
		pace_restart(&pace, now, (uint64_t)a);
	} else if (strcmp(what, "step") == 0) {
		result = pace_step(&pace, now, (uint64_t)a);
	} else if (strcmp(what, "read") == 0) {
		pace_spend(&pace, (uint32_t)a);
	} else if (strcmp(what, "told") == 0) {
		second.told = a;
		second.before = b;
	} else if (strcmp(what, "second") == 0) {
		second.came = a;
		second.kept = b;
		budget_step(&budget, BUDGET, &second);
		result = budget_knows(&budget);
	}
	return result;
}

int main(void)
{
	double at, a, b;
	char what[16];
	double result;

	courtesy_init(&courtesy, WINDOW);
	backoff_set_pace(&backoff, NS_PER_SECOND / 4, 3 * NS_PER_SECOND / 2);
	pace_init(&pace, SHARE, FLOOR);
	budget_init(&budget);
	while (scanf("%lf %15s %lf %lf", &at, what, &a, &b) == 4) {
		result = happens(what, (int64_t)(at * ns), a, b);
		printf("%.6f %.6f %.6f %u %u %.6f %.6f %.9f %.6f %.6f\n", result, courtesy.pace.rate,
			courtesy.pace.credit, courtesy.window, courtesy_most(&courtesy),
			(double)backoff.bound / ns, pace.credit, budget.part, courtesy.all.rate,
			courtesy.all.credit);
	}
	return 0;
}
