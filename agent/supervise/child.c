/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memfd_create, close_range */
#include "supervise/child.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "handover/frames.h"

#define MANY_FILES "the agent may open no more files (LimitNOFILE=)"
#define PROGRAM "blkin-reader"
/* What it exits with when it cannot be executed. */
#define NO_PROGRAM 127
/* The same when the agent may have no more descriptors. */
#define NO_FILES 126
/* A reader that does not move hangs if it has computed for so long, on one user's trace alone or not; or if
 * it has been stopped, or stood still, for so long. A daemon that it calls has more time, as the status tells
 * of that: but what the relay daemon does not send is in its files. */
#define COMPUTES_ALONE_NS (3 * NS_PER_SECOND)
#define COMPUTES_NS (10 * NS_PER_SECOND)
#define STOPPED_NS (5 * NS_PER_SECOND)
#define STILL_NS (60 * NS_PER_SECOND)
#define RELAY_NS (20 * NS_PER_SECOND)
#define SESSION_NS (600 * NS_PER_SECOND)
/* From then on it is found out whether it waits for others, or for a processor. */
#define LOOK_NS NS_PER_SECOND
/* Who has not watched for so long, being stopped, say, knows nothing of the time before. */
#define UNWATCHED_NS (2 * NS_PER_SECOND)
#define STEP_US 10000
/* Its memory is looked at again when it has computed for so long, in which it cannot take much more. */
#define WEIGH_NS (2 * NS_PER_MS)

/* Starting */

/* Beside the agent, as in the build's folder, or where it was installed. */
char *child_program(const char *name)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
	char *beside = folder ? g_build_filename(folder, name, NULL) : NULL;

	if (beside && access(beside, X_OK) == 0)
		return beside;
	g_free(beside);
	return g_build_filename(READER_FOLDER, name, NULL);
}

char *child_command(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = self ? g_path_get_dirname(self) : NULL;
	char *built = folder ? g_build_filename(folder, "..", "cli", "blkin", NULL) : NULL;

	if (built && access(built, X_OK) == 0)
		return built;
	g_free(built);
	return g_build_filename(COMMAND_FOLDER, "blkin", NULL);
}

/* In the child: the descriptors get their numbers, and all others are closed. Nothing here may allocate. */
static void become(const char *program, const int fds[3])
{
	char *const words[] = {PROGRAM, NULL};
	sigset_t none;
	int high[3];

	/* out of the way first */
	for (int i = 0; i < 3; i++)
		high[i] = fcntl(fds[i], F_DUPFD, 16);
	for (int i = 0; i < 3; i++)
		if (dup2(high[i], READER_SOCKET + i) < 0)
			_exit(NO_FILES);
	close_range(READER_CONFIG + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execv(program, words);
	_exit(NO_PROGRAM);
}

int child_text_file(const struct buffer *text)
{
	int fd = memfd_create("blkin-config", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, text->data, text->size) == (ssize_t)text->size)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* The kernel's count of processes that it ended for want of memory: here, or if that is not known, anywhere.
 */
static uint64_t count_oom_kills(void)
{
	g_autofree char *group = NULL, *path = NULL, *events = NULL;
	const char *count;

	if (g_file_get_contents("/proc/self/cgroup", &group, NULL, NULL) && g_str_has_prefix(group, "0::")) {
		g_strchomp(group);
		path = g_strconcat("/sys/fs/cgroup", group + 3, "/memory.events", NULL);
	}
	if ((!path || !g_file_get_contents(path, &events, NULL, NULL)) &&
		!g_file_get_contents("/proc/vmstat", &events, NULL, NULL))
		return 0;
	count = strstr(events, "oom_kill ");
	return count ? g_ascii_strtoull(count + strlen("oom_kill "), NULL, 10) : 0;
}

int child_start(struct child *child, int page, const struct buffer *config, char *error, size_t error_size)
{
	g_autofree char *program = child_program(PROGRAM);
	int ends[2] = {-1, -1}, text = child_text_file(config);

	*child = (struct child){.memory = -1, .oom_kills = count_oom_kills(), .started = clock_monotonic()};
	child->moved = child->watched = child->started;
	if (text >= 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0)
		child->pid = fork();
	else
		child->pid = -1;
	if (child->pid == 0)
		become(program, (int[3]){ends[1], page, text});
	if (child->pid < 0) {
		snprintf(error, error_size, "%s cannot be started: %s", program,
			errno == EMFILE ? MANY_FILES : g_strerror(errno));
		child->pid = 0;
		if (ends[0] >= 0)
			close(ends[0]);
		ends[0] = -1;
	}
	if (ends[1] >= 0)
		close(ends[1]);
	if (text >= 0)
		close(text);
	return ends[0];
}

/* Watching */

static int64_t cpu_of(pid_t pid)
{
	clockid_t clock;

	return clock_getcpuclockid(pid, &clock) == 0 ? clock_read(clock) : 0;
}

/* Notes since when it has been stopped. */
static void look_at_stop(struct child *child, int64_t now)
{
	siginfo_t info = {0};

	if (waitid(P_PID, (id_t)child->pid, &info, WSTOPPED | WCONTINUED | WNOHANG) != 0 || !info.si_pid)
		return;
	child->stopped = info.si_code == CLD_STOPPED ? now : 0;
}

/* How long its first thread, which is the one that moves, was ready to run and had no processor, ns in all; 0
 * where the kernel does not tell. */
static int64_t kept_waiting(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/schedstat", (int)pid), *text = NULL;
	long long ns = 0;

	if (!g_file_get_contents(path, &text, NULL, NULL) || sscanf(text, "%*u %lld", &ns) != 1)
		return 0;
	return ns;
}

static void look_at_waiting(struct child *child, int64_t now)
{
	int64_t ns;

	if (now - child->moved < LOOK_NS)
		return;
	ns = kept_waiting(child->pid);
	if (child->kept_before < 0)
		child->kept_before = ns;
	child->kept = ns - child->kept_before;
}

static int64_t patience(const struct page *page)
{
	switch (atomic_load(&page->called)) {
	case DAEMON_RELAY:
		return RELAY_NS;
	case DAEMON_SESSION:
		return SESSION_NS;
	default:
		return STILL_NS;
	}
}

int64_t child_busy(const struct child *child)
{
	return child->computed + child->kept;
}

/* Processor time tells a loop from waiting, however busy the machine is; and who waits for a processor does
 * not wait for a daemon. */
static bool hangs(const struct child *child, const struct page *page)
{
	int64_t now = clock_monotonic();

	if (child->stopped)
		return now - child->stopped >= STOPPED_NS;
	if (child->computed >= (atomic_load(&page->alone) ? COMPUTES_ALONE_NS : COMPUTES_NS))
		return true;
	return now - child->moved - child_busy(child) >= patience(page);
}

void child_watch(struct child *child, struct page *page)
{
	int64_t now = clock_monotonic(), moved = atomic_load(&page->moved), cpu = cpu_of(child->pid);

	look_at_stop(child, now);
	if (now - child->watched > UNWATCHED_NS)
		moved = now;
	child->watched = now;
	if (moved > child->moved) {
		child->moved = moved;
		child->moved_cpu = cpu;
		child->kept = 0;
		child->kept_before = -1;
	}
	child->computed = cpu - child->moved_cpu;
	child->cpu = cpu;
	look_at_waiting(child, now);
	if (child->killed || !hangs(child, page))
		return;
	child->killed = true;
	kill(child->pid, SIGKILL);
}

/* It is read several times a second, so it stays open. Under sanitizers, the memory would be theirs. */
static int open_memory(pid_t pid)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
	(void)pid;
	return -1;
#else
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
#endif
}

/* Bytes of the process's own memory; 0 if that is not known. */
static uint64_t memory_of(struct child *child)
{
	unsigned long long resident, shared;
	char text[128];
	ssize_t size;

	if (child->memory < 0)
		child->memory = open_memory(child->pid);
	size = pread(child->memory, text, sizeof(text) - 1, 0);
	if (size <= 0)
		return 0;
	text[size] = '\0';
	if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || shared > resident)
		return 0;
	return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

void child_bound(struct child *child, uint64_t memory)
{
	if (child->killed || (child->weighed && child->cpu - child->weighed < WEIGH_NS))
		return;
	child->weighed = child->cpu;
	if (memory_of(child) <= memory)
		return;
	child->killed = child->too_large = true;
	kill(child->pid, SIGKILL);
}

/* Ending */

/* Waits for it; by force when its time is over. */
static int reap(struct child *child, int64_t patience_ns)
{
	int64_t until = clock_monotonic() + patience_ns;
	int status = 0;

	while (waitpid(child->pid, &status, WNOHANG) == 0) {
		if (clock_monotonic() >= until) {
			kill(child->pid, SIGKILL);
			waitpid(child->pid, &status, 0);
			break;
		}
		g_usleep(STEP_US);
	}
	if (child->memory >= 0)
		close(child->memory);
	child->memory = -1;
	child->pid = 0;
	return status;
}

/* A signal that babeltrace2 does not send itself, be it one that has stopped the process. */
static bool is_from_outside(const struct child *child, int status)
{
	int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	if (child->killed)
		return child->stopped && !child->too_large;
	if (number == SIGKILL)
		return count_oom_kills() == child->oom_kills;
	return number == SIGTERM || number == SIGHUP || number == SIGINT || number == SIGQUIT;
}

enum child_end child_end(struct child *child, int64_t patience_ns, char *how, size_t size)
{
	int status = reap(child, patience_ns);

	if (child->too_large)
		snprintf(how, size, "took more memory than `reader-memory` in [session], and was killed");
	else if (child->killed)
		snprintf(how, size, "hung, and was killed");
	else if (WIFSIGNALED(status))
		snprintf(how, size, "was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == NO_PROGRAM)
		snprintf(how, size, "cannot be started: is " READER_FOLDER "/" PROGRAM " there?");
	else if (WEXITSTATUS(status) == NO_FILES)
		snprintf(how, size, "cannot be started: " MANY_FILES);
	else
		snprintf(how, size, "ended with code %d", WEXITSTATUS(status));
	return is_from_outside(child, status) ? CHILD_KILLED : CHILD_FAULT;
}
