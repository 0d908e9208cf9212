/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* nftw */
#include "session/daemons.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "session/forcedend.h"
#include "session/sessiond.h"
#include "session/sessionid.h"

/* The time that they have to answer, and to end. */
#define START_NS (5 * NS_PER_SECOND)
#define END_NS (5 * NS_PER_SECOND)
#define STEP_US 20000
/* One that holds what is recorded may go on by itself within this time, and then nothing is lost. */
#define MEND_NS (20 * NS_PER_SECOND)
/* Before one that has ended, or could not be started, is started again. */
static const struct timeval again_after = {1, 0};
/* What a child exits with when there is no such program. */
#define NO_PROGRAM 127

struct daemon {
	char **words; /* its command; NULL: not ours to run */
	char *log;    /* where it writes */
	pid_t pid;    /* 0: it does not run */
	bool (*answers)(const struct config *config);
};

struct daemons {
	const struct config *config;
	struct daemon sessiond, relayd;
	int relay_output;    /* the folder, locked; -1: it is not ours */
	struct event *ended; /* SIGCHLD */
	struct event *again; /* when what has ended is started again */
	int64_t held;        /* since when one holds what is recorded; CLOCK_MONOTONIC ns; 0: none does */
};

/* Ports */

/* Binds to a port of loopback, 0 for any, and says which; returns the socket, or -1. */
static int bind_port(uint64_t *port)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
		getsockname(fd, (struct sockaddr *)&address, &size) == 0) {
		*port = ntohs(address.sin_port);
		return fd;
	}
	log_error("no loopback port is free for a relay daemon: %s", g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

int daemons_choose_ports(struct config *config)
{
	uint64_t *ports[] = {&config->relay_control_port, &config->relay_data_port, &config->relay_live_port};
	int fds[G_N_ELEMENTS(ports)], status = 0;

	if (config->relay_control_port != 0)
		return 0;
	/* kept open until all are chosen, or one might come twice */
	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++) {
		fds[i] = bind_port(ports[i]);
		if (fds[i] < 0)
			status = -1;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(ports); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	config->own_relay = true;
	return status;
}

/* Children */

static bool sessiond_answers(const struct config *config)
{
	return sessiond_ask(config->tracing_group) == SESSIOND_ANSWERS;
}

static bool relayd_answers(const struct config *config)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons((uint16_t)config->relay_live_port)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool answers = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0;

	if (fd >= 0)
		close(fd);
	return answers;
}

/* In the child: it dies with the agent, gets no key strokes meant for it, and writes to its log. */
static void become(const struct daemon *daemon, pid_t agent, int log)
{
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != agent)
		_exit(0);
	setpgid(0, 0);
	signal(SIGPIPE, SIG_DFL);
	dup2(log, STDOUT_FILENO);
	dup2(log, STDERR_FILENO);
	execvp(daemon->words[0], daemon->words);
	_exit(NO_PROGRAM);
}

static void spawn(struct daemon *daemon)
{
	int log = open(daemon->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	pid_t agent = getpid();

	daemon->pid = fork();
	if (daemon->pid == 0)
		become(daemon, agent, log);
	if (daemon->pid < 0) {
		log_error("cannot start %s: %s", daemon->words[0], g_strerror(errno));
		daemon->pid = 0;
	}
	if (log >= 0)
		close(log);
}

/* Whether it runs on; if not, why is logged. */
static bool still_runs(struct daemon *daemon)
{
	int status;

	if (daemon->pid && waitpid(daemon->pid, &status, WNOHANG) != daemon->pid)
		return true;
	if (daemon->pid && WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		log_error("cannot start %s: is package lttng-tools installed?", daemon->words[0]);
	else if (daemon->pid)
		log_warning("%s has ended (%s %d); see %s", daemon->words[0],
			WIFSIGNALED(status) ? "by signal" : "with code",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), daemon->log);
	daemon->pid = 0;
	return false;
}

/* Starts it, and waits until it answers; returns -1 if it does not. */
static int start(struct daemons *daemons, struct daemon *daemon)
{
	int64_t begun = clock_monotonic();

	if (!daemon->words)
		return 0;
	spawn(daemon);
	while (!daemon->answers(daemons->config)) {
		if (!daemon->pid || !still_runs(daemon))
			return -1;
		if (clock_monotonic() - begun > START_NS) {
			log_error("%s does not answer; see %s", daemon->words[0], daemon->log);
			return -1;
		}
		g_usleep(STEP_US);
	}
	log_info("started %s, process %d", daemon->words[0], (int)daemon->pid);
	return 0;
}

static void on_ended(evutil_socket_t signal_number, short what, void *data)
{
	struct daemons *daemons = data;
	struct daemon *each[] = {&daemons->sessiond, &daemons->relayd};

	(void)signal_number;
	(void)what;
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++)
		if (each[i]->pid && !still_runs(each[i]))
			event_add(daemons->again, &again_after);
}

/* The reader waits for them anyway. */
static void on_again(evutil_socket_t fd, short what, void *data)
{
	struct daemons *daemons = data;
	struct daemon *each[] = {&daemons->sessiond, &daemons->relayd};

	(void)fd;
	(void)what;
	for (size_t i = 0; i < G_N_ELEMENTS(each); i++)
		if (each[i]->words && !each[i]->pid) {
			spawn(each[i]);
			if (!each[i]->pid)
				event_add(daemons->again, &again_after);
		}
}

/* The one that holds what is recorded; NULL: none of ours does. */
static struct daemon *holder(struct daemons *daemons, enum reason reason)
{
	switch (reason) {
	case REASON_SESSION_DAEMON_HANGS:
	case REASON_CONSUMER_HANGS:
	case REASON_CONSUMER_STILL:
	case REASON_CONSUMER_GONE:
		return daemons->sessiond.pid ? &daemons->sessiond : NULL;
	case REASON_RELAY_HANGS:
		return daemons->relayd.pid ? &daemons->relayd : NULL;
	default:
		return NULL;
	}
}

void daemons_mend(struct daemons *daemons, enum reason reason)
{
	const struct daemon *daemon = holder(daemons, reason);
	int64_t now = clock_monotonic();

	if (!daemon || !daemons->held)
		daemons->held = daemon ? now : 0;
	if (!daemon || now - daemons->held < MEND_NS)
		return;
	log_warning(
		"%s holds what programs record, and does not go on: it is ended by force, and started again",
		daemon->words[0]);
	daemons->held = 0;
	forced_end(daemon->pid);
}

/* The relay's files */

static int remove_entry(const char *path, const struct stat *file, int type, struct FTW *where)
{
	(void)file;
	(void)type;
	(void)where;
	return remove(path);
}

/*
 * Takes the folder for this agent's relay daemon: another agent would remove what that writes. The lock ends
 * with the agent, however that ends; where there can be none, the relay daemon says what is wrong.
 */
static int lock_relay_output(struct daemons *daemons)
{
	const char *path = daemons->config->relay_output;

	g_mkdir_with_parents(path, 0750);
	daemons->relay_output = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (daemons->relay_output < 0 || flock(daemons->relay_output, LOCK_EX | LOCK_NB) == 0 ||
		errno != EWOULDBLOCK)
		return 0;
	log_error("another blkin-agent uses `relay-output` %s: stop it, or give this one another one, and "
		  "another `name`, in [session]",
		path);
	return -1;
}

static void clear_sessions(const struct config *config, const char *name)
{
	g_autofree char *pattern = g_strdup_printf(
		"%s/*/%s-[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]-[0-9][0-9][0-9][0-9][0-9][0-9]",
		config->relay_output, name);
	glob_t found;

	if (glob(pattern, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (size_t i = 0; i < found.gl_pathc; i++)
		nftw(found.gl_pathv[i], remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	globfree(&found);
}

/*
 * Removes what the sessions of an earlier run that came to its end left with a relay of our own. Only folders
 * that are named as the relay names those of our sessions are touched.
 */
static void clear_relay_output(const struct config *config)
{
	char name[256];

	for (unsigned number = 0; number < SESSION_NAMES; number++) {
		session_name(config, number, name, sizeof(name));
		clear_sessions(config, name);
	}
}

static int take_relay_output(struct daemons *daemons, bool goes_on)
{
	if (lock_relay_output(daemons) != 0)
		return -1;
	if (!goes_on)
		clear_relay_output(daemons->config);
	return 0;
}

/* All of them */

static char **relayd_words(const struct config *config)
{
	GPtrArray *words = g_ptr_array_new();

	g_ptr_array_add(words, g_strdup("lttng-relayd"));
	g_ptr_array_add(words, g_strdup_printf("--control-port=tcp://127.0.0.1:%" G_GUINT64_FORMAT,
				       config->relay_control_port));
	g_ptr_array_add(words,
		g_strdup_printf("--data-port=tcp://127.0.0.1:%" G_GUINT64_FORMAT, config->relay_data_port));
	g_ptr_array_add(words,
		g_strdup_printf("--live-port=tcp://127.0.0.1:%" G_GUINT64_FORMAT, config->relay_live_port));
	g_ptr_array_add(words, g_strconcat("--output=", config->relay_output, NULL));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

struct daemons *daemons_create(struct event_base *base, const struct config *config, bool goes_on)
{
	static const char *const sessiond_words[] = {"lttng-sessiond", "--no-kernel", NULL};
	struct daemons *daemons = g_new0(struct daemons, 1);

	daemons->config = config;
	daemons->relay_output = -1;
	daemons->sessiond.answers = sessiond_answers;
	daemons->relayd.answers = relayd_answers;
	daemons->sessiond.log = g_build_filename(config->state_directory, "lttng-sessiond.log", NULL);
	daemons->relayd.log = g_build_filename(config->state_directory, "lttng-relayd.log", NULL);
	if (config->user && !sessiond_answers(config))
		daemons->sessiond.words = g_strdupv((char **)sessiond_words);
	if (config->own_relay)
		daemons->relayd.words = relayd_words(config);
	daemons->ended = evsignal_new(base, SIGCHLD, on_ended, daemons);
	daemons->again = evtimer_new(base, on_again, daemons);
	event_add(daemons->ended, NULL);
	if ((!config->own_relay || take_relay_output(daemons, goes_on) == 0) &&
		start(daemons, &daemons->sessiond) == 0 && start(daemons, &daemons->relayd) == 0)
		return daemons;
	daemons_destroy(daemons);
	return NULL;
}

static void end(struct daemon *daemon)
{
	int64_t begun = clock_monotonic();

	if (daemon->pid)
		kill(daemon->pid, SIGTERM);
	while (daemon->pid && waitpid(daemon->pid, NULL, WNOHANG) == 0) {
		if (clock_monotonic() - begun > END_NS) {
			kill(daemon->pid, SIGKILL);
			waitpid(daemon->pid, NULL, 0);
			break;
		}
		g_usleep(STEP_US);
	}
	g_strfreev(daemon->words);
	g_free(daemon->log);
}

void daemons_destroy(struct daemons *daemons)
{
	end(&daemons->sessiond);
	end(&daemons->relayd);
	if (daemons->relay_output >= 0)
		close(daemons->relay_output);
	event_free(daemons->ended);
	event_free(daemons->again);
	g_free(daemons);
}
