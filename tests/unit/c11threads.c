/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C11's threads as POSIX's, for ThreadSanitizer, which sees these alone: a thread of librdkafka's would end
 * the process at its first call into it. Linked into a program, they stand before the C library's, whose
 * types of both kinds are the same.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <threads.h>

struct start {
	thrd_start_t run;
	void *data;
};

static int result(int code)
{
	return code == 0 ? thrd_success : code == ETIMEDOUT ? thrd_timedout : thrd_error;
}

static void *run_thread(void *data)
{
	struct start start = *(struct start *)data;

	free(data);
	return (void *)(intptr_t)start.run(start.data);
}

int thrd_create(thrd_t *thread, thrd_start_t run, void *data)
{
	struct start *start = malloc(sizeof(*start));
	int code;

	if (!start)
		return thrd_nomem;
	*start = (struct start){run, data};
	code = pthread_create(thread, NULL, run_thread, start);
	if (code != 0)
		free(start);
	return result(code);
}

int thrd_join(thrd_t thread, int *value)
{
	void *returned = NULL;
	int code = pthread_join(thread, &returned);

	if (value)
		*value = (int)(intptr_t)returned;
	return result(code);
}

/* librdkafka has plain ones only. */
int mtx_init(mtx_t *mutex, int type)
{
	return type == mtx_plain ? result(pthread_mutex_init((pthread_mutex_t *)mutex, NULL)) : thrd_error;
}

void mtx_destroy(mtx_t *mutex)
{
	pthread_mutex_destroy((pthread_mutex_t *)mutex);
}

int mtx_lock(mtx_t *mutex)
{
	return result(pthread_mutex_lock((pthread_mutex_t *)mutex));
}

int mtx_unlock(mtx_t *mutex)
{
	return result(pthread_mutex_unlock((pthread_mutex_t *)mutex));
}

int cnd_init(cnd_t *condition)
{
	return result(pthread_cond_init((pthread_cond_t *)condition, NULL));
}

void cnd_destroy(cnd_t *condition)
{
	pthread_cond_destroy((pthread_cond_t *)condition);
}

int cnd_signal(cnd_t *condition)
{
	return result(pthread_cond_signal((pthread_cond_t *)condition));
}

int cnd_broadcast(cnd_t *condition)
{
	return result(pthread_cond_broadcast((pthread_cond_t *)condition));
}

int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	return result(pthread_cond_wait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex));
}

int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until)
{
	return result(pthread_cond_timedwait((pthread_cond_t *)condition, (pthread_mutex_t *)mutex, until));
}
