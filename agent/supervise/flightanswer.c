/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* close_range, prlimit */
#include "supervise/flightanswer.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "supervise/child.h"

#define PROGRAM "blkin"
#define NO_PROGRAM 127
#define CONFIG_FD 3
#define CONFIG_PATH "/proc/self/fd/3"
#define NICEST 19
#define OOM_SCORE "1000"
/* An answer may take so long, so much processor time, and so much memory. */
#define ANSWER_NS (120 * NS_PER_SECOND)
#define ANSWER_CPU_SECONDS 60
#define ANSWER_MEMORY (UINT64_C(512) << 20)

/* What it may take; whatever it forks has the same. */
static void limit_itself(void)
{
	const struct rlimit cpu = {ANSWER_CPU_SECONDS, ANSWER_CPU_SECONDS}, none = {0, 0},
			    memory = {ANSWER_MEMORY, ANSWER_MEMORY};
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	prlimit(0, RLIMIT_CPU, &cpu, NULL);
	prlimit(0, RLIMIT_CORE, &none, NULL);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	prlimit(0, RLIMIT_DATA, &memory, NULL);
#else
	(void)memory;
#endif
	if (score >= 0 && write(score, OOM_SCORE, strlen(OOM_SCORE)) < 0)
		return; /* it goes on as it is */
}

/* In the child. Nothing here may allocate. */
static void become(const char *program, char *const *words, char *const *environment, int text, bool polite)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(NO_PROGRAM);
	/* out of the way first: dup2 onto itself would leave it to be closed */
	text = fcntl(text, F_DUPFD, 16);
	if (text < 0 || dup2(text, CONFIG_FD) < 0)
		_exit(NO_PROGRAM);
	close_range(CONFIG_FD + 1, ~0U, 0);
	limit_itself();
	if (polite)
		setpriority(PRIO_PROCESS, 0, NICEST);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, words, environment);
	_exit(NO_PROGRAM);
}

/* The unit's filter of system calls ends who would lower a priority; there it is the lowest already. */
static bool may_be_polite(void)
{
	return prctl(PR_GET_SECCOMP) == 0 && getpriority(PRIO_PROCESS, 0) < NICEST;
}

int flight_answer_start(struct flight_answer *answer, const char *program, const char *folder,
	const struct buffer *config, bool user, uint64_t trace_id)
{
	g_autofree char *copies = g_build_filename(folder, "copies", NULL);
	g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "TMPDIR", copies, TRUE);
	char id[17];
	char *words[] = {(char *)PROGRAM, (char *)"why", (char *)"--flight", (char *)(uintptr_t)folder,
		(char *)"--config", (char *)CONFIG_PATH, id, (char *)(user ? "--user" : NULL), NULL};
	int text = child_text_file(config), code;
	bool polite = may_be_polite();
	pid_t pid;

	if (text < 0)
		return errno;
	snprintf(id, sizeof(id), "%016" PRIx64, trace_id);
	pid = fork();
	code = errno;
	if (pid == 0)
		become(program, words, environment, text, polite);
	close(text);
	if (pid < 0)
		return code;
	setpgid(pid, pid);
	*answer = (struct flight_answer){.pid = pid, .begun = clock_monotonic()};
	return 0;
}

static enum flight_end explain(const struct flight_answer *answer, int status, char *why, size_t size)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return FLIGHT_DONE;
	if (answer->late)
		snprintf(why, size, "`blkin why` took more than %d s", (int)(ANSWER_NS / NS_PER_SECOND));
	else if (WIFSIGNALED(status))
		snprintf(why, size, "`blkin why` was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == NO_PROGRAM)
		snprintf(why, size, "`blkin why` cannot be started: is %s in %s?", PROGRAM, COMMAND_FOLDER);
	else
		snprintf(why, size, "`blkin why` ended with code %d", WEXITSTATUS(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM ? FLIGHT_UNSTARTED : FLIGHT_ENDED;
}

enum flight_end flight_answer_look(struct flight_answer *answer, char *why, size_t size)
{
	pid_t pid = answer->pid;
	int status = 0;

	if (clock_monotonic() - answer->begun >= ANSWER_NS) {
		answer->late = true;
		kill(-pid, SIGKILL);
	}
	if (waitpid(pid, &status, WNOHANG) == 0)
		return FLIGHT_WORKS;
	answer->pid = 0;
	return explain(answer, status, why, size);
}

void flight_answer_kill(struct flight_answer *answer)
{
	int status;

	if (!answer->pid)
		return;
	kill(-answer->pid, SIGKILL);
	waitpid(answer->pid, &status, 0);
	answer->pid = 0;
}
