/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `type = file`: an uplink into files. A thread writes, because it waits for the disk; the loop only wakes
 * it.
 *
 * A batch is settled when it is written, and on disk if that is wanted. While nothing can be written, batches
 * wait in the queue or in the spool, as for a server that is away.
 */
#include <pthread.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/file/inner.h"

/* A disk that hangs, or has hung for so long already, does not hold up the loop for longer: the thread is
 * left to itself then. */
#define END_NS (3 * NS_PER_SECOND)
/* So often it is seen whether a file with lines is still there: somebody may have removed it. */
#define LOOK_NS (1 * NS_PER_SECOND)
/* A write that takes longer is worth a word. */
#define HANGS_NS (5 * NS_PER_SECOND)

/* The thread */

/* With the lock held: until when there is nothing to do if nobody says so. */
static int64_t next_look(const struct fileuplink *files)
{
	if (files->failed_at)
		return files->failed_at + (files->hurry ? files->is->retry_min : files->wait_ns);
	if (!files->writer.since)
		return INT64_MAX;
	return MIN(filewriter_due(&files->writer), files->looked_at + LOOK_NS);
}

/* While it fails, new spans are no reason to try at once. */
static bool may_wait(const struct fileuplink *files)
{
	return !files->ending && (!files->woken || files->failed_at) && clock_monotonic() < next_look(files);
}

/* Waits for something to do; false if the end is due. */
static bool wait_for_work(struct fileuplink *files)
{
	bool goes_on;

	pthread_mutex_lock(&files->lock);
	files->busy_since = 0;
	if (files->news)
		event_active(files->news, 0, 0);
	while (may_wait(files)) {
		struct timespec time = clock_timespec(next_look(files));

		if (next_look(files) == INT64_MAX)
			pthread_cond_wait(&files->changed, &files->lock);
		else
			pthread_cond_timedwait(&files->changed, &files->lock, &time);
	}
	files->woken = false;
	goes_on = !files->ending;
	pthread_mutex_unlock(&files->lock);
	return goes_on;
}

/* What is made in a reload that fails after all must not touch anything. */
static bool wait_for_beginning(struct fileuplink *files)
{
	bool goes_on;

	pthread_mutex_lock(&files->lock);
	while (!files->begun && !files->ending)
		pthread_cond_wait(&files->changed, &files->lock);
	goes_on = !files->ending;
	pthread_mutex_unlock(&files->lock);
	return goes_on;
}

static void release(struct fileuplink *files)
{
	filewriter_free(&files->writer);
	filelines_free(&files->lines);
	buffer_free(&files->identities);
	queue_unref(files->queue);
	pthread_mutex_destroy(&files->lock);
	pthread_cond_destroy(&files->changed);
	g_free(files->label);
	output_config_unref(files->is);
	g_free(files);
}

/* In memory, or in the spool. */
static bool some_wait(const struct fileuplink *files)
{
	struct account *account = queue_account(files->queue);
	struct account_rows of;
	struct ledger rows;

	ledger_read_with(&rows, &account, &of, 1);
	return of.row[SPANS_QUEUED] + of.row[SPANS_ENTRUSTED] + of.row[SPANS_SPOOLED] > 0;
}

static void *run(void *data)
{
	struct fileuplink *files = data;
	bool abandoned, goes_on = wait_for_beginning(files);

	while (goes_on) {
		filework(files);
		goes_on = wait_for_work(files);
	}
	if (filewriter_close(&files->writer, some_wait(files)) != 0)
		log_warning("output %s: %s; the next start finishes it", files->label, files->writer.error);
	filework_tell_lost(files);
	filework_tell_removed(files);
	pthread_mutex_lock(&files->lock);
	files->over = true;
	abandoned = files->abandoned;
	pthread_cond_broadcast(&files->changed);
	pthread_mutex_unlock(&files->lock);
	if (abandoned)
		release(files);
	return NULL;
}

/* The loop */

static void on_news(evutil_socket_t fd, short what, void *data)
{
	struct fileuplink *files = data;
	void (*drained)(void *data) = files->drained;

	(void)fd;
	(void)what;
	pthread_mutex_lock(&files->lock);
	if (!files->begun)
		pthread_cond_broadcast(&files->changed);
	files->begun = true;
	pthread_mutex_unlock(&files->lock);
	if (!drained || !queue_done(files->queue))
		return;
	files->drained = NULL;
	drained(files->drained_data);
}

static void wake(struct uplink *owned)
{
	struct fileuplink *files = (struct fileuplink *)owned;

	pthread_mutex_lock(&files->lock);
	files->woken = true;
	pthread_cond_broadcast(&files->changed);
	pthread_mutex_unlock(&files->lock);
	/* the spooler may have had the last */
	if (files->drained)
		event_active(files->news, 0, 0);
}

static void when_drained(struct uplink *owned, void (*done)(void *data), void *data)
{
	struct fileuplink *files = (struct fileuplink *)owned;

	files->drained = done;
	files->drained_data = data;
	pthread_mutex_lock(&files->lock);
	files->hurry = true;
	pthread_cond_broadcast(&files->changed);
	pthread_mutex_unlock(&files->lock);
	event_active(files->news, 0, 0);
}

static void read_hang(const struct fileuplink *files, struct uplink_server_state *state)
{
	int64_t busy = files->busy_since ? clock_monotonic() - files->busy_since : 0;

	if (files->health.failing || busy < HANGS_NS)
		return;
	state->fault = FAULT_FILE;
	state->failing_since = files->busy_since;
	g_snprintf(state->error, sizeof(state->error), "the disk has not answered for %lld s",
		(long long)(busy / NS_PER_SECOND));
}

static void read_state(const struct uplink *owned, struct uplink_state *state)
{
	struct fileuplink *files = (struct fileuplink *)owned;
	struct uplink_server_state *one = &state->servers[0];

	memset(state, 0, sizeof(*state));
	pthread_mutex_lock(&files->lock);
	health_read(&files->health, one);
	read_hang(files, one);
	state->lost = files->lost;
	state->lost_at = files->lost_at;
	pthread_mutex_unlock(&files->lock);
	one->server = files->is->directory;
	one->serving = true;
	one->up = !one->error[0];
	state->server_count = 1;
	state->up = one->up;
	state->type = "file";
	state->server = one->server;
	memcpy(state->error, one->error, sizeof(state->error));
}

static void destroy(struct uplink *owned)
{
	struct fileuplink *files = (struct fileuplink *)owned;
	struct event *news = files->news;
	struct timespec time;
	bool over;
	int waited = 0;

	pthread_mutex_lock(&files->lock);
	time = clock_timespec((files->busy_since ? files->busy_since : clock_monotonic()) + END_NS);
	files->ending = true;
	files->news = NULL;
	pthread_cond_broadcast(&files->changed);
	while (!files->over && waited == 0)
		waited = pthread_cond_timedwait(&files->changed, &files->lock, &time);
	over = files->over;
	files->abandoned = !over;
	if (!over)
		pthread_detach(files->thread);
	pthread_mutex_unlock(&files->lock);
	event_free(news);
	if (over) {
		pthread_join(files->thread, NULL);
		release(files);
	}
}

static const struct uplink_kind kind = {
	.destroy = destroy,
	.wake = wake,
	.when_drained = when_drained,
	.read_state = read_state,
};

static enum filelines_are lines_of(enum batch_format format)
{
	switch (format) {
	case BATCH_OTLP_SPANS:
		return FILELINES_OTLP;
	case BATCH_EVENT_JSON:
		return FILELINES_EVENTS;
	case BATCH_MESSAGES:
		return FILELINES_MESSAGES;
	default:
		return FILELINES_ZIPKIN;
	}
}

static void init(struct fileuplink *files, const struct uplink_options *options)
{
	bool named = strcmp(options->name, "default") != 0;
	const struct output_config *is = options->is;
	const struct filewriter_options to = {
		.directory = is->directory,
		.lines = lines_of(files->format),
		.make = is->own_directory,
		.take_up = !options->patient,
		.record = options->record,
		.sync_each = is->sync == CONFIG_FILE_SYNC_BATCH,
		.rotate_size = is->rotate_size,
		.rotate_ns = is->rotate_time,
		.total_size = is->total_size,
	};
	pthread_condattr_t attr;

	files->uplink.kind = &kind;
	files->is = output_config_ref(is);
	files->label = g_strconcat(named ? options->name : "", named ? " in " : "", is->directory, NULL);
	filewriter_init(&files->writer, &to);
	filelines_init(&files->lines, files->format);
	pthread_mutex_init(&files->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&files->changed, &attr);
	pthread_condattr_destroy(&attr);
	health_init(&files->health, files->label, options->kind);
	health_idle(&files->health, "nothing was written yet");
	files->health.said_connected = true; /* in other words */
}

static struct uplink *create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options)
{
	struct fileuplink *files = g_new0(struct fileuplink, 1);

	files->format = uplink_format(options->is, options->kind);
	init(files, options);
	files->queue = queue_ref(queue);
	files->news = event_new(base, -1, EV_PERSIST, on_news, files);
	if (!files->news)
		g_error("out of memory");
	event_active(files->news, 0, 0);
	if (pthread_create(&files->thread, NULL, run, files) == 0)
		return &files->uplink;
	log_error("[%s]: its thread cannot be started: too many threads, or too little memory",
		options->is->section);
	event_free(files->news);
	release(files);
	return NULL;
}

/* For its identity. */
static bool looks(const struct output_config *output)
{
	(void)output;
	return true;
}

/* Files get no item of ours, so there is no probe. */
const struct uplink_type uplink_type_file = {
	.events = BATCH_EVENT_JSON,
	.looks = looks,
	.create = create,
};
