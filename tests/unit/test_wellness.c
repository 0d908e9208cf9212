/* SPDX-License-Identifier: BSD-2-Clause */
/* LTTng's daemons asked how they are, with sockets of the test's own in their place. */
#include <check.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "session/sessiond.h"
#include "session/wellness.h"

#include "run.h"

#define LOOKS 1000
#define LOOK_US 5000
#define CONSUMER "ustconsumerd64"
#define KERNEL "kconsumerd"

static char *folder;
static int session, consumer;
static struct wellness *wellness;
static struct daemons_health seen;

/* In the place of the one that looks where LTTng's are. */
char *sessiond_folder(const char *tracing_group)
{
	(void)tracing_group;
	return g_strdup(folder);
}

static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
	unlink(address.sun_path);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 5), 0);
	return fd;
}

static void setup(void)
{
	g_autofree char *below = NULL;

	folder = g_dir_make_tmp("blkin-XXXXXX", NULL);
	below = g_build_filename(folder, CONSUMER, NULL);
	ck_assert_int_eq(g_mkdir(below, 0700), 0);
	session = listen_at("sessiond-health");
	consumer = listen_at(CONSUMER "/health");
	wellness = wellness_create("");
}

static void teardown(void)
{
	static const char *const names[] = {"sessiond-health", CONSUMER "/health", CONSUMER};

	wellness_destroy(wellness);
	close(session);
	if (consumer >= 0)
		close(consumer);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(folder, names[i], NULL);

		g_remove(path);
	}
	ck_assert_int_eq(g_rmdir(folder), 0);
	g_free(folder);
}

/* Takes one question, and answers it as LTTng's daemons do. */
static bool answer(int listener)
{
	int fd = accept(listener, NULL, NULL);
	const uint64_t bits = 0;
	uint32_t question = 1;

	if (fd < 0)
		return false;
	ck_assert_int_eq(recv(fd, &question, sizeof(question), 0), sizeof(question));
	ck_assert_uint_eq(question, 0);
	ck_assert_int_eq(send(fd, &bits, sizeof(bits), MSG_NOSIGNAL), sizeof(bits));
	close(fd);
	return true;
}

/* Until @done holds, with those that answer; false if it never does. */
static bool look_until(bool (*done)(void), int first, int second)
{
	for (int i = 0; i < LOOKS; i++) {
		wellness_look(wellness);
		wellness_read(wellness, &seen);
		if (done())
			return true;
		if (first >= 0)
			answer(first);
		if (second >= 0)
			answer(second);
		g_usleep(LOOK_US);
	}
	return false;
}

static bool session_is_silent(void)
{
	return seen.session.silent && !seen.consumer.silent;
}

static bool consumer_is_silent(void)
{
	return seen.consumer.silent && !seen.session.silent;
}

static bool consumer_is_gone(void)
{
	return seen.consumer.gone && seen.consumer.ended;
}

static bool all_answer(void)
{
	return !seen.session.silent && !seen.consumer.silent && !seen.session.gone && !seen.consumer.gone;
}

START_TEST(who_is_silent)
{
	int64_t since;

	ck_assert(look_until(consumer_is_silent, session, -1));
	since = seen.consumer.silent;
	for (int i = 0; i < 5; i++)
		wellness_look(wellness);
	wellness_read(wellness, &seen);
	ck_assert_int_eq(seen.consumer.silent, since);
	ck_assert(look_until(all_answer, session, consumer));
	ck_assert(look_until(session_is_silent, consumer, -1));
	ck_assert(look_until(all_answer, session, consumer));
}
END_TEST

/* It has ended, and what listened before it was asked is no answer. */
START_TEST(who_is_gone)
{
	ck_assert(look_until(consumer_is_silent, session, -1));
	ck_assert(answer(consumer));
	ck_assert(look_until(all_answer, session, consumer));
	close(consumer);
	consumer = -1;
	ck_assert(look_until(consumer_is_gone, session, -1));
	ck_assert(!seen.consumer.silent);
	consumer = listen_at(CONSUMER "/health");
	ck_assert(look_until(all_answer, session, consumer));
}
END_TEST

static int told[2]; /* a pipe: that process listens no more */

/* A process that listens in the consumer's place, answers once, and then only lives. */
static pid_t start_consumer(void)
{
	g_autofree char *new = g_build_filename(folder, CONSUMER, "new", NULL),
			*path = g_build_filename(folder, CONSUMER, "health", NULL);
	pid_t pid;
	int listener;

	ck_assert_int_eq(g_remove(path), 0);
	ck_assert_int_eq(pipe(told), 0);
	pid = fork();
	if (pid)
		return pid;
	listener = listen_at(CONSUMER "/new");
	g_rename(new, path); /* once it listens */
	while (!answer(listener))
		g_usleep(LOOK_US);
	close(listener);
	ck_assert_int_eq(write(told[1], "", 1), 1);
	while (true)
		pause();
}

static bool consumer_listens_no_more(void)
{
	struct pollfd pipe = {told[0], POLLIN, 0};

	return poll(&pipe, 1, 0) == 1;
}

/* Only the thread that answers has ended, as it does when the daemon has no descriptors. */
START_TEST(who_only_says_nothing)
{
	pid_t pid;

	close(consumer);
	consumer = -1;
	pid = start_consumer();
	ck_assert(look_until(consumer_listens_no_more, session, -1));
	for (int asked = 0; asked < 3;) { /* and so is the consumer, each time */
		wellness_look(wellness);
		asked += answer(session);
		wellness_read(wellness, &seen);
		ck_assert(!seen.consumer.gone);
		g_usleep(LOOK_US);
	}
	ck_assert(!seen.consumer.silent);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert(look_until(consumer_is_gone, session, -1));
	close(told[0]);
	close(told[1]);
}
END_TEST

static bool kernel_is_silent(void)
{
	return seen.kernel.silent;
}

static bool kernel_answers(void)
{
	return !seen.kernel.silent;
}

static bool kernel_is_gone(void)
{
	return seen.kernel.gone && !seen.consumer.gone;
}

START_TEST(the_kernels_is_gone)
{
	g_autofree char *below = g_build_filename(folder, KERNEL, NULL),
			*path = g_build_filename(folder, KERNEL, "health", NULL);
	int kernel;

	ck_assert_int_eq(g_mkdir(below, 0700), 0);
	kernel = listen_at(KERNEL "/health");
	ck_assert(look_until(kernel_is_silent, consumer, -1));
	ck_assert(answer(kernel));
	ck_assert(look_until(kernel_answers, session, consumer));
	close(kernel);
	ck_assert(look_until(kernel_is_gone, session, consumer));
	ck_assert_int_eq(g_unlink(path), 0);
	ck_assert_int_eq(g_rmdir(below), 0);
}
END_TEST

/* Before the first session there is no consumer daemon: nothing is missing. */
START_TEST(who_never_was)
{
	g_autofree char *path = g_build_filename(folder, CONSUMER, "health", NULL);

	close(consumer);
	consumer = -1;
	ck_assert_int_eq(g_remove(path), 0);
	ck_assert(look_until(session_is_silent, -1, -1));
	ck_assert(answer(session));
	ck_assert(look_until(all_answer, session, -1));
}
END_TEST

static _Atomic bool answered;

/* Both daemons answer what they are asked, until somebody is content. */
static gpointer answer_both(gpointer data)
{
	(void)data;
	while (!answered) {
		answer(session);
		answer(consumer);
		g_usleep(LOOK_US);
	}
	return NULL;
}

START_TEST(who_is_waited_for)
{
	GThread *daemons = g_thread_new("daemons", answer_both, NULL);

	ck_assert(wellness_all_answer("", false));
	answered = true;
	g_thread_join(daemons);
	ck_assert(!wellness_all_answer("", false));
}
END_TEST

/* It may be stopped by somebody else, who records with it: it holds up nobody who does not. */
START_TEST(the_kernels_is_waited_for)
{
	g_autofree char *below = g_build_filename(folder, KERNEL, NULL),
			*path = g_build_filename(folder, KERNEL, "health", NULL);
	GThread *daemons;
	int kernel;

	ck_assert_int_eq(g_mkdir(below, 0700), 0);
	kernel = listen_at(KERNEL "/health");
	daemons = g_thread_new("daemons", answer_both, NULL);
	ck_assert(wellness_all_answer("", false));
	ck_assert(!wellness_all_answer("", true));
	ck_assert(!wellness_kernel_answers(""));
	answered = true;
	g_thread_join(daemons);
	close(kernel);
	ck_assert_int_eq(g_unlink(path), 0);
	ck_assert_int_eq(g_rmdir(below), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 60);
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, who_is_silent);
	tcase_add_test(cases, who_is_gone);
	tcase_add_test(cases, who_only_says_nothing);
	tcase_add_test(cases, the_kernels_is_gone);
	tcase_add_test(cases, who_never_was);
	tcase_add_test(cases, who_is_waited_for);
	tcase_add_test(cases, the_kernels_is_waited_for);
	return run_cases("wellness", cases);
}
