/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "import/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void *guard_share(size_t size)
{
	void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return shared == MAP_FAILED ? NULL : shared;
}

void guard_unshare(void *shared, size_t size)
{
	munmap(shared, size);
}

/* The watch, in the child */

static struct guard *watched;
static unsigned long seen; /* steps at the last tick */
static unsigned waited;    /* ticks since then */

static void on_tick(int signal)
{
	unsigned long steps = watched->steps;

	(void)signal;
	if (steps != seen) {
		seen = steps;
		waited = 0;
	} else if (++waited >= GUARD_TICKS) {
		watched->stuck = true;
		_exit(EXIT_FAILURE);
	}
}

void guard_watch(struct guard *guard)
{
	const struct timespec tick = {GUARD_TICK_MS / 1000, GUARD_TICK_MS % 1000 * 1000000};
	const struct itimerspec ticks = {.it_interval = tick, .it_value = tick};
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
	struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
	timer_t timer;

	watched = guard;
	sigaction(SIGPROF, &action, NULL);
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) == 0)
		timer_settime(timer, 0, &ticks, NULL);
}

/* The child */

/* The parent tells it to end by SIGINT, whatever it got itself. */
static void be_child(
	struct guard *guard, void (*work)(void *data), void *data, int said, const sigset_t *blocked)
{
	const struct rlimit none = {0, 0};

	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigprocmask(SIG_SETMASK, blocked, NULL);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	if (said >= 0)
		dup2(said, STDERR_FILENO);
	work(data);
	guard->finished = true;
	if (said >= 0)
		_exit(EXIT_SUCCESS);
	exit(EXIT_SUCCESS);
}

/* The parent */

static volatile sig_atomic_t interrupted;
static volatile pid_t running;

static const int ending[] = {SIGINT, SIGHUP, SIGTERM};
#define ENDING (sizeof(ending) / sizeof(*ending))

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
	if (running > 0)
		kill(running, SIGINT);
}

/* Of `nohup`, SIGHUP stays without effect. */
void guard_catch(void)
{
	struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = SA_RESTART}, was = {0};

	for (size_t i = 0; i < ENDING; i++)
		if (ending[i] != SIGHUP || sigaction(SIGHUP, NULL, &was) != 0 || was.sa_handler != SIG_IGN)
			sigaction(ending[i], &action, NULL);
}

bool guard_interrupted(void)
{
	return interrupted;
}

static const char *describe(const struct guard *guard, int status)
{
	static char text[64];

	if (guard->stuck)
		snprintf(text, sizeof(text), "no progress in %d s of CPU time",
			GUARD_TICKS * GUARD_TICK_MS / 1000);
	else if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "killed by signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "ended with code %d", WEXITSTATUS(status));
	return text;
}

/* The pipe keeps what comes first; what it has no room for is not waited for, and lost. */
static void keep_said(struct guard *guard, int from)
{
	ssize_t size = read(from, guard->said, sizeof(guard->said) - 1);

	guard->said[size > 0 ? size : 0] = '\0';
}

/* A signal that comes meanwhile waits until either process knows what to do with it. */
static void start(struct guard *guard, void (*work)(void *data), void *data, int said)
{
	sigset_t signals, before;

	sigemptyset(&signals);
	for (size_t i = 0; i < ENDING; i++)
		sigaddset(&signals, ending[i]);
	sigprocmask(SIG_BLOCK, &signals, &before);
	running = interrupted ? -1 : fork();
	if (running == 0)
		be_child(guard, work, data, said, &before);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

bool guard_run(struct guard *guard, void (*work)(void *data), void *data, bool silent, const char **how)
{
	int said[2] = {-1, -1}, status = 0;

	*how = "interrupted";
	guard->steps = 0;
	guard->stuck = guard->finished = false;
	guard_catch();
	if (interrupted)
		return false;
	*how = "no memory or processes left";
	if (silent && pipe2(said, O_NONBLOCK | O_CLOEXEC) != 0)
		return false;
	fflush(NULL);
	start(guard, work, data, said[1]);
	if (running > 0) {
		while (waitpid(running, &status, 0) < 0 && errno == EINTR)
			;
		*how = describe(guard, status);
	}
	running = 0;
	if (silent) {
		keep_said(guard, said[0]);
		close(said[0]);
		close(said[1]);
	}
	return guard->finished && status == 0;
}
