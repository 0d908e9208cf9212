/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans in a thread pool: a span is started by the thread that hands out a job, and finished by the worker
 * that has done it.
 *
 *     pool THREADS JOBS
 *
 * Only one thread at a time may use a span, and needs no lock of its own: here it lies in the job, and the
 * queue's lock hands both over. The trace is the span "batch"; within it is a span "job" for each job, which
 * lasts from the queue to its end, and within that the span "compress" of the worker.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <blkin/blkin.h>

static const struct blkin_endpoint pool_at = {"10.0.0.3", 7000, "pool"};

struct job {
	int number;
	struct blkin_span span;
	struct job *next;
};

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job *first, **last;
	int closed; /* no more jobs will come */
};

static void pool_put(struct pool *pool, struct job *job)
{
	pthread_mutex_lock(&pool->lock);
	*pool->last = job;
	pool->last = &job->next;
	pthread_cond_signal(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

/* Waits for a job; returns NULL when there will be none. */
static struct job *pool_take(struct pool *pool)
{
	struct job *job;

	pthread_mutex_lock(&pool->lock);
	while (!pool->first && !pool->closed)
		pthread_cond_wait(&pool->changed, &pool->lock);
	job = pool->first;
	if (job) {
		pool->first = job->next;
		if (!pool->first)
			pool->last = &pool->first;
	}
	pthread_mutex_unlock(&pool->lock);
	return job;
}

static void pool_close(struct pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	pool->closed = 1;
	pthread_cond_broadcast(&pool->changed);
	pthread_mutex_unlock(&pool->lock);
}

/* What a worker does of its own accord is a span of its own: a child of the one that it was given. */
static void compress(const struct job *job)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "compress", &pool_at, blkin_span_context(&job->span));
	blkin_span_tag_int(&span, "level", job->number % 9 + 1);
	usleep(500);
	blkin_span_finish(&span);
}

static void *work(void *argument)
{
	struct pool *pool = argument;
	struct job *job;

	while ((job = pool_take(pool))) {
		/* The time since the span's start is what the job waited. */
		blkin_span_annotate(&job->span, "taken by a worker");
		compress(job);
		/* Finished where the job ends: the thread that started it knows nothing of that moment. */
		blkin_span_finish(&job->span);
		free(job);
	}
	return NULL;
}

static void hand_out(struct pool *pool, int number, const struct blkin_span *batch)
{
	struct job *job = calloc(1, sizeof(*job));

	if (!job)
		abort();
	job->number = number;
	blkin_span_start(&job->span, BLKIN_LOCAL, "job", &pool_at, blkin_span_context(batch));
	blkin_span_tag_int(&job->span, "number", number);
	/* From here on the span is the worker's: not to be touched again. */
	pool_put(pool, job);
}

int main(int argc, char **argv)
{
	struct pool pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &pool.first, 0};
	int threads = argc == 3 ? atoi(argv[1]) : 0;
	struct blkin_span batch;
	pthread_t worker[64];

	if (threads < 1 || threads > 64) {
		fprintf(stderr, "usage: pool THREADS JOBS, with 1 to 64 threads\n");
		return 64;
	}
	for (int i = 0; i < threads; i++)
		if (pthread_create(&worker[i], NULL, work, &pool))
			abort();
	blkin_span_start(&batch, BLKIN_LOCAL, "batch", &pool_at, NULL);
	for (int i = 0; i < atoi(argv[2]); i++)
		hand_out(&pool, i, &batch);
	pool_close(&pool);
	for (int i = 0; i < threads; i++)
		pthread_join(worker[i], NULL);
	/* Its children need not end before a span does; this one waits for them as it is about all of them.
	 */
	blkin_span_finish(&batch);
	return 0;
}
