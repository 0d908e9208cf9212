/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* EAI_NODATA */
#include "net/question.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "base/address.h"
#include "base/clock.h"
#include "base/memory.h"

/* Two for each server of several outputs; well below the service's TasksMax. */
#define THREADS_MAX (8 * ADDRESSES_MAX)
/*
 * An older question is not taken over: it may hang for ever, or ask name servers that are no longer
 * configured.
 */
#define TAKE_OVER_NS (30 * NS_PER_SECOND)

struct question {
	char host[256];
	char port[8];
	int family, flags;
	int64_t asked_at;       /* CLOCK_MONOTONIC ns */
	bool held;              /* somebody waits for it; false: given up */
	struct event *answered; /* NULL: by waiting for `ended` */
	pthread_cond_t ended;
	bool over;        /* its thread is done with it */
	int error;        /* from getaddrinfo; 0: none */
	int system_error; /* if error is EAI_SYSTEM */
	struct addrinfo *addresses;
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* guards all fields of the questions except the host and port */
static struct question *under_way[THREADS_MAX];

static void free_question(struct question *question)
{
	if (question->addresses)
		freeaddrinfo(question->addresses);
	pthread_cond_destroy(&question->ended);
	free(question);
}

static void leave(const struct question *question)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (under_way[i] == question)
			under_way[i] = NULL;
}

/* Addresses that come late stay for who asks for them soon: some name services are always slow. */
static void end(struct question *question)
{
	if (!question->held && question->addresses)
		return;
	leave(question);
	if (!question->held)
		free_question(question);
	else if (question->answered)
		event_active(question->answered, EV_TIMEOUT, 1);
	else
		pthread_cond_signal(&question->ended);
}

static void *run(void *arg)
{
	struct question *question = arg;
	struct addrinfo hints = {.ai_family = question->family,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = AI_NUMERICSERV | question->flags};
	struct addrinfo *addresses = NULL;
	int error = getaddrinfo(question->host, question->port, &hints, &addresses);
	int system_error = errno;

	pthread_mutex_lock(&lock);
	question->over = true;
	question->error = error;
	question->system_error = system_error;
	question->addresses = error ? NULL : addresses;
	end(question);
	pthread_mutex_unlock(&lock);
	return NULL;
}

/* Starts a thread that gets no signals. Returns an errno. */
static int start(struct question *question)
{
	sigset_t all, before;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, &attr, run, question);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return error;
}

/* Finds a question that was given up and asks the same; NULL if there is none. */
static struct question *find(const char *host, const char *port, int family, int flags)
{
	int64_t oldest = clock_monotonic() - TAKE_OVER_NS;

	for (int i = 0; i < THREADS_MAX; i++) {
		struct question *question = under_way[i];

		if (question && !question->held && question->asked_at > oldest &&
			question->family == family && question->flags == flags &&
			strcmp(question->host, host) == 0 && strcmp(question->port, port) == 0)
			return question;
	}
	return NULL;
}

static void init_ended(struct question *question)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&question->ended, &attr);
	pthread_condattr_destroy(&attr);
}

/* The one to give its place to a new one, if none is empty: the oldest that is answered, and that nobody
 * took.
 */
static struct question **find_oldest(void)
{
	struct question **oldest = NULL;

	for (int i = 0; i < THREADS_MAX; i++)
		if (under_way[i]->over && (!oldest || under_way[i]->asked_at < (*oldest)->asked_at))
			oldest = &under_way[i];
	return oldest;
}

static struct question **find_place(void)
{
	struct question **oldest;

	for (int i = 0; i < THREADS_MAX; i++)
		if (!under_way[i])
			return &under_way[i];
	oldest = find_oldest();
	if (oldest) {
		free_question(*oldest);
		*oldest = NULL;
	} else {
		errno = EAGAIN;
	}
	return oldest;
}

static struct question *add(const char *host, const char *port, int family, int flags)
{
	struct question **place = find_place(), *question;

	if (!place)
		return NULL;
	question = memory_get(sizeof(*question));
	g_strlcpy(question->host, host, sizeof(question->host));
	g_strlcpy(question->port, port, sizeof(question->port));
	question->family = family;
	question->flags = flags;
	question->asked_at = clock_monotonic();
	init_ended(question);
	errno = start(question);
	if (errno) {
		free_question(question);
		return NULL;
	}
	return *place = question;
}

/* With the lock held. */
static struct question *hold(const char *host, const char *port, int family, int flags)
{
	struct question *question = find(host, port, family, flags);

	if (!question)
		question = add(host, port, family, flags);
	if (question)
		question->held = true;
	return question;
}

struct question *question_ask(const char *host, const char *port, int family, struct event *answered)
{
	struct question *question;

	pthread_mutex_lock(&lock);
	question = hold(host, port, family, 0);
	if (question)
		question->answered = answered;
	if (question && question->over)
		end(question);
	pthread_mutex_unlock(&lock);
	return question;
}

static const char *words_for(const struct question *question)
{
	switch (question->error) {
	case EAI_NONAME:
		return "the name is not known";
	case EAI_NODATA:
		return "the name has none";
	case EAI_AGAIN:
		return "no name server answers";
	case EAI_SYSTEM:
		return strerror(question->system_error);
	default:
		return gai_strerror(question->error);
	}
}

bool question_answer(struct question *question, struct addrinfo **addresses, char *why, size_t why_size)
{
	bool over;

	pthread_mutex_lock(&lock);
	over = question->over;
	*addresses = over ? question->addresses : NULL;
	if (over)
		question->addresses = NULL;
	pthread_mutex_unlock(&lock);
	if (over && !*addresses)
		snprintf(why, why_size, "%s", words_for(question));
	return over;
}

/* With the lock held. */
static void let_go(struct question *question)
{
	question->held = false;
	question->answered = NULL;
	if (question->over)
		free_question(question);
}

void question_end(struct question *question)
{
	if (!question)
		return;
	pthread_mutex_lock(&lock);
	let_go(question);
	pthread_mutex_unlock(&lock);
}

/* With the lock held. */
static struct addrinfo *wait_for(struct question *question, int64_t patience_ns, char *why, size_t size)
{
	const struct timespec time = clock_timespec(clock_monotonic() + patience_ns);
	struct addrinfo *addresses = NULL;

	while (!question->over && pthread_cond_timedwait(&question->ended, &lock, &time) == 0)
		;
	if (question->over) {
		leave(question);
		addresses = question->addresses;
		question->addresses = NULL;
	}
	if (!addresses)
		snprintf(why, size, "%s",
			question->over ? words_for(question) : "the name service does not answer");
	let_go(question);
	return addresses;
}

struct addrinfo *question_wait(
	const char *host, const char *port, int flags, int64_t patience_ns, char *why, size_t size)
{
	struct addrinfo *addresses = NULL;
	struct question *question;

	pthread_mutex_lock(&lock);
	question = hold(host, port, AF_UNSPEC, flags);
	if (question)
		addresses = wait_for(question, patience_ns, why, size);
	else
		snprintf(why, size, "cannot start a thread to ask for it");
	pthread_mutex_unlock(&lock);
	return addresses;
}
