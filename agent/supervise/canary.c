/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* close_range */
#include "supervise/canary.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "handover/page.h"
#include "session/sharedmemory.h"
#include "supervise/beat.h"
#include "supervise/child.h"

#define PROGRAM "blkin-canary"
#define NO_PROGRAM 127
/* Between two events; and an event is late after so long, and CANARY_TURNS. */
#define PERIOD_NS (5 * NS_PER_SECOND)
#define LATE_NS (5 * NS_PER_SECOND)
/* Until the first event is recorded, as LTTng takes a moment to register a program. */
#define FIRST_NS (500 * NS_PER_MS)
/* For so long nothing may record its event before that is worth a word. */
#define UNRECORDED_NS (10 * NS_PER_SECOND)
/* One that does not answer for so long, as somebody has stopped it, say, is ended; one that ended is started
 * again after so long. */
#define ANSWER_NS (30 * NS_PER_SECOND)
#define RESTART_NS (60 * NS_PER_SECOND)
/* When it is to end by itself it may take so long. */
#define END_NS (500 * NS_PER_MS)
#define STEP_US 5000
/* With room for the buffers of so many users it is started. */
#define ROOM_USERS 3
/* Events that may be under way: it is known when each was recorded. */
#define UNDER_WAY 256

struct canary {
	const struct page *page;
	struct sharedmemory memory;
	int64_t late;                /* when an event is, ns */
	pid_t pid;                   /* 0: it does not run */
	int socket;                  /* -1 then */
	int64_t start;               /* not before; CLOCK_MONOTONIC ns, as below */
	int64_t next;                /* event, not before */
	int64_t asked;               /* since then it owes an answer; 0: it does not */
	int64_t unrecorded;          /* since then no session records its events; 0: one does */
	bool begun;                  /* one was recorded */
	uint64_t number;             /* of the next event */
	uint64_t due;                /* and of the first that has not come back */
	int64_t recorded[UNDER_WAY]; /* when these were; 0: they were not */
	bool told;                   /* the log has why there is none */

	pthread_mutex_t lock; /* guards the rest */
	struct canary_state state;
};

/* Numbers that no program can guess, and that never wrap. */
static uint64_t choose_number(void)
{
	uint64_t number = 0;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != sizeof(number))
		number = (uint64_t)clock_wall() * UINT64_C(0x9e3779b97f4a7c15);
	return (number >> 1) | 1;
}

struct canary *canary_create(const struct config *config, struct page *page)
{
	struct canary *canary = g_new0(struct canary, 1);

	canary->page = page;
	canary->late = LATE_NS + CANARY_TURNS * config->live_timer;
	sharedmemory_look(config, &canary->memory);
	canary->socket = -1;
	canary->number = canary->due = choose_number();
	canary->state.mood = config->canary ? CANARY_STARTS : CANARY_OFF;
	canary->state.lag = -1;
	atomic_store(&page->canary_first, canary->number);
	pthread_mutex_init(&canary->lock, NULL);
	return canary;
}

/* The process */

/* In the child. Nothing here may allocate. */
static void become(const char *program, int end, char *const *environment)
{
	char *const words[] = {PROGRAM, NULL};
	sigset_t none;

	if (dup2(end, CANARY_SOCKET) < 0)
		_exit(NO_PROGRAM);
	fcntl(CANARY_SOCKET, F_SETFD, 0);
	close_range(CANARY_SOCKET + 1, ~0U, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, words, environment);
	_exit(NO_PROGRAM);
}

/* There is none, or no more. */
static void miss(struct canary *canary, const char *why)
{
	canary->start = clock_monotonic() + RESTART_NS;
	pthread_mutex_lock(&canary->lock);
	canary->state.mood = CANARY_MISSING;
	canary->state.registered = false;
	g_strlcpy(canary->state.error, why, sizeof(canary->state.error));
	pthread_mutex_unlock(&canary->lock);
	if (!canary->told)
		log_info("no event of the agent's own tells that what programs record arrives: %s", why);
	canary->told = true;
}

/* Whether there is room for its buffers and another user's, and still for one more: or else the agent itself
 * would be why programs are not traced. */
static bool has_room(struct canary *canary)
{
	sharedmemory_refresh(&canary->memory);
	return !canary->memory.size || canary->memory.free >= ROOM_USERS * canary->memory.need;
}

/* It tells LTTng nothing of the libraries that it has. With a short LTTNG_UST_REGISTER_TIMEOUT, a session
 * daemon that is busy would not enable its event. */
static char **make_environment(void)
{
	char **environment = g_environ_unsetenv(g_get_environ(), "LTTNG_UST_REGISTER_TIMEOUT");

	return g_environ_setenv(environment, "LTTNG_UST_WITHOUT_BADDR_STATEDUMP", "1", TRUE);
}

static void start(struct canary *canary)
{
	g_autofree char *program = child_program(PROGRAM);
	g_auto(GStrv) environment = make_environment();
	int ends[2];

	if (!has_room(canary)) {
		miss(canary, SHAREDMEMORY_FOLDER " has too little room for the buffers of more users");
		return;
	}
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
		miss(canary, g_strerror(errno));
		return;
	}
	canary->pid = fork();
	if (canary->pid == 0)
		become(program, ends[1], environment);
	close(ends[1]);
	canary->socket = ends[0];
	canary->next = canary->asked = canary->unrecorded = 0;
	canary->begun = false;
	if (canary->pid < 0) {
		close(ends[0]);
		canary->socket = -1;
		canary->pid = 0;
		miss(canary, g_strerror(errno));
	}
}

/* By itself, as it may be in the middle of an event; or by force. */
static int end(struct canary *canary, int64_t patience)
{
	int64_t until = clock_monotonic() + patience;
	int status = 0;

	close(canary->socket);
	canary->socket = -1;
	while (waitpid(canary->pid, &status, WNOHANG) == 0) {
		if (clock_monotonic() >= until) {
			kill(canary->pid, SIGKILL);
			waitpid(canary->pid, &status, 0);
			break;
		}
		g_usleep(STEP_US);
	}
	canary->pid = 0;
	return status;
}

static void explain_end(struct canary *canary, int status)
{
	char why[256];

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
		snprintf(why, sizeof(why),
			"%s cannot be started: is it in %s, and LTTng-UST (liblttng-ust1) installed?",
			PROGRAM, READER_FOLDER);
	else if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "%s was ended by signal %d", PROGRAM, WTERMSIG(status));
	else
		snprintf(why, sizeof(why), "%s ended with code %d", PROGRAM, WEXITSTATUS(status));
	miss(canary, why);
}

/* Events */

static void ask(struct canary *canary, int64_t now)
{
	if (send(canary->socket, &canary->number, sizeof(canary->number), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return; /* it has ended, as is seen when its answer is taken */
	canary->recorded[canary->number % UNDER_WAY] = 0;
	canary->number++;
	canary->asked = now;
}

static void take_answer(struct canary *canary, uint8_t answer)
{
	bool recorded = answer & CANARY_RECORDED;

	if (recorded)
		canary->recorded[(canary->number - 1) % UNDER_WAY] = canary->asked;
	if (recorded)
		canary->unrecorded = 0;
	else if (!canary->unrecorded)
		canary->unrecorded = canary->asked;
	canary->begun |= recorded;
	canary->next = canary->asked + (canary->begun ? PERIOD_NS : FIRST_NS);
	canary->asked = 0;
	canary->told = false;
	pthread_mutex_lock(&canary->lock);
	canary->state.registered = answer & CANARY_REGISTERED;
	canary->state.error[0] = '\0';
	pthread_mutex_unlock(&canary->lock);
}

/* Looks what has come back. */
static void look(struct canary *canary)
{
	uint64_t last = atomic_load(&canary->page->canary_last);
	int64_t came = atomic_load(&canary->page->canary_came), recorded;

	/* the reader is not believed: only events that are under way come back */
	if (last < canary->due || last >= canary->number)
		return;
	recorded = canary->recorded[last % UNDER_WAY];
	canary->due = last + 1;
	pthread_mutex_lock(&canary->lock);
	canary->state.came = clock_monotonic();
	canary->state.lag = CLAMP(came, recorded, canary->state.came) - recorded;
	pthread_mutex_unlock(&canary->lock);
}

/* When the first was recorded of those that are away; 0: none is. */
static int64_t away_since(const struct canary *canary)
{
	uint64_t from = canary->number - canary->due > UNDER_WAY ? canary->number - UNDER_WAY : canary->due;

	for (uint64_t number = from; number < canary->number; number++)
		if (canary->recorded[number % UNDER_WAY])
			return canary->recorded[number % UNDER_WAY];
	return 0;
}

static void judge(struct canary *canary, int64_t now)
{
	struct canary_state *state = &canary->state;
	int64_t away = away_since(canary);

	pthread_mutex_lock(&canary->lock);
	if (away && now - away >= canary->late) {
		state->mood = CANARY_LATE;
		state->since = away;
	} else if (canary->unrecorded && now - canary->unrecorded >= UNRECORDED_NS) {
		state->mood = CANARY_UNRECORDED;
		state->since = canary->unrecorded;
	} else {
		state->mood = state->came ? CANARY_WELL : CANARY_STARTS;
	}
	pthread_mutex_unlock(&canary->lock);
}

static void attend(struct canary *canary, int64_t now)
{
	uint8_t answer;
	ssize_t size = recv(canary->socket, &answer, sizeof(answer), MSG_DONTWAIT);

	if (size == 0) {
		explain_end(canary, end(canary, END_NS));
		return;
	}
	if (size == sizeof(answer) && canary->asked)
		take_answer(canary, answer);
	look(canary);
	if (canary->asked && now - canary->asked >= ANSWER_NS) {
		end(canary, 0);
		miss(canary, PROGRAM " did not answer, and was ended");
		return;
	}
	if (!canary->asked && now >= canary->next)
		ask(canary, now);
	judge(canary, now);
}

/* It waits for another session; what it has recorded into the last one may be lost with that. */
static void rest(struct canary *canary)
{
	end(canary, END_NS);
	canary->due = canary->number;
	pthread_mutex_lock(&canary->lock);
	canary->state.mood = CANARY_STARTS;
	canary->state.registered = false;
	pthread_mutex_unlock(&canary->lock);
}

void canary_tick(struct canary *canary, enum canary_session session)
{
	int64_t now = clock_monotonic();

	if (canary->state.mood == CANARY_OFF)
		return;
	if (canary->pid && session == CANARY_SESSION_NONE)
		rest(canary);
	else if (canary->pid)
		attend(canary, now);
	else if (session == CANARY_SESSION_READ && now >= canary->start)
		start(canary);
}

bool canary_is_late(const struct canary *canary)
{
	return canary->state.mood == CANARY_LATE;
}

void canary_blame(struct canary *canary, enum canary_stage stage)
{
	pthread_mutex_lock(&canary->lock);
	canary->state.stage = stage;
	pthread_mutex_unlock(&canary->lock);
}

void canary_read(struct canary *canary, struct canary_state *state)
{
	pthread_mutex_lock(&canary->lock);
	*state = canary->state;
	pthread_mutex_unlock(&canary->lock);
	if (state->mood == CANARY_LATE)
		state->lag = clock_monotonic() - state->since;
}

void canary_destroy(struct canary *canary)
{
	if (canary->pid)
		end(canary, END_NS);
	pthread_mutex_destroy(&canary->lock);
	g_free(canary);
}
