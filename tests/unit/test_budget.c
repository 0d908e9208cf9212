/* SPDX-License-Identifier: BSD-2-Clause */
/* The share that makes a budget, and what says it instead: a file, and the server. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "config/load.h"
#include "config/section.h"
#include "output/budget.h"
#include "output/grant.h"
#include "output/sharing.h"
#include "run.h"

#define RATE 1000.0

static struct budget budget;

/* So many spans/s for so long; all that is kept is as the share says. */
static void come(double spans, int seconds)
{
	for (int i = 0; i < seconds; i++)
		budget_step(&budget, RATE,
			&(struct budget_second){.seconds = 1, .came = spans, .kept = spans * budget.part});
}

/* The same from senders who keep @part themselves, and told so. */
static void come_from(double spans, double part, int seconds)
{
	for (int i = 0; i < seconds; i++)
		budget_step(&budget, RATE,
			&(struct budget_second){.seconds = 1,
				.came = spans * part,
				.kept = spans * MIN(part, budget.part),
				.told = spans * part,
				.before = spans});
}

static void begin(void)
{
	budget_init(&budget);
}

START_TEST(nothing_and_little)
{
	come(0, 10);
	ck_assert_double_eq(budget.part, 1);
	ck_assert(!budget_knows(&budget));
	come(999, 2);
	ck_assert(!budget_knows(&budget));
	come(0, 1);
	ck_assert(budget_knows(&budget));
	come(1090, 200);
	ck_assert_double_eq(budget.part, 1);
	come(0, 66);
	ck_assert(!budget_knows(&budget));
}
END_TEST

/* Smaller within seconds, larger after a minute, and not for what makes no difference. */
START_TEST(a_burst)
{
	double part;

	come(10000, 30);
	ck_assert_double_eq_tol(budget.part, 0.1, 0.001);
	come(50000, 5);
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
	come(50000, 60);
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
	come(10000, 58);
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
	come(10000, 8);
	ck_assert_double_eq_tol(budget.part, 0.1, 0.001);
	part = budget.part;
	come(10900, 100);
	come(9000, 100);
	ck_assert_double_eq(budget.part, part);
	come(0, 66);
	ck_assert_double_eq(budget.part, 1);
}
END_TEST

/* A timer that is late: it is the rate that counts. */
START_TEST(long_seconds)
{
	for (int i = 0; i < 20; i++)
		budget_step(&budget, RATE,
			&(struct budget_second){.seconds = 4, .came = 8000, .kept = 8000 * budget.part});
	ck_assert_double_eq_tol(budget.part, 0.5, 0.01);
}
END_TEST

/* Who has just started, or stands in for another agent, takes the senders' shares into account. */
START_TEST(senders_who_keep_a_share)
{
	come_from(10000, 0.1, 2);
	ck_assert(!budget_knows(&budget));
	come_from(10000, 0.1, 60);
	ck_assert_double_eq_tol(budget.part, 0.1, 0.001);
	/* these are late to follow */
	come_from(50000, 0.1, 6);
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
	come_from(50000, budget.part, 60);
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
	/* half of them keep nothing back */
	for (int i = 0; i < 60; i++)
		budget_step(&budget, RATE,
			&(struct budget_second){.seconds = 1,
				.came = 25000 + 25000 * budget.part,
				.kept = 50000 * budget.part,
				.told = 25000 * budget.part,
				.before = 25000});
	ck_assert_double_eq_tol(budget.part, 0.02, 0.0002);
}
END_TEST

/* What senders may replay. */
START_TEST(grants)
{
	struct grant grant = {0};
	struct grant_second second = {.seconds = 1, .sent = 1000, .came = 700, .replayed = 100, .senders = 4};

	for (int i = 0; i < 60; i++)
		ck_assert_uint_eq(grant_step(&grant, &second), 0); /* it keeps up */
	second.behind = true;
	ck_assert_uint_eq(grant_step(&grant, &second), 49);
	second.senders = 1;
	ck_assert_uint_eq(grant_step(&grant, &second), 199);
	second.senders = 0;
	ck_assert_uint_eq(grant_step(&grant, &second), 0);
	/* the collector is away: they are to hold what they have */
	second = (struct grant_second){.seconds = 1, .came = 600, .behind = true, .senders = 4};
	for (int i = 0; i < 60; i++)
		grant_step(&grant, &second);
	ck_assert_uint_eq(grant_step(&grant, &second), 1);
}
END_TEST

/* The agent's side of it */

static struct event_base *base;
static struct queue *queue;
static char *folder, *path;

static void open_agent(void)
{
	base = event_base_new();
	queue = queue_create(&(struct queue_limits){.bytes = 1000}, account_open("one"), NULL, NULL);
	folder = g_dir_make_tmp("blkin-XXXXXX", NULL);
	path = g_build_filename(folder, "share", NULL);
}

static void close_agent(void)
{
	unlink(path);
	rmdir(folder);
	g_free(path);
	g_free(folder);
	queue_unref(queue);
	event_base_free(base);
}

static struct output_config *config_of(uint64_t keep, uint64_t rate, const char *file)
{
	struct output_config *is = output_config_create("default");

	is->keep = keep;
	is->budget = rate;
	g_free(is->budget_file);
	is->budget_file = g_strdup(file);
	return is;
}

/* Lets a second pass, while so many spans come. */
static void pass(uint64_t spans)
{
	struct quota *quota = queue_quota(queue);
	struct timeval limit = {1, 100000};

	atomic_fetch_add(&quota->came, spans);
	atomic_fetch_add(&quota->kept, spans);
	event_base_loopexit(base, &limit);
	event_base_dispatch(base);
}

static double kept(void)
{
	return quota_part(queue_quota(queue)->share);
}

static const struct {
	const char *text;
	double part; /* 0: it is no share */
} lines[] = {{"1/1\n", 1}, {"1/12.5", 0.08}, {"1/4 \r\n\n", 0.25}, {"1/1e3\n", 0.001}, {"1/1000000", 1e-6},
	{"", 0}, {"1", 0}, {"1/", 0}, {"1/0", 0}, {"1/0.5", 0}, {"1/-2", 0}, {"1/nan", 0}, {"1/inf", 0},
	{"1/1e9", 0}, {"1/2 3", 0}, {"1/0x10", 0}, {"0.5", 0}, {"# 1/2", 0}};

START_TEST(file_of_a_share)
{
	double part = 0;
	char why[300] = "";

	ck_assert(g_file_set_contents(path, lines[_i].text, -1, NULL));
	ck_assert(sharing_read_file(path, &part, why, sizeof(why)) == (lines[_i].part > 0));
	ck_assert_double_eq_tol(part, lines[_i].part, 1e-12);
	ck_assert(!*why == (lines[_i].part > 0));
}
END_TEST

/* What is no file of one line: a folder, a pipe that nobody writes into, nothing, more than a line. */
START_TEST(no_file_of_a_share)
{
	g_autofree char *much = g_strnfill(5000, '1');
	double part = 0;
	char why[300] = "";

	ck_assert(!sharing_read_file(path, &part, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "No such file"));
	ck_assert(!sharing_read_file(folder, &part, why, sizeof(why)));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert(!sharing_read_file(path, &part, why, sizeof(why)));
	unlink(path);
	ck_assert(g_file_set_contents(path, much, -1, NULL));
	ck_assert(!sharing_read_file(path, &part, why, sizeof(why)));
	ck_assert_ptr_nonnull(strstr(why, "one line"));
	ck_assert_double_eq(part, 0);
}
END_TEST

/* The file, then the server, then the budget; a reload changes what there is. */
START_TEST(who_says_it)
{
	struct output_config *all = config_of(0, 100, path), *server = config_of(0, 100, ""),
			     *fixed = config_of(10, 0, "");
	struct output_config *other = config_of(0, 100, "");
	struct quota *quota = queue_quota(queue);
	struct sharing_state state;
	struct sharing *sharing;

	other->type = server->type = CONFIG_OUTPUT_HTTP;

	ck_assert(g_file_set_contents(path, "1/8\n", -1, NULL));
	sharing = sharing_create(base, queue, all, false);
	ck_assert_double_eq(kept(), 0.125); /* at once */
	atomic_store(&quota->learned, quota_share(0.5));
	pass(1000);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_FILE);
	ck_assert_double_eq(kept(), 0.125);
	ck_assert_uint_eq(quota->offered, quota->share);
	/* a mistake changes nothing */
	ck_assert(g_file_set_contents(path, "8\n", -1, NULL));
	pass(1000);
	sharing_read_state(sharing, &state);
	ck_assert_double_eq(kept(), 0.125);
	ck_assert_ptr_nonnull(strstr(state.error, "one line"));
	sharing_configure(sharing, other, false);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_BUDGET); /* neither that file nor that server says anything */
	ck_assert_double_eq(kept(), 0.125);
	atomic_store(&quota->learned, quota_share(0.5));
	sharing_configure(sharing, server, false);
	pass(1000);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_SERVER);
	ck_assert_str_eq(state.error, "");
	ck_assert_double_eq(kept(), 0.5);
	ck_assert_uint_eq(quota->offered, quota->share);
	/* the server is another one, which says nothing */
	atomic_store(&quota->learned, 0);
	pass(1000);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_BUDGET);
	ck_assert_double_lt(kept(), 0.5);
	ck_assert_double_gt(state.kept, 0);
	sharing_configure(sharing, fixed, false);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_OFF);
	sharing_destroy(sharing);
	output_config_unref(all);
	output_config_unref(server);
	output_config_unref(other);
	output_config_unref(fixed);
}
END_TEST

/* So many spans come in a second, of which so many are kept as the share says. */
static void pass_kept(uint64_t spans)
{
	struct quota *quota = queue_quota(queue);

	atomic_fetch_sub(&quota->kept, spans - (uint64_t)((double)spans * kept()));
	pass(spans);
}

/* Whoever can reach the agent may tell any share, which is not to cost others theirs. */
START_TEST(a_stranger)
{
	struct output_config *is = config_of(0, 1000, "");
	struct sharing *sharing = sharing_create(base, queue, is, true);
	struct quota *quota = queue_quota(queue);
	double before;

	for (int i = 0; i < 6; i++)
		pass_kept(2000);
	ck_assert_uint_eq(quota->offered, quota->share);
	before = kept();
	ck_assert_double_eq_tol(before, 0.55, 0.05);
	quota_tell(quota, 1, 1);
	pass_kept(2000);
	ck_assert_double_eq_tol(kept(), before, 0.15 * before);
	/* while what honest senders tell counts, who are late to follow */
	for (int i = 0; i < 5; i++) {
		quota_tell(quota, 2000, quota->share / 7);
		pass_kept(2000);
	}
	ck_assert_double_lt(kept(), 0.2 * before);
	sharing_destroy(sharing);
	output_config_unref(is);
}
END_TEST

/* With other agents, it looks at what they replay, also where the share is fixed. */
START_TEST(senders_who_replay)
{
	struct output_config *is = config_of(1, 0, "");
	struct sharing *sharing = sharing_create(base, queue, is, true);
	struct quota *quota = queue_quota(queue);

	quota_replay(quota, 100, quota_turn(clock_monotonic()), true);
	pass(0);
	ck_assert_uint_eq(quota->grant, 0);
	account_add(queue_account(queue), SPANS_SPOOLED, 100);
	pass(0);
	ck_assert_uint_eq(quota->grant, 1);
	account_add(queue_account(queue), SPANS_SPOOLED, -100);
	pass(0);
	ck_assert_uint_eq(quota->grant, 0);
	sharing_destroy(sharing);
	output_config_unref(is);
}
END_TEST

/* Without any of them all is kept, and senders are told nothing. */
START_TEST(nobody_says_it)
{
	struct output_config *is = config_of(0, 0, "");
	struct sharing *sharing = sharing_create(base, queue, is, false);
	struct sharing_state state;

	pass(100000);
	sharing_read_state(sharing, &state);
	ck_assert_int_eq(state.by, SHARING_NOBODY);
	ck_assert_double_eq(kept(), 1);
	ck_assert_uint_eq(queue_quota(queue)->offered, 0);
	sharing_destroy(sharing);
	sharing_destroy(NULL);
	output_config_unref(is);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("budget");
	TCase *law = tcase_create("law"), *agent = tcase_create("agent");

	tcase_add_checked_fixture(law, begin, NULL);
	tcase_add_test(law, nothing_and_little);
	tcase_add_test(law, a_burst);
	tcase_add_test(law, long_seconds);
	tcase_add_test(law, senders_who_keep_a_share);
	tcase_add_test(law, grants);
	tcase_add_checked_fixture(agent, open_agent, close_agent);
	tcase_set_timeout(agent, 60);
	tcase_add_loop_test(agent, file_of_a_share, 0, G_N_ELEMENTS(lines));
	tcase_add_test(agent, no_file_of_a_share);
	tcase_add_test(agent, who_says_it);
	tcase_add_test(agent, a_stranger);
	tcase_add_test(agent, senders_who_replay);
	tcase_add_test(agent, nobody_says_it);
	suite_add_tcase(suite, law);
	suite_add_tcase(suite, agent);
	return run_all(srunner_create(suite));
}
