/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2 */
#include "ask_lttng.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#include "base/sanitize.h"
#include "config/user.h"
#include "sampling_page.h"

#define LIMIT_MS 3000
/* A program is stopped if it is for so long. */
#define STOPPED_MS 500
#define STEP_MS 50
/* The name of LTTng's thread in a traced program is that of the program, followed by this. */
#define THREAD_SUFFIX "-ust\n"

/*
 * liblttng-ctl's messages are not for the user, and its headers do not declare the variable that silences
 * them.
 */
extern int lttng_opt_quiet __attribute__((weak));

static bool is_stopped(int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/stat", pid), *text = NULL;
	const char *state;

	if (!g_file_get_contents(path, &text, NULL, NULL))
		return false;
	state = strrchr(text, ')');
	return state && (g_str_has_prefix(state, ") T") || g_str_has_prefix(state, ") t"));
}

static bool is_traced(int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *thread;
	bool is = false;

	while (dir && !is && (thread = g_dir_read_name(dir))) {
		g_autofree char *comm = g_strdup_printf("%s/%s/comm", path, thread), *name = NULL;

		is = g_file_get_contents(comm, &name, NULL, NULL) && g_str_has_suffix(name, THREAD_SUFFIX);
	}
	return is;
}

/* Debuggers and sanitizers stop programs for moments, in which LTTng still waits for them. */
static bool stays_stopped(int pid)
{
	for (int64_t waited = 0; waited < STOPPED_MS; waited += STEP_MS) {
		g_usleep(STEP_MS * 1000);
		if (!is_stopped(pid))
			return false;
	}
	return true;
}

/*
 * The pid of a traced program that is stopped, as far as /proc shows others' processes; 0 if there is none.
 */
static int find_stopped(void)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (proc && (name = g_dir_read_name(proc))) {
		int pid = atoi(name);

		if (pid > 0 && is_stopped(pid) && is_traced(pid) && stays_stopped(pid))
			return pid;
	}
	return 0;
}

static bool is_ours(const struct lttng_event *event)
{
	return g_str_has_prefix(event->name, "blkin:") || g_str_has_prefix(event->name, "zipkin:");
}

/* "NAME (PID)" of a process, printable. */
static void print_process(char *text, size_t size, int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/comm", pid), *name = NULL, *whole = NULL;

	if (!g_file_get_contents(path, &name, NULL, NULL))
		name = g_strdup("process");
	whole = g_strdup_printf("%s (%d)", g_strchomp(name), pid);
	words_copy(text, size, (const uint8_t *)whole, strlen(whole));
}

/* Counts processes by their @count @events; those of a process are adjacent. */
static void count_programs(struct census *census, const struct lttng_event *events, int count)
{
	g_autoptr(GHashTable) all = g_hash_table_new(NULL, NULL), blkin = g_hash_table_new(NULL, NULL);
	GHashTableIter at;
	gpointer pid;

	for (int i = 0; i < count; i++) {
		g_hash_table_add(all, GINT_TO_POINTER(events[i].pid));
		if (is_ours(&events[i]))
			g_hash_table_add(blkin, GINT_TO_POINTER(events[i].pid));
	}
	census->known = true;
	census->programs = (int)g_hash_table_size(all);
	census->blkin = (int)g_hash_table_size(blkin);
	g_hash_table_iter_init(&at, all);
	while (!*census->other && g_hash_table_iter_next(&at, &pid, NULL))
		if (!g_hash_table_contains(blkin, pid))
			print_process(census->other, sizeof(census->other), GPOINTER_TO_INT(pid));
}

static bool has_spans_enabled(struct lttng_handle *handle, const char *channel)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, channel, &events);
	bool has = false;

	for (int i = 0; i < count; i++)
		has |= events[i].enabled && g_str_has_prefix(events[i].name, "blkin");
	free(events);
	return has;
}

/* Checks whether the session exists, and whether none of its channels records spans. */
static void look_at_session(struct census *census, const char *session, struct lttng_domain *domain)
{
	struct lttng_handle *handle = lttng_create_handle(session, domain);
	struct lttng_channel *channels = NULL;
	int count = handle ? lttng_list_channels(handle, &channels) : -1;
	bool enabled = false;

	for (int i = 0; i < count; i++)
		enabled |= channels[i].enabled && has_spans_enabled(handle, channels[i].name);
	if (count > 0 && !enabled)
		census->events_off = true;
	free(channels);
	lttng_destroy_handle(handle);
}

/* Asks for what the daemon itself knows, and if @programs, for what it must ask the programs. */
static void ask_daemon(struct census *census, const char *session, const char *tracing_group, bool programs)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_handle *handle;
	struct lttng_event *events = NULL;
	int count;

	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	lttng_set_tracing_group(*tracing_group ? tracing_group : "-");
	if (lttng_session_daemon_alive() != 1)
		return;
	look_at_session(census, session, &domain);
	if (!programs)
		return;
	handle = lttng_create_handle("", &domain);
	count = handle ? lttng_list_tracepoints(handle, &events) : -1;
	if (count >= 0)
		count_programs(census, events, count);
	free(events);
	lttng_destroy_handle(handle);
}

/* LTTng's library has no time-outs, so it is used in a child process, which is killed at the limit. */
static void ask_within_limit(
	struct census *census, const char *session, const char *tracing_group, bool programs)
{
	struct census found = *census;
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		ask_daemon(&found, session, tracing_group, programs);
		_exit(write(pipes[1], &found, sizeof(found)) == (ssize_t)sizeof(found) ? 0 : 1);
	}
	close(pipes[1]);
	if (pid > 0 && poll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, LIMIT_MS) == 1 &&
		read(pipes[0], &found, sizeof(found)) == (ssize_t)sizeof(found))
		*census = found;
	close(pipes[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Whether the page says that nothing is recorded. */
static bool page_is_off(const char *path)
{
	g_autofree char *text = NULL;
	const struct sampling_page *page;
	gsize size;

	if (!g_file_get_contents(path, &text, &size, NULL) || size != sizeof(*page))
		return false;
	page = (const struct sampling_page *)text;
	return page->magic == SAMPLING_PAGE_MAGIC && page->threshold == SAMPLING_OFF;
}

/* The page that programs look at first, and which an agent of this kind has. */
static bool sampling_is_off(const char *tracing_group)
{
	const char *path = getenv(SAMPLING_PAGE_VARIABLE);
	g_autofree char *own = user_sampling_page();

	if (path)
		return page_is_off(path);
	return page_is_off(*tracing_group ? SAMPLING_PAGE_FILE : own);
}

void ask_lttng(const char *session, const char *tracing_group, struct census *census)
{
	memset(census, 0, sizeof(*census));
	census->stopped = find_stopped();
	ask_within_limit(census, session, tracing_group, !census->stopped);
	census->sampling_off = sampling_is_off(tracing_group);
}
