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

#include "sampling_page.h"

#define LIMIT_MS 3000
/* LTTng's own thread in a traced program is named after the program, with this behind. */
#define THREAD_SUFFIX "-ust\n"

/* liblttng-ctl's complaints are not for the user, and its headers do not name what silences them. */
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

/* A traced program that is stopped, as far as /proc shows others' processes; 0 if there is none. */
static int find_stopped(void)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (proc && (name = g_dir_read_name(proc))) {
		int pid = atoi(name);

		if (pid > 0 && is_stopped(pid) && is_traced(pid))
			return pid;
	}
	return 0;
}

static bool is_ours(const struct lttng_event *event)
{
	return g_str_has_prefix(event->name, "blkin:") || g_str_has_prefix(event->name, "zipkin:");
}

/* Counts processes by their events: @count of @events, a process's one after the other. */
static void count_programs(GString *query, const struct lttng_event *events, int count)
{
	g_autoptr(GHashTable) all = g_hash_table_new(NULL, NULL), blkin = g_hash_table_new(NULL, NULL);
	g_autofree char *path = NULL, *name = NULL, *other = NULL;
	GHashTableIter at;
	gpointer pid;

	for (int i = 0; i < count; i++) {
		g_hash_table_add(all, GINT_TO_POINTER(events[i].pid));
		if (is_ours(&events[i]))
			g_hash_table_add(blkin, GINT_TO_POINTER(events[i].pid));
	}
	g_string_append_printf(
		query, "programs=%u&blkin=%u&", g_hash_table_size(all), g_hash_table_size(blkin));
	g_hash_table_iter_init(&at, all);
	while (g_hash_table_iter_next(&at, &pid, NULL)) {
		if (g_hash_table_contains(blkin, pid))
			continue;
		path = g_strdup_printf("/proc/%d/comm", GPOINTER_TO_INT(pid));
		if (!g_file_get_contents(path, &name, NULL, NULL))
			name = g_strdup("process");
		other = g_uri_escape_string(g_strchomp(name), NULL, FALSE);
		g_string_append_printf(query, "other=%s%%20(%d)&", other, GPOINTER_TO_INT(pid));
		return;
	}
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

/* Whether the session is there, and none of its channels records spans. */
static void look_at_session(GString *query, const char *session, struct lttng_domain *domain)
{
	struct lttng_handle *handle = lttng_create_handle(session, domain);
	struct lttng_channel *channels = NULL;
	int count = handle ? lttng_list_channels(handle, &channels) : -1;
	bool enabled = false;

	for (int i = 0; i < count; i++)
		enabled |= channels[i].enabled && has_spans_enabled(handle, channels[i].name);
	if (count > 0 && !enabled)
		g_string_append(query, "events-off=1&");
	free(channels);
	lttng_destroy_handle(handle);
}

/* What can be asked of the daemon alone, and if @programs, what it has to ask the programs for. */
static void ask_lttng(GString *query, const char *session, const char *tracing_group, bool programs)
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
	look_at_session(query, session, &domain);
	if (!programs)
		return;
	handle = lttng_create_handle("", &domain);
	count = handle ? lttng_list_tracepoints(handle, &events) : -1;
	if (count >= 0)
		count_programs(query, events, count);
	free(events);
	lttng_destroy_handle(handle);
}

/* LTTng's library knows no time-outs: it is asked in a process of its own, whose words are cut off. */
static void ask_within_limit(GString *query, const char *session, const char *tracing_group, bool programs)
{
	char text[512];
	int pipes[2];
	ssize_t size;
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) != 0)
		return;
	pid = fork();
	if (pid == 0) {
		g_autoptr(GString) found = g_string_new(NULL);

		ask_lttng(found, session, tracing_group, programs);
		_exit(write(pipes[1], found->str, found->len) == (ssize_t)found->len ? 0 : 1);
	}
	close(pipes[1]);
	if (pid > 0 && poll(&(struct pollfd){pipes[0], POLLIN, 0}, 1, LIMIT_MS) == 1 &&
		(size = read(pipes[0], text, sizeof(text))) > 0)
		g_string_append_len(query, text, size);
	close(pipes[0]);
	if (pid > 0) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Whether the page that programs look at says that nothing is recorded. */
static bool sampling_is_off(void)
{
	const char *path = getenv(SAMPLING_PAGE_VARIABLE);
	g_autofree char *text = NULL;
	const struct sampling_page *page;
	gsize size;

	if (!g_file_get_contents(path ? path : SAMPLING_PAGE_FILE, &text, &size, NULL) ||
		size != sizeof(*page))
		return false;
	page = (const struct sampling_page *)text;
	return page->magic == SAMPLING_PAGE_MAGIC && page->threshold == SAMPLING_OFF;
}

char *census_take(const char *session, const char *tracing_group)
{
	GString *query = g_string_new(NULL);
	int stopped = find_stopped();

	if (stopped)
		g_string_append_printf(query, "stopped=%d&", stopped);
	ask_within_limit(query, session, tracing_group, !stopped);
	if (sampling_is_off())
		g_string_append(query, "sampling-off=1&");
	return g_string_free(query, FALSE);
}
