/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/wellness.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "session/sessiond.h"

/* Between an answer and the next question. */
#define PERIOD_NS (2 * NS_PER_SECOND)
/* LTTng's: the question is a number of 32 bits, 0; the answer one of 64 bits. */
#define QUESTION 0
/* Whoever waits for an answer waits so long, and looks so often. */
#define PATIENCE_NS (1 * NS_PER_SECOND)
#define STEP_US 10000
#define ANSWER_SIZE 8

/* Where they listen, below the session daemon's folder; a program is of one word size or the other. */
enum { SESSION, CONSUMER_64, CONSUMER_32, CONSUMER_KERNEL, DAEMONS };

static const char *const sockets[DAEMONS] = {
	[SESSION] = "sessiond-health",
	[CONSUMER_64] = "ustconsumerd64/health",
	[CONSUMER_32] = "ustconsumerd32/health",
	[CONSUMER_KERNEL] = "kconsumerd/health",
};

struct daemon_asked {
	int fd;        /* on which it was asked; -1: there is no question that it did not answer */
	int64_t asked; /* CLOCK_MONOTONIC ns, as below */
	int64_t next;  /* not before */
	bool seen;     /* it has answered once, */
	bool gone;     /* and nobody listens any more */
	pid_t pid;     /* of who listened there last; 0: not known, as it is in a container, say, */
	int process;   /* and that; -1: it cannot be watched */
};

struct wellness {
	char *group, *folder;
	struct daemon_asked daemons[DAEMONS];
};

struct wellness *wellness_create(const char *tracing_group)
{
	struct wellness *wellness = g_new0(struct wellness, 1);

	wellness->group = g_strdup(tracing_group);
	for (int i = 0; i < DAEMONS; i++)
		wellness->daemons[i].fd = wellness->daemons[i].process = -1;
	return wellness;
}

static void hang_up(struct daemon_asked *daemon)
{
	if (daemon->fd >= 0)
		close(daemon->fd);
	daemon->fd = -1;
	daemon->asked = 0;
}

static void forget_process(struct daemon_asked *daemon)
{
	if (daemon->process >= 0)
		close(daemon->process);
	daemon->process = -1;
	daemon->pid = 0;
}

/* Whether who listened there still runs: of LTTng's daemons the thread that answers may have ended alone, as
 * it does when there are no descriptors for a while. */
static bool lives(const struct daemon_asked *daemon)
{
	struct pollfd process = {daemon->process, POLLIN, 0};

	return daemon->process >= 0 && poll(&process, 1, 0) == 0;
}

/* Notes who listens there. It is not this process, but in a test. */
static void note_process(struct daemon_asked *daemon)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(daemon->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
		(peer.pid == daemon->pid && lives(daemon)))
		return;
	forget_process(daemon);
	if (peer.pid <= 0 || peer.pid == getpid())
		return;
	daemon->pid = peer.pid;
	daemon->process = pidfd_open(peer.pid, 0);
}

/* Asks it. One that takes no more connections hangs, too. */
static void ask(struct daemon_asked *daemon, const char *folder, const char *name, int64_t now)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const uint32_t question = QUESTION;
	int error;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/%s", folder, name);
	daemon->next = now + PERIOD_NS;
	daemon->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (daemon->fd < 0)
		return;
	if (connect(daemon->fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		send(daemon->fd, &question, sizeof(question), MSG_NOSIGNAL) == sizeof(question)) {
		daemon->asked = daemon->asked ? daemon->asked : now;
		note_process(daemon);
		return;
	}
	error = errno;
	close(daemon->fd);
	daemon->fd = -1;
	if (error == EAGAIN)
		daemon->asked = daemon->asked ? daemon->asked : now;
	else
		daemon->asked = 0;
	/* a socket that nobody listens on was left by one */
	daemon->gone = (error == ECONNREFUSED && !lives(daemon)) || (daemon->seen && error == ENOENT);
}

/* Takes its answer, if that has come. */
static void listen_to(struct daemon_asked *daemon, int64_t now)
{
	uint8_t answer[ANSWER_SIZE];
	ssize_t size = recv(daemon->fd, answer, sizeof(answer), MSG_DONTWAIT);

	if (size < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	daemon->seen |= size > 0;
	daemon->gone = size <= 0 && !lives(daemon);
	hang_up(daemon);
	daemon->next = now + PERIOD_NS;
}

void wellness_look(struct wellness *wellness)
{
	int64_t now = clock_monotonic();

	for (int i = 0; i < DAEMONS; i++) {
		struct daemon_asked *daemon = &wellness->daemons[i];

		if (daemon->fd >= 0)
			listen_to(daemon, now);
		if (now < daemon->next)
			continue;
		if (daemon->fd >= 0) /* it is asked anew, as a successor may listen there by now */
			close(daemon->fd);
		daemon->fd = -1;
		if (i == SESSION && daemon->gone) /* its successor may be elsewhere */
			g_clear_pointer(&wellness->folder, g_free);
		if (!wellness->folder)
			wellness->folder = sessiond_folder(wellness->group);
		if (wellness->folder)
			ask(daemon, wellness->folder, sockets[i], now);
		else
			daemon->next = now + PERIOD_NS;
	}
}

static struct daemon_health health_of(const struct daemon_asked *daemon)
{
	return (struct daemon_health){.silent = daemon->asked, .gone = daemon->gone};
}

static bool answers(const struct daemon_asked *daemon)
{
	return daemon->seen && !daemon->gone;
}

void wellness_read(const struct wellness *wellness, struct daemons_health *healths)
{
	const struct daemon_health of[] = {
		health_of(&wellness->daemons[CONSUMER_64]), health_of(&wellness->daemons[CONSUMER_32])};
	/* the one that is silent for longer */
	bool second = of[1].silent && (!of[0].silent || of[1].silent < of[0].silent);

	healths->session = health_of(&wellness->daemons[SESSION]);
	healths->consumer = of[second];
	healths->consumer.gone = of[0].gone || of[1].gone;
	healths->consumer.ended = healths->consumer.gone && !answers(&wellness->daemons[CONSUMER_64]) &&
				  !answers(&wellness->daemons[CONSUMER_32]);
	healths->kernel = health_of(&wellness->daemons[CONSUMER_KERNEL]);
}

static bool any_is_silent(const struct wellness *wellness, int first, int end)
{
	for (int i = first; i < end; i++)
		if (wellness->daemons[i].asked)
			return true;
	return false;
}

/* Whether the daemons from @first on, up to @end, answer. */
static bool answer_soon(const char *tracing_group, int first, int end)
{
	struct wellness *wellness = wellness_create(tracing_group);
	int64_t until = clock_monotonic() + PATIENCE_NS;
	bool good;

	wellness_look(wellness);
	while (!(good = !any_is_silent(wellness, first, end)) && clock_monotonic() < until) {
		g_usleep(STEP_US);
		wellness_look(wellness);
	}
	wellness_destroy(wellness);
	return good;
}

bool wellness_all_answer(const char *tracing_group, bool kernel)
{
	return answer_soon(tracing_group, SESSION, kernel ? DAEMONS : CONSUMER_KERNEL);
}

bool wellness_kernel_answers(const char *tracing_group)
{
	return answer_soon(tracing_group, CONSUMER_KERNEL, DAEMONS);
}

void wellness_destroy(struct wellness *wellness)
{
	for (int i = 0; i < DAEMONS; i++) {
		hang_up(&wellness->daemons[i]);
		forget_process(&wellness->daemons[i]);
	}
	g_free(wellness->folder);
	g_free(wellness->group);
	g_free(wellness);
}
