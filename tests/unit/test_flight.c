/* SPDX-License-Identifier: BSD-2-Clause */
/* The flight recorder's bounds: which late traces are taken, and what is kept of them. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "base/clock.h"
#include "supervise/flightanswer.h"
#include "supervise/flightfolder.h"
#include "supervise/flightrate.h"

#include "run.h"

#define MINUTE (60 * NS_PER_SECOND)
#define BEGIN (1000 * MINUTE)
#define USER 1000
#define OTHER 1001

static void next(struct flight_rate *rate, int64_t now, uint64_t expected)
{
	uint64_t trace_id = 0;

	ck_assert(flight_rate_next(rate, now, &trace_id) == (expected != 0));
	ck_assert_uint_eq(trace_id, expected);
}

/* So many in any minute; and once what came a minute ago is over, as many again. */
START_TEST(per_minute)
{
	struct flight_rate rate = {.per_minute = 2};

	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 2, USER, BEGIN + MINUTE / 2), FLIGHT_TAKEN);
	next(&rate, BEGIN + MINUTE / 2 + FLIGHT_DELAY_NS, 1);
	next(&rate, BEGIN + MINUTE / 2 + FLIGHT_DELAY_NS, 2);
	ck_assert_int_eq(flight_rate_offer(&rate, 3, USER, BEGIN + MINUTE - 1), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 4, USER, BEGIN + MINUTE), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 5, USER, BEGIN + MINUTE), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 6, USER, BEGIN + MINUTE + MINUTE / 2), FLIGHT_TAKEN);
}
END_TEST

/* Its spans come one by one: the trace counts once, be it taken or not. */
START_TEST(once)
{
	struct flight_rate rate = {.per_minute = 1};

	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN), FLIGHT_KNOWN);
	ck_assert_int_eq(flight_rate_offer(&rate, 2, USER, BEGIN), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 2, USER, BEGIN + MINUTE), FLIGHT_KNOWN);
	for (uint64_t i = 0; i < FLIGHT_SEEN; i++)
		flight_rate_offer(&rate, 1000 + i, USER, BEGIN);
	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN + 2 * MINUTE), FLIGHT_TAKEN);
}
END_TEST

/* In the order in which they came, not at once; more than may wait are refused, however many are allowed. */
START_TEST(turns)
{
	struct flight_rate rate = {.per_minute = FLIGHT_RATE_MAX};

	for (uint64_t i = 1; i <= FLIGHT_WAITING; i++)
		ck_assert_int_eq(flight_rate_offer(&rate, i, USER, BEGIN + (int64_t)i), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 99, USER, BEGIN + 9), FLIGHT_TOO_MANY);
	next(&rate, BEGIN + FLIGHT_DELAY_NS, 0);
	for (uint64_t i = 1; i <= FLIGHT_WAITING; i++)
		next(&rate, BEGIN + FLIGHT_DELAY_NS + FLIGHT_WAITING, i);
	next(&rate, BEGIN + MINUTE, 0);
}
END_TEST

START_TEST(none_allowed)
{
	struct flight_rate rate = {0};

	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN), FLIGHT_TOO_MANY);
}
END_TEST

/* A minute is full of as many as there may ever be. */
START_TEST(full_ring)
{
	struct flight_rate rate = {.per_minute = FLIGHT_RATE_MAX};
	uint64_t taken;

	for (uint64_t i = 0; i < FLIGHT_RATE_MAX; i++) {
		ck_assert_int_eq(flight_rate_offer(&rate, i + 1, USER, BEGIN + (int64_t)i), FLIGHT_TAKEN);
		ck_assert(flight_rate_next(&rate, BEGIN + (int64_t)i + FLIGHT_DELAY_NS, &taken));
	}
	ck_assert_int_eq(flight_rate_offer(&rate, 100, USER, BEGIN + MINUTE - 1), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 101, USER, BEGIN + MINUTE), FLIGHT_TAKEN);
}
END_TEST

/* Of a user who floods, one is refused for each that somebody else waits for; for a while, and then as
 * before. */
START_TEST(turns_of_users)
{
	struct flight_rate rate = {.per_minute = 2};
	int64_t now = BEGIN;

	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 2, USER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 3, OTHER, now), FLIGHT_TOO_MANY);
	next(&rate, now + MINUTE, 1);
	next(&rate, now + MINUTE, 2);
	now += MINUTE;
	ck_assert_int_eq(flight_rate_offer(&rate, 4, USER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 5, USER, now), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 6, OTHER, now), FLIGHT_TAKEN);
	next(&rate, now + MINUTE, 4);
	next(&rate, now + MINUTE, 6);
	/* the first one was refused meanwhile, but taken before: the other one comes after it */
	now += MINUTE;
	ck_assert_int_eq(flight_rate_offer(&rate, 7, OTHER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 8, OTHER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 9, USER, now), FLIGHT_TOO_MANY);
	next(&rate, now + MINUTE, 7);
	next(&rate, now + MINUTE, 8);
	now += MINUTE;
	ck_assert_int_eq(flight_rate_offer(&rate, 10, OTHER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 11, OTHER, now), FLIGHT_TOO_MANY);
	/* nobody else comes */
	now += FLIGHT_TURN_NS;
	next(&rate, now, 10);
	ck_assert_int_eq(flight_rate_offer(&rate, 12, OTHER, now), FLIGHT_TAKEN);
	ck_assert_int_eq(flight_rate_offer(&rate, 13, OTHER, now), FLIGHT_TAKEN);
}
END_TEST

/* More users than there are places for: the last ones have theirs. */
START_TEST(many_users)
{
	struct flight_rate rate = {.per_minute = 1};

	ck_assert_int_eq(flight_rate_offer(&rate, 1, USER, BEGIN), FLIGHT_TAKEN);
	next(&rate, BEGIN + MINUTE / 2, 1);
	for (uint32_t i = 1; i <= FLIGHT_USERS; i++)
		ck_assert_int_eq(flight_rate_offer(&rate, 1 + i, USER + i, BEGIN + i), FLIGHT_TOO_MANY);
	/* by now nobody knows of the first one that it was taken, so whoever comes first */
	ck_assert_int_eq(flight_rate_offer(&rate, 100, USER, BEGIN + MINUTE), FLIGHT_TAKEN);
	next(&rate, BEGIN + 2 * MINUTE, 100);
	ck_assert_int_eq(flight_rate_offer(&rate, 101, USER, BEGIN + 2 * MINUTE), FLIGHT_TOO_MANY);
	ck_assert_int_eq(flight_rate_offer(&rate, 102, USER + 5, BEGIN + 2 * MINUTE), FLIGHT_TAKEN);
}
END_TEST

/* The folder */

static char *folder;

static void setup(void)
{
	folder = g_dir_make_tmp("test_flight-XXXXXX", NULL);
	ck_assert_ptr_nonnull(folder);
}

static void teardown(void)
{
	g_autofree char *copies = g_build_filename(folder, "copies", NULL);

	rmdir(copies);
	ck_assert_int_eq(rmdir(folder), 0);
	g_free(folder);
}

static void put(const char *name, size_t size, time_t time)
{
	g_autofree char *path = g_build_filename(folder, name, NULL), *bytes = g_malloc0(size);
	const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};

	ck_assert(g_file_set_contents(path, bytes, (gssize)size, NULL));
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool has(const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	return access(path, F_OK) == 0;
}

static void remove_one(const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);

	ck_assert_int_eq(remove(path), 0);
}

/* Whatever an agent that was killed has left; but not what it has kept. */
START_TEST(cleaned)
{
	g_autofree char *deep = g_build_filename(folder, "snapshot", "snapshot-0", "kernel", NULL);

	ck_assert_int_eq(flight_folder_make(folder), 0);
	ck_assert(has("copies"));
	ck_assert_int_eq(g_mkdir_with_parents(deep, 0750), 0);
	put("snapshot/snapshot-0/kernel/metadata", 1, 1);
	put("00000000000000aa.jsonl.part", 1, 1);
	put("00000000000000ab.jsonl", 1, 1);
	put("00000000000000ab.txt", 1, 1);
	put("somebody's", 1, 1);
	flight_folder_clean(folder);
	ck_assert(!has("snapshot") && !has("copies") && !has("00000000000000aa.jsonl.part"));
	ck_assert(flight_folder_has(folder, 0xab) && !flight_folder_has(folder, 0xaa));
	remove_one("00000000000000ab.jsonl");
	remove_one("00000000000000ab.txt");
	remove_one("somebody's");
}
END_TEST

START_TEST(oldest_go)
{
	put("0000000000000001.jsonl", 1000, 10);
	put("0000000000000002.txt", 500, 5); /* which is written first */
	put("0000000000000002.jsonl", 1000, 6);
	put("0000000000000003.jsonl", 1000, 20);
	put("0000000000000004.txt", 100, 15); /* of which the other one is gone */
	flight_folder_bound(folder, 3600);
	ck_assert(has("0000000000000002.jsonl") && has("0000000000000002.txt"));
	flight_folder_bound(folder, 3599);
	ck_assert(!has("0000000000000002.jsonl") && !has("0000000000000002.txt"));
	ck_assert(flight_folder_has(folder, 1));
	flight_folder_bound(folder, 1099);
	ck_assert(!has("0000000000000001.jsonl") && !has("0000000000000004.txt"));
	ck_assert(flight_folder_has(folder, 3));
	flight_folder_bound(folder, 999);
	ck_assert(!flight_folder_has(folder, 3));
}
END_TEST

/* A folder that cannot be made, or is not there. */
START_TEST(no_folder)
{
	put("file", 1, 1);
	{
		g_autofree char *below = g_build_filename(folder, "file", NULL);

		ck_assert_int_eq(flight_folder_make(below), ENOTDIR);
		flight_folder_clean(below);
		flight_folder_bound(below, 0);
		ck_assert(!flight_folder_has(below, 1));
	}
	remove_one("file");
}
END_TEST

/* The answer's process */

#define LATE (121 * NS_PER_SECOND)

static char *script(const char *text)
{
	char *path = g_build_filename(folder, "program", NULL);

	ck_assert(g_file_set_contents(path, text, -1, NULL));
	ck_assert_int_eq(chmod(path, 0700), 0);
	return path;
}

static struct flight_answer begin(const char *text)
{
	g_autofree char *program = text ? script(text) : g_build_filename(folder, "none", NULL);
	struct flight_answer answer = {0};
	struct buffer config = {0};

	buffer_put(&config, "", 0);
	ck_assert_int_eq(flight_answer_start(&answer, program, folder, &config, true, 0xaa), 0);
	ck_assert_int_gt(answer.pid, 0);
	buffer_free(&config);
	return answer;
}

static void ends(struct flight_answer *answer, enum flight_end expected, const char *said)
{
	char why[128] = "";
	enum flight_end end;

	while ((end = flight_answer_look(answer, why, sizeof(why))) == FLIGHT_WORKS)
		g_usleep(1000);
	ck_assert_int_eq(end, expected);
	ck_assert_msg(g_str_has_prefix(why, said), "%s", why);
	ck_assert_int_eq(answer->pid, 0);
	if (has("program"))
		remove_one("program");
}

/* The words that it gets, and its folder for copies. */
START_TEST(answered)
{
	struct flight_answer answer = begin("#!/bin/sh\n"
					    "cd \"${TMPDIR%/copies}\" && echo \"$@\" >words\n");
	g_autofree char *path = g_build_filename(folder, "words", NULL), *words = NULL,
			*expected = g_strdup_printf("why --flight %s --config /proc/self/fd/3 "
						    "00000000000000aa --user\n",
				folder);

	ends(&answer, FLIGHT_DONE, "");
	ck_assert(g_file_get_contents(path, &words, NULL, NULL));
	ck_assert_str_eq(words, expected);
	remove_one("words");
}
END_TEST

START_TEST(not_answered)
{
	struct flight_answer answer = begin("#!/bin/sh\nexit 3\n");

	ends(&answer, FLIGHT_ENDED, "`blkin why` ended with code 3");
	answer = begin("#!/bin/sh\nkill -9 $$\n");
	ends(&answer, FLIGHT_ENDED, "`blkin why` was ended by signal 9");
	answer = begin(NULL);
	ends(&answer, FLIGHT_UNSTARTED, "`blkin why` cannot be started: is blkin in ");
}
END_TEST

/* One that hangs, even if somebody has stopped it, ends with what it has started. */
START_TEST(hangs)
{
	struct flight_answer answer = begin("#!/bin/sh\nsleep 1000 &\nwait\n");
	char why[128];

	ck_assert_int_eq(flight_answer_look(&answer, why, sizeof(why)), FLIGHT_WORKS);
	kill(answer.pid, SIGSTOP);
	answer.begun -= LATE;
	ends(&answer, FLIGHT_ENDED, "`blkin why` took more than 120 s");
}
END_TEST

START_TEST(ended_with_its_agent)
{
	struct flight_answer answer = begin("#!/bin/sh\nexec sleep 1000\n");
	pid_t pid = answer.pid;

	flight_answer_kill(&answer);
	ck_assert_int_eq(answer.pid, 0);
	ck_assert_int_eq(kill(pid, 0), -1);
	flight_answer_kill(&answer);
	remove_one("program");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flight");
	TCase *rate = tcase_create("rate"), *files = tcase_create("folder"),
	      *answers = tcase_create("answer");

	tcase_add_test(rate, per_minute);
	tcase_add_test(rate, once);
	tcase_add_test(rate, turns);
	tcase_add_test(rate, turns_of_users);
	tcase_add_test(rate, many_users);
	tcase_add_test(rate, none_allowed);
	tcase_add_test(rate, full_ring);
	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, cleaned);
	tcase_add_test(files, oldest_go);
	tcase_add_test(files, no_folder);
	suite_add_tcase(suite, rate);
	suite_add_tcase(suite, files);
	tcase_add_checked_fixture(answers, setup, teardown);
	tcase_add_test(answers, answered);
	tcase_add_test(answers, not_answered);
	tcase_add_test(answers, hangs);
	tcase_add_test(answers, ended_with_its_agent);
	suite_add_tcase(suite, answers);
	return run_all(srunner_create(suite));
}
