/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/tracing.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "session/channelsize.h"
#include "session/newer.h"

/* So long the session daemon waits for an answer of a program, unless LTTNG_APP_SOCKET_TIMEOUT is set for it;
 * then it closes the connection, and asks it no more. */
#define PATIENCE_NS (5 * NS_PER_SECOND)

pthread_mutex_t tracing_lock = PTHREAD_MUTEX_INITIALIZER;

/* liblttng-ctl writes messages of its own to standard error unless this is set, which its headers do not
 * declare. */
extern int lttng_opt_quiet __attribute__((weak));

void tracing_prepare(const struct config *config)
{
	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	lttng_set_tracing_group(*config->tracing_group ? config->tracing_group : "-");
}

enum session_status tracing_failure(int code, char *error, size_t error_size, const char *what)
{
	if (code == -LTTNG_ERR_NO_SESSIOND) {
		snprintf(error, error_size,
			"no LTTng session daemon answers: start it (systemctl start lttng-sessiond), "
			"and add the agent's user to group `tracing`");
		return SESSION_NO_DAEMON;
	}
	/* of 2.15 and later, which asks for the user's name */
	if (code == -LTTNG_ERR_EPERM) {
		snprintf(error, error_size,
			"cannot %s: LTTng's session daemon takes no commands of user %u: where it runs there "
			"is no such user with %u as its own group and in the group `tracing`",
			what, geteuid(), getegid());
		return SESSION_DENIED;
	}
	if (code == -LTTNG_ERR_RELAYD_VERSION_FAIL || code == -LTTNG_ERR_RELAYD_CONNECT_FAIL ||
		code == -LTTNG_ERR_ENABLE_CONSUMER_FAIL) {
		snprintf(error, error_size,
			"no LTTng relay daemon answers on the ports of [session]: start lttng-relayd");
		return SESSION_NO_RELAY;
	}
	/* the answers of a daemon that does not understand us */
	if (code == -LTTNG_ERR_INVALID_PROTOCOL || code == -LTTNG_ERR_UND || code == -LTTNG_ERR_UNK ||
		code == -LTTNG_ERR_FATAL || code == -LTTNG_ERR_INVALID)
		snprintf(error, error_size,
			"cannot %s: %s; the agent was built for LTTng " LTTNG_VERSION
			", and may not understand another: does `lttng-sessiond --version` begin with the "
			"same two numbers?",
			what, lttng_strerror(code));
	else
		snprintf(error, error_size, "cannot %s: %s", what, lttng_strerror(code));
	return SESSION_FAILED;
}

struct lttng_handle *tracing_open(const char *name)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

	return lttng_create_handle(name, &domain);
}

struct lttng_handle *tracing_open_kernel(const char *name)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_KERNEL, .buf_type = LTTNG_BUFFER_GLOBAL};

	return lttng_create_handle(name, &domain);
}

int tracing_find_session(const char *name, uint64_t *created, bool *active)
{
	struct lttng_session *sessions = NULL;
	int count = -LTTNG_ERR_NO_SESSIOND, code = -LTTNG_ERR_SESS_NOT_FOUND;

	if (lttng_session_daemon_alive() == 1)
		count = lttng_list_sessions(&sessions);
	for (int i = 0; i < count; i++) {
		if (strcmp(sessions[i].name, name) != 0)
			continue;
		*active = sessions[i].enabled;
		code = lttng_session_get_creation_time(&sessions[i], created) == LTTNG_OK
			       ? 0
			       : -LTTNG_ERR_INVALID;
	}
	free(sessions);
	return count < 0 ? count : code;
}

/* What the session has */

const struct tracing_event tracing_events[TRACING_EVENTS] = {
	{"blkin:annotation", 0},
	{"blkin:tag", 0},
	{"blkin:timestamp", 0},
	{"blkin:keyval_string", 0},
	{"blkin:keyval_integer", 0},
	{"zipkin:timestamp", 0},
	{"zipkin:keyval_string", 0},
	{"zipkin:keyval_integer", 0},
	{"zipkin:keyval", 0},
	{"blkin_canary:beat", 0},
	{"blkin:span2_emerg", 0},
	{"blkin:span_emerg", 0},
	{"blkin:span2_alert", 1},
	{"blkin:span_alert", 1},
	{"blkin:span2_crit", 2},
	{"blkin:span_crit", 2},
	{"blkin:span2_err", 3},
	{"blkin:span_err", 3},
	{"blkin:span2_warning", 4},
	{"blkin:span_warning", 4},
	{"blkin:span2_notice", 5},
	{"blkin:span_notice", 5},
	{"blkin:span2", 6},
	{"blkin:span", 6},
	{"blkin:span2_debug", 7},
	{"blkin:span_debug", 7},
};

int tracing_enable_channel(const struct config *config, struct lttng_handle *handle, const char *name)
{
	struct lttng_channel *channel = lttng_channel_create(&handle->domain);
	int code;

	if (!channel)
		return -LTTNG_ERR_NOMEM;
	snprintf(channel->name, sizeof(channel->name), "%s", name);
	channel->enabled =
		1; /* LTTng 2.13 lists this of the kernel's channel, whatever it is; 2.16 obeys it */
	/* a full ring discards, and counts, what is new: the program never waits; but a flight recorder's
	 * keeps what is newest */
	channel->attr.overwrite = handle->domain.type == LTTNG_DOMAIN_KERNEL && config_flies(config);
	channelsize_of(config, name, &channel->attr);
	if (handle->domain.type == LTTNG_DOMAIN_UST)
		newer_tune(channel);
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code;
}

int tracing_find_channel(struct lttng_handle *handle, const char *name, bool *there, bool *enabled)
{
	struct lttng_channel *channels = NULL;
	int count = lttng_list_channels(handle, &channels);

	*there = *enabled = false;
	for (int i = 0; i < count; i++) {
		*there |= !strcmp(channels[i].name, name);
		*enabled |= !strcmp(channels[i].name, name) && channels[i].enabled;
	}
	free(channels);
	return MIN(count, 0);
}

/* Of a channel that is enabled LTTng says that it exists. */
static int enable_if_not(const struct config *config, struct lttng_handle *handle, const char *name)
{
	int code = tracing_enable_channel(config, handle, name);

	return code == -LTTNG_ERR_UST_CHAN_EXIST || code == -LTTNG_ERR_KERN_CHAN_EXIST ? 0 : code;
}

static int enable_channels(const struct config *config, struct lttng_handle *handle, bool enable)
{
	static const char *const ours[] = {CHANNEL, EVENTS_CHANNEL, KERNEL_CHANNEL};
	struct lttng_channel *channels = NULL;
	int count = lttng_list_channels(handle, &channels), code = 0;

	for (size_t k = 0; k < G_N_ELEMENTS(ours); k++)
		for (int i = 0; i < count && code == 0; i++)
			if (!strcmp(channels[i].name, ours[k]))
				code = enable ? enable_if_not(config, handle, ours[k])
					      : lttng_disable_channel(handle, ours[k]);
	free(channels);
	return code;
}

int tracing_enable_channels(const struct config *config, const char *name, bool enable)
{
	struct lttng_handle *programs = tracing_open(name), *kernel = tracing_open_kernel(name);
	int64_t begun = clock_monotonic();
	int code = programs ? enable_channels(config, programs, enable) : -LTTNG_ERR_NOMEM;

	tracing_count_lost(begun);
	if (kernel && config_reads_kernel(config))
		enable_channels(config, kernel, enable);
	if (programs)
		lttng_destroy_handle(programs);
	if (kernel)
		lttng_destroy_handle(kernel);
	return code;
}

int tracing_ask_kernel(void)
{
	struct lttng_handle *handle = tracing_open_kernel("");
	struct lttng_event *events = NULL;
	int count = handle ? lttng_list_tracepoints(handle, &events) : -LTTNG_ERR_NOMEM;

	free(events);
	if (handle)
		lttng_destroy_handle(handle);
	return MIN(count, 0);
}

int tracing_add_context(struct lttng_handle *handle, enum lttng_event_context_type kind, const char *channel)
{
	struct lttng_event_context context = {.ctx = kind};

	return lttng_add_context(handle, &context, NULL, channel);
}

static int enable(struct lttng_handle *handle, const char *name)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	snprintf(event->name, sizeof(event->name), "%s", name);
	code = lttng_enable_event(handle, event, CHANNEL);
	lttng_event_destroy(event);
	return code == -LTTNG_ERR_UST_EVENT_ENABLED ? 0 : code;
}

/* Whether it records all that programs record by that name. */
static bool records_all(const struct lttng_event *event)
{
	return event->enabled && !event->filter && !event->exclusion &&
	       event->loglevel_type == LTTNG_EVENT_LOGLEVEL_ALL;
}

int tracing_list_events(struct lttng_handle *handle, bool *on)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, CHANNEL, &events);

	for (size_t i = 0; i < TRACING_EVENTS; i++)
		on[i] = false;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < TRACING_EVENTS; k++)
			on[k] |= records_all(&events[i]) && !strcmp(events[i].name, tracing_events[k].name);
	free(events);
	return MIN(count, 0);
}

void tracing_count_lost(int64_t begun)
{
	int64_t lasted = clock_monotonic() - begun, programs = lasted / PATIENCE_NS;

	if (!programs)
		return;
	ledger_add(PROGRAMS_LOST, programs);
	log_warning(
		"lttng-sessiond took %.1f s to tell programs what to record: it gave up those that did not "
		"answer for 5 s each, as they are stopped, say, %" PRId64 " at most; what they record, "
		"once they go on, until they are registered again is lost",
		(double)lasted / NS_PER_SECOND, programs);
}

int tracing_set_events(struct lttng_handle *handle, uint64_t level, const bool *on)
{
	int64_t begun = clock_monotonic();
	int code = 0;

	for (size_t i = 0; i < TRACING_EVENTS && code == 0; i++)
		if (!on[i] && tracing_events[i].level <= level)
			code = enable(handle, tracing_events[i].name);
	for (size_t i = TRACING_EVENTS; i > 0 && code == 0; i--)
		if (on[i - 1] && tracing_events[i - 1].level > level)
			code = lttng_disable_event(handle, tracing_events[i - 1].name, CHANNEL);
	tracing_count_lost(begun);
	return code;
}

int tracing_start(const char *name)
{
	int64_t begun = clock_monotonic();
	int code = lttng_start_tracing(name);

	tracing_count_lost(begun);
	return code == -LTTNG_ERR_TRACE_ALREADY_STARTED ? 0 : code;
}
