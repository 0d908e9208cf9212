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

#include "base/clock.h"
#include "config/user.h"
#include "find_programs.h"
#include "sampling_page.h"

/* The session daemon has so long to answer; or so long when programs are stopped: it may wait for these, five
 * seconds for each, and who wants to know what is wrong should not wait with it. */
#define LIMIT_MS 3000
#define STOPPED_LIMIT_MS 1000

/*
 * liblttng-ctl's messages are not for the user, and its headers do not declare the variable that silences
 * them.
 */
extern int lttng_opt_quiet __attribute__((weak));

static bool is_ours(const struct lttng_event *event)
{
	return g_str_has_prefix(event->name, "blkin:") || g_str_has_prefix(event->name, "zipkin:");
}

/* Of a session that is just being destroyed, as another one has taken its place, nothing is known. */
static bool may_have_spans_enabled(struct lttng_handle *handle, const char *channel)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, channel, &events);
	bool has = count < 0;

	for (int i = 0; i < count; i++)
		has |= events[i].enabled && is_ours(&events[i]);
	free(events);
	return has;
}

/* Whether the session exists, and none of its channels records spans. */
static bool is_off(const char *session, struct lttng_domain *domain)
{
	struct lttng_handle *handle = lttng_create_handle(session, domain);
	struct lttng_channel *channels = NULL;
	int count = handle ? lttng_list_channels(handle, &channels) : -1;
	bool enabled = false;

	for (int i = 0; i < count; i++)
		enabled |= channels[i].enabled && may_have_spans_enabled(handle, channels[i].name);
	free(channels);
	lttng_destroy_handle(handle);
	return count > 0 && !enabled;
}

/* Asks for what the daemon itself knows: it must not be made to ask the programs (find_programs.h). */
static bool daemon_says_off(const char *session, const char *tracing_group)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	lttng_set_tracing_group(*tracing_group ? tracing_group : "-");
	return lttng_session_daemon_alive() == 1 && is_off(session, &domain);
}

/* What the session daemon was asked, and did not answer yet. */
struct question {
	int64_t begun;
	pid_t child;
	int answer; /* a pipe's; -1: it cannot be asked */
};

/* LTTng's library has no time-outs, so it is used in a child process, which is killed at the limit. */
static void begin_to_ask(struct question *question, const char *session, const char *tracing_group)
{
	int pipes[2];

	*question = (struct question){.begun = clock_monotonic(), .child = -1, .answer = -1};
	if (pipe2(pipes, O_CLOEXEC) != 0)
		return;
	question->child = fork();
	question->answer = pipes[0];
	if (question->child == 0) {
		bool off = daemon_says_off(session, tracing_group);

		_exit(write(pipes[1], &off, sizeof(off)) == (ssize_t)sizeof(off) ? 0 : 1);
	}
	close(pipes[1]);
}

/* Waits up to @limit_ms after it was asked; without an answer, nothing is wrong. */
static bool take_answer(struct question *question, int64_t limit_ms)
{
	int64_t left = limit_ms - (clock_monotonic() - question->begun) / NS_PER_MS;
	struct pollfd answer = {question->answer, POLLIN, 0};
	bool off = false;

	if (question->answer < 0)
		return false;
	if (poll(&answer, 1, (int)MAX(left, 0)) != 1 ||
		read(question->answer, &off, sizeof(off)) != (ssize_t)sizeof(off))
		off = false;
	close(question->answer);
	if (question->child > 0) {
		kill(question->child, SIGKILL);
		waitpid(question->child, NULL, 0);
	}
	return off;
}

/* Where all are off but a few, that is how these are chosen. */
static bool some_service_is_on(const struct sampling_page *page)
{
	for (uint64_t i = 0; i < page->services && i < SAMPLING_PAGE_SERVICES; i++)
		if (page->service[i].threshold > SAMPLING_OFF)
			return true;
	return false;
}

/* Whether the page says that nothing is recorded, of any service. */
static bool page_is_off(const char *path)
{
	g_autofree char *text = NULL;
	const struct sampling_page *page;
	gsize size;

	if (!g_file_get_contents(path, &text, &size, NULL) || size != sizeof(*page))
		return false;
	page = (const struct sampling_page *)text;
	return page->magic == SAMPLING_PAGE_MAGIC && page->threshold == SAMPLING_OFF &&
	       !some_service_is_on(page);
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
	struct question question;

	memset(census, 0, sizeof(*census));
	begin_to_ask(&question, session, tracing_group);
	find_programs(census, tracing_group);
	census->events_off = take_answer(&question, census->stopped ? STOPPED_LIMIT_MS : LIMIT_MS);
	census->sampling_off = sampling_is_off(tracing_group);
}
