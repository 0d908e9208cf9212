/* SPDX-License-Identifier: BSD-2-Clause */
/* What other threads ask of the reader: inner.h. */
#include "base/clock.h"
#include "supervise/inner.h"

int64_t requests_deadline(struct supervisor *supervisor)
{
	int64_t deadline;

	pthread_mutex_lock(&supervisor->lock);
	deadline = supervisor->stop_deadline;
	pthread_mutex_unlock(&supervisor->lock);
	return deadline;
}

static void tell_stop(struct supervisor *supervisor, int64_t left)
{
	struct buffer body = {0};

	pack_u64(&body, (uint64_t)MAX(left, 1));
	channel_post(&supervisor->channel, FRAME_STOP, &body);
	buffer_free(&body);
}

static void tell_settings(struct supervisor *supervisor)
{
	struct buffer body = {0};
	bool configured;

	pthread_mutex_lock(&supervisor->lock);
	configured = supervisor->configured;
	supervisor->configured = false;
	settings_pack(&body, &supervisor->settings);
	/* what it had before still comes */
	supervisor->channel.max =
		MAX(supervisor->channel.max, FRAME_MAX + 2 * supervisor->settings.max_pending);
	pthread_mutex_unlock(&supervisor->lock);
	if (configured)
		channel_post(&supervisor->channel, FRAME_CONFIGURE, &body);
	buffer_free(&body);
}

/* One that was started since then has the configuration already. */
static void tell_leave(struct supervisor *supervisor)
{
	bool renew;

	pthread_mutex_lock(&supervisor->lock);
	renew = supervisor->renew;
	supervisor->renew = false;
	pthread_mutex_unlock(&supervisor->lock);
	if (!renew || supervisor->leave_told || supervisor->stop_told)
		return;
	supervisor->leave_told = true;
	channel_post(&supervisor->channel, FRAME_LEAVE, NULL);
}

void requests_tell(struct supervisor *supervisor)
{
	int64_t deadline = requests_deadline(supervisor);

	tell_settings(supervisor);
	if (!deadline)
		tell_leave(supervisor);
	if (!deadline || supervisor->stop_told)
		return;
	supervisor->stop_told = true;
	tell_stop(supervisor, deadline - clock_monotonic());
}
