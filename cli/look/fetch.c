/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/fetch.h"

#include <errno.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>
#include <sysexits.h>

#include "ask_agent.h"
#include "status/protocol.h"

#define ANSWER_MAX (64 * 1024 * 1024)

/* The command and the thread have it together: who leaves last frees it. */
struct fetch {
	char *path;
	int done;             /* an eventfd */
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t wake;
	bool asked, answered, leaving;
	struct buffer answer;
};

static void ask(const char *path, struct buffer *answer)
{
	int fd;
	ssize_t size = -1;

	if (ask_agent_open(path, AGENT_ANY, PROTOCOL_SPANS_PATH, true, answer, &fd) == EX_OK) {
		do {
			size = recv(fd, buffer_reserve(answer, 65536), 65536, 0);
			answer->size += size > 0 ? (size_t)size : 0;
		} while (answer->size < ANSWER_MAX && (size > 0 || (size < 0 && errno == EINTR)));
		close(fd);
	}
	if (size != 0) /* it did not come to its end */
		answer->size = 0;
}

static void fetch_free(struct fetch *fetch)
{
	close(fetch->done);
	buffer_free(&fetch->answer);
	pthread_mutex_destroy(&fetch->lock);
	pthread_cond_destroy(&fetch->wake);
	g_free(fetch->path);
	g_free(fetch);
}

static void *run(void *data)
{
	struct fetch *fetch = data;
	const uint64_t one = 1;

	pthread_mutex_lock(&fetch->lock);
	for (;;) {
		struct buffer answer = {0};

		while (!fetch->asked && !fetch->leaving)
			pthread_cond_wait(&fetch->wake, &fetch->lock);
		if (fetch->leaving)
			break;
		pthread_mutex_unlock(&fetch->lock);
		ask(fetch->path, &answer);
		pthread_mutex_lock(&fetch->lock);
		buffer_free(&fetch->answer);
		fetch->answer = answer;
		fetch->asked = false;
		fetch->answered = true;
		if (write(fetch->done, &one, sizeof(one)) < 0)
			fetch->answered = true; /* it is readable already */
	}
	pthread_mutex_unlock(&fetch->lock);
	fetch_free(fetch);
	return NULL;
}

struct fetch *fetch_create(const char *path)
{
	struct fetch *fetch = g_new0(struct fetch, 1);
	pthread_t thread;

	fetch->path = g_strdup(path);
	fetch->done = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pthread_mutex_init(&fetch->lock, NULL);
	pthread_cond_init(&fetch->wake, NULL);
	if (fetch->done >= 0 && pthread_create(&thread, NULL, run, fetch) == 0) {
		pthread_detach(thread);
		return fetch;
	}
	fetch_free(fetch);
	return NULL;
}

void fetch_begin(struct fetch *fetch)
{
	pthread_mutex_lock(&fetch->lock);
	fetch->asked = true;
	pthread_cond_signal(&fetch->wake);
	pthread_mutex_unlock(&fetch->lock);
}

int fetch_fd(const struct fetch *fetch)
{
	return fetch->done;
}

bool fetch_take(struct fetch *fetch, struct buffer *answer)
{
	uint64_t count;
	bool answered;

	if (read(fetch->done, &count, sizeof(count)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&fetch->lock);
	answered = fetch->answered;
	fetch->answered = false;
	if (answered) {
		buffer_free(answer);
		*answer = fetch->answer;
		fetch->answer = (struct buffer){0};
	}
	pthread_mutex_unlock(&fetch->lock);
	return answered;
}

void fetch_destroy(struct fetch *fetch)
{
	pthread_mutex_lock(&fetch->lock);
	fetch->leaving = true;
	pthread_cond_signal(&fetch->wake);
	pthread_mutex_unlock(&fetch->lock);
}
