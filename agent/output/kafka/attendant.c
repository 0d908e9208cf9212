/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/attendant.h"

#include <pthread.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "output/kafka/library.h"

struct attendant {
	rd_kafka_t *client;
	rd_kafka_topic_t *topic;
	int timeout_ms;
	int fd;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	rd_kafka_resp_err_t answer;
	bool asked, answered, ending, over, abandoned;
	void (*release)(void *data);
	void *data;
};

/* The thread */

/* Without a leader, what is sent to a partition waits. */
static rd_kafka_resp_err_t error_of(const struct rd_kafka_metadata_topic *topic)
{
	rd_kafka_resp_err_t error = topic->err;

	for (int i = 0; i < topic->partition_cnt && !error; i++)
		if (topic->partitions[i].leader < 0)
			error = RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
	if (!error && topic->partition_cnt == 0)
		error = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
	return error;
}

static rd_kafka_resp_err_t ask(const struct attendant *attendant)
{
	const struct rd_kafka_metadata *found = NULL;
	rd_kafka_resp_err_t error =
		rd->metadata(attendant->client, 0, attendant->topic, &found, attendant->timeout_ms);

	if (error)
		return error;
	if (!attendant->topic)
		error = RD_KAFKA_RESP_ERR_NO_ERROR;
	else
		error = found->topic_cnt == 1 ? error_of(&found->topics[0])
					      : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
	rd->metadata_destroy(found);
	return error;
}

/* With the lock held. */
static void answer(struct attendant *attendant, rd_kafka_resp_err_t error)
{
	static const uint64_t once = 1;

	attendant->answer = error;
	attendant->answered = true;
	/* the file is closed once nobody waits for answers */
	if (!attendant->ending && write(attendant->fd, &once, sizeof(once)) < 0)
		g_warn_if_reached();
}

static void finish(struct attendant *attendant)
{
	attendant->release(attendant->data);
	pthread_mutex_destroy(&attendant->lock);
	pthread_cond_destroy(&attendant->changed);
	g_free(attendant);
}

static void attend(struct attendant *attendant)
{
	rd_kafka_resp_err_t error;

	pthread_mutex_lock(&attendant->lock);
	while (!attendant->ending) {
		if (!attendant->asked) {
			pthread_cond_wait(&attendant->changed, &attendant->lock);
			continue;
		}
		pthread_mutex_unlock(&attendant->lock);
		error = ask(attendant);
		pthread_mutex_lock(&attendant->lock);
		attendant->asked = false;
		answer(attendant, error);
	}
	pthread_mutex_unlock(&attendant->lock);
}

static void *run(void *data)
{
	struct attendant *attendant = data;
	bool abandoned;

	attend(attendant);
	if (attendant->topic)
		rd->topic_destroy(attendant->topic);
	rd->destroy(attendant->client);
	pthread_mutex_lock(&attendant->lock);
	attendant->over = true;
	abandoned = attendant->abandoned;
	pthread_cond_broadcast(&attendant->changed);
	pthread_mutex_unlock(&attendant->lock);
	if (abandoned)
		finish(attendant);
	return NULL;
}

/* The loop */

void attendant_ask(struct attendant *attendant)
{
	pthread_mutex_lock(&attendant->lock);
	attendant->asked = true;
	pthread_cond_broadcast(&attendant->changed);
	pthread_mutex_unlock(&attendant->lock);
}

bool attendant_take_answer(struct attendant *attendant, rd_kafka_resp_err_t *error)
{
	bool answered;

	pthread_mutex_lock(&attendant->lock);
	answered = attendant->answered;
	attendant->answered = false;
	*error = attendant->answer;
	pthread_mutex_unlock(&attendant->lock);
	return answered;
}

void attendant_end(struct attendant *attendant, int64_t patience_ns, void (*release)(void *data), void *data)
{
	struct timespec time = clock_timespec(clock_monotonic() + patience_ns);
	bool over;
	int waited = 0;

	pthread_mutex_lock(&attendant->lock);
	attendant->release = release;
	attendant->data = data;
	attendant->ending = true;
	pthread_cond_broadcast(&attendant->changed);
	while (!attendant->over && waited == 0)
		waited = pthread_cond_timedwait(&attendant->changed, &attendant->lock, &time);
	over = attendant->over;
	attendant->abandoned = !over;
	if (!over)
		pthread_detach(attendant->thread);
	pthread_mutex_unlock(&attendant->lock);
	if (over) {
		pthread_join(attendant->thread, NULL);
		finish(attendant);
	}
}

struct attendant *attendant_create(rd_kafka_t *client, rd_kafka_topic_t *topic, int64_t timeout_ns, int fd)
{
	struct attendant *attendant = g_new0(struct attendant, 1);
	pthread_condattr_t attr;

	attendant->client = client;
	attendant->topic = topic;
	attendant->timeout_ms = (int)MIN(timeout_ns / NS_PER_MS, G_MAXINT);
	attendant->fd = fd;
	pthread_mutex_init(&attendant->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&attendant->changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&attendant->thread, NULL, run, attendant) == 0)
		return attendant;
	pthread_mutex_destroy(&attendant->lock);
	pthread_cond_destroy(&attendant->changed);
	g_free(attendant);
	return NULL;
}
