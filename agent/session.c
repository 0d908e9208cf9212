/* SPDX-License-Identifier: BSD-2-Clause */
#include "session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#define CHANNEL "spans"
/* Sub-buffers of each ring, and files of each stream at the relay. */
#define SUB_BUFFERS 8
#define RELAY_FILES 8
#define SUB_BUFFER_MIN (64 * 1024)

struct session {
	char *name;
	char *url;
	struct lttng_handle *handle;
};

/* liblttng-ctl writes its own complaints to standard error unless this, which its headers do not name, is
 * set. */
extern int lttng_opt_quiet __attribute__((weak));

/* LTTng's numbers for the levels that spans have. */
static const int lttng_levels[] = {LTTNG_LOGLEVEL_EMERG, LTTNG_LOGLEVEL_ALERT, LTTNG_LOGLEVEL_CRIT,
	LTTNG_LOGLEVEL_ERR, LTTNG_LOGLEVEL_WARNING, LTTNG_LOGLEVEL_NOTICE, LTTNG_LOGLEVEL_INFO,
	LTTNG_LOGLEVEL_DEBUG};

/* The largest power of two that is not above @size. */
static uint64_t power_of_two(uint64_t size)
{
	return UINT64_C(1) << (63 - __builtin_clzll(size));
}

/* A user's memory and disk are shared by as many rings and streams as there are CPUs. */
static void size_channel(const struct config *config, struct lttng_channel_attr *attr)
{
	uint64_t cpus = (uint64_t)sysconf(_SC_NPROCESSORS_CONF);

	attr->num_subbuf = SUB_BUFFERS;
	attr->subbuf_size = MAX(power_of_two(config->memory / cpus / SUB_BUFFERS), SUB_BUFFER_MIN);
	attr->tracefile_count = RELAY_FILES;
	attr->tracefile_size = MAX(config->disk / cpus / RELAY_FILES, attr->subbuf_size);
}

static enum session_status fail(int code, char *error, size_t error_size, const char *what)
{
	if (code == -LTTNG_ERR_NO_SESSIOND) {
		snprintf(error, error_size,
			"no LTTng session daemon answers: start it (systemctl start lttng-sessiond), "
			"and let the agent's user be in group `tracing`");
		return SESSION_NO_DAEMON;
	}
	if (code == -LTTNG_ERR_RELAYD_VERSION_FAIL || code == -LTTNG_ERR_RELAYD_CONNECT_FAIL ||
		code == -LTTNG_ERR_ENABLE_CONSUMER_FAIL) {
		snprintf(error, error_size,
			"no LTTng relay daemon answers on the ports of [session]: start lttng-relayd");
		return SESSION_NO_RELAY;
	}
	snprintf(error, error_size, "cannot %s: %s", what, lttng_strerror(code));
	return SESSION_FAILED;
}

/* What an agent that was killed left behind. */
static void destroy_leftover(const char *name)
{
	struct lttng_session *sessions = NULL;
	int count = lttng_list_sessions(&sessions);

	for (int i = 0; i < count; i++)
		if (!strcmp(sessions[i].name, name))
			lttng_destroy_session_no_wait(name);
	free(sessions);
}

static int create_live(const struct config *config, const char *name)
{
	g_autofree char *control = g_strdup_printf(
		"tcp://%s:%" G_GUINT64_FORMAT, config->relay_host, config->relay_control_port);
	g_autofree char *data =
		g_strdup_printf("tcp://%s:%" G_GUINT64_FORMAT, config->relay_host, config->relay_data_port);
	struct lttng_session_descriptor *descriptor = lttng_session_descriptor_live_network_create(
		name, control, data, (unsigned long long)config->live_timer / 1000);
	enum lttng_error_code code;

	if (!descriptor)
		return -LTTNG_ERR_INVALID;
	code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	return code == LTTNG_OK ? 0 : -(int)code;
}

static int enable_channel(const struct config *config, struct session *session)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_channel *channel = lttng_channel_create(&domain);
	int code;

	if (!channel)
		return -LTTNG_ERR_NOMEM;
	snprintf(channel->name, sizeof(channel->name), CHANNEL);
	channel->attr.overwrite =
		0; /* a full ring discards, and counts, what is new: the program never waits */
	size_channel(config, &channel->attr);
	code = lttng_enable_channel(session->handle, channel);
	lttng_channel_destroy(channel);
	return code;
}

/* Records the events that match, of log level @level or one that matters more. */
static int enable_event(struct session *session, const char *pattern, int level)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_RANGE;
	event->loglevel = level;
	snprintf(event->name, sizeof(event->name), "%s", pattern);
	code = lttng_enable_event(session->handle, event, CHANNEL);
	lttng_event_destroy(event);
	return code;
}

static int fill(const struct config *config, struct session *session)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	int code;

	session->handle = lttng_create_handle(session->name, &domain);
	if (!session->handle)
		return -LTTNG_ERR_NOMEM;
	code = enable_channel(config, session);
	if (code == 0)
		code = enable_event(session, "blkin:*", lttng_levels[config->level]);
	if (code == 0)
		code = enable_event(session, "zipkin:*", LTTNG_LOGLEVEL_DEBUG);
	return code;
}

enum session_status session_create(
	const struct config *config, struct session **session, char *error, size_t error_size)
{
	struct session *made = g_new0(struct session, 1);
	char host[256] = "";
	int code;

	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	lttng_set_tracing_group(*config->tracing_group ? config->tracing_group : "-");
	if (lttng_session_daemon_alive() != 1) {
		g_free(made);
		return fail(-LTTNG_ERR_NO_SESSIOND, error, error_size, "");
	}
	gethostname(host, sizeof(host) - 1);
	made->name = g_strdup(config->session_name);
	made->url = g_strdup_printf("net://%s:%" G_GUINT64_FORMAT "/host/%s/%s", config->relay_host,
		config->relay_live_port, host, made->name);
	destroy_leftover(made->name);
	code = create_live(config, made->name);
	if (code == 0)
		code = fill(config, made);
	if (code == 0) {
		*session = made;
		return SESSION_OK;
	}
	session_destroy(made);
	return fail(code, error, error_size, "create the LTTng session");
}

enum session_status session_start(struct session *session, char *error, size_t error_size)
{
	int code = lttng_start_tracing(session->name);

	return code == 0 ? SESSION_OK : fail(code, error, error_size, "start the LTTng session");
}

const char *session_url(const struct session *session)
{
	return session->url;
}

void session_stop(struct session *session)
{
	lttng_stop_tracing(session->name);
}

void session_destroy(struct session *session)
{
	lttng_destroy_session_no_wait(session->name);
	if (session->handle)
		lttng_destroy_handle(session->handle);
	g_free(session->url);
	g_free(session->name);
	g_free(session);
}
