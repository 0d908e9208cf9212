/* SPDX-License-Identifier: BSD-2-Clause */
/* What other threads ask of the reader: inner.h. */
#include "base/clock.h"
#include "supervise/inner.h"

int64_t requests_deadline(struct collector *collector)
{
	int64_t deadline;

	pthread_mutex_lock(&collector->lock);
	deadline = collector->stop_deadline;
	pthread_mutex_unlock(&collector->lock);
	return deadline;
}

static void tell_stop(struct collector *collector, int64_t left)
{
	struct buffer body = {0};

	pack_u64(&body, (uint64_t)MAX(left, 1));
	channel_post(&collector->channel, FRAME_STOP, &body);
	buffer_free(&body);
}

static void tell_settings(struct collector *collector)
{
	struct buffer body = {0};
	bool configured;

	pthread_mutex_lock(&collector->lock);
	configured = collector->configured;
	collector->configured = false;
	settings_pack(&body, &collector->settings);
	/* what it had before still comes */
	collector->channel.max = MAX(collector->channel.max, FRAME_MAX + 2 * collector->settings.max_pending);
	pthread_mutex_unlock(&collector->lock);
	if (configured)
		channel_post(&collector->channel, FRAME_CONFIGURE, &body);
	buffer_free(&body);
}

/* One that was started since then has the configuration already. */
static void tell_leave(struct collector *collector)
{
	bool renew;

	pthread_mutex_lock(&collector->lock);
	renew = collector->renew;
	collector->renew = false;
	pthread_mutex_unlock(&collector->lock);
	if (!renew || collector->leave_told || collector->stop_told)
		return;
	collector->leave_told = true;
	channel_post(&collector->channel, FRAME_LEAVE, NULL);
}

void requests_tell(struct collector *collector)
{
	int64_t deadline = requests_deadline(collector);

	tell_settings(collector);
	if (!deadline)
		tell_leave(collector);
	if (!deadline || collector->stop_told)
		return;
	collector->stop_told = true;
	tell_stop(collector, deadline - clock_monotonic());
}
