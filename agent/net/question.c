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
	int family;
	int64_t asked_at;       /* CLOCK_MONOTONIC ns */
	struct event *answered; /* NULL: given up */
	bool over;              /* its thread is done with it */
	int error;              /* from getaddrinfo; 0: none */
	int system_error;       /* if error is EAI_SYSTEM */
	struct addrinfo *addresses;
};

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* guards all fields of the questions except the host and port */
static struct question *under_way[THREADS_MAX];

static void free_question(struct question *question)
{
	if (question->addresses)
		freeaddrinfo(question->addresses);
	free(question);
}

static void leave(const struct question *question)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (under_way[i] == question)
			under_way[i] = NULL;
}

static void *run(void *arg)
{
	struct question *question = arg;
	struct addrinfo hints = {.ai_family = question->family,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP,
		.ai_flags = AI_NUMERICSERV};
	struct addrinfo *addresses = NULL;
	int error = getaddrinfo(question->host, question->port, &hints, &addresses);
	int system_error = errno;

	pthread_mutex_lock(&lock);
	leave(question);
	question->over = true;
	question->error = error;
	question->system_error = system_error;
	question->addresses = error ? NULL : addresses;
	if (question->answered)
		event_active(question->answered, EV_TIMEOUT, 1);
	else
		free_question(question);
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
static struct question *find(const char *host, const char *port, int family)
{
	int64_t oldest = clock_monotonic() - TAKE_OVER_NS;

	for (int i = 0; i < THREADS_MAX; i++) {
		struct question *question = under_way[i];

		if (question && !question->answered && question->asked_at > oldest &&
			question->family == family && strcmp(question->host, host) == 0 &&
			strcmp(question->port, port) == 0)
			return question;
	}
	return NULL;
}

static struct question *add(const char *host, const char *port, int family)
{
	struct question *question;
	int place = 0;

	while (place < THREADS_MAX && under_way[place])
		place++;
	if (place == THREADS_MAX) {
		errno = EAGAIN;
		return NULL;
	}
	question = memory_get(sizeof(*question));
	g_strlcpy(question->host, host, sizeof(question->host));
	g_strlcpy(question->port, port, sizeof(question->port));
	question->family = family;
	question->asked_at = clock_monotonic();
	errno = start(question);
	if (errno) {
		free_question(question);
		return NULL;
	}
	return under_way[place] = question;
}

struct question *question_ask(const char *host, const char *port, int family, struct event *answered)
{
	struct question *question;

	pthread_mutex_lock(&lock);
	question = find(host, port, family);
	if (!question)
		question = add(host, port, family);
	if (question)
		question->answered = answered;
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

void question_end(struct question *question)
{
	if (!question)
		return;
	pthread_mutex_lock(&lock);
	question->answered = NULL;
	if (question->over)
		free_question(question);
	pthread_mutex_unlock(&lock);
}
