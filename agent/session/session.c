/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/session.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <lttng/lttng.h>

#include "base/clock.h"

#define CHANNEL "spans"
/* Sub-buffers of each ring, and files of each stream at the relay. */
#define SUB_BUFFERS 8
#define RELAY_FILES 8
#define SUB_BUFFER_MIN (64 * 1024)
/* Between two looks whether the relay has all data. */
#define PENDING_POLL_US 5000

/* liblttng-ctl has one connection at a time, and does not guard it: its calls come from two threads. */
static GMutex library;

#define LOCK_LIBRARY G_GNUC_UNUSED g_autoptr(GMutexLocker) locker = g_mutex_locker_new(&library)

struct session {
	char *name;
	char *url;
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
	/* what a daemon says to words that it does not know */
	if (code == -LTTNG_ERR_INVALID_PROTOCOL || code == -LTTNG_ERR_UND || code == -LTTNG_ERR_UNK ||
		code == -LTTNG_ERR_FATAL || code == -LTTNG_ERR_INVALID)
		snprintf(error, error_size,
			"cannot %s: %s; the agent was built for LTTng " LTTNG_VERSION
			", and may not be understood: is `lttng-sessiond --version` the same, up to the "
			"second "
			"number?",
			what, lttng_strerror(code));
	else
		snprintf(error, error_size, "cannot %s: %s", what, lttng_strerror(code));
	return SESSION_FAILED;
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

static int enable_channel(const struct config *config, struct lttng_handle *handle)
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
	code = lttng_enable_channel(handle, channel);
	lttng_channel_destroy(channel);
	return code;
}

/* Records the events that match, of log level @level or one that matters more. */
static int enable_event(struct lttng_handle *handle, const char *pattern, int level)
{
	struct lttng_event *event = lttng_event_create();
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->type = LTTNG_EVENT_TRACEPOINT;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_RANGE;
	event->loglevel = level;
	snprintf(event->name, sizeof(event->name), "%s", pattern);
	code = lttng_enable_event(handle, event, CHANNEL);
	lttng_event_destroy(event);
	return code == -LTTNG_ERR_UST_EVENT_ENABLED ? 0 : code;
}

/*
 * Two patterns for the same events. LTTng disables by a pattern, whatever the level, so that a session goes
 * from level to level by way of the other one: an event that both match is recorded once.
 */
static const char *const span_patterns[] = {"blkin:*", "blkin*:*"};

/* The patterns of the events that the session records, and from which level on. */
static int enable_events(uint64_t level, struct lttng_handle *handle)
{
	int code = enable_event(handle, span_patterns[0], lttng_levels[level]);

	return code ? code : enable_event(handle, "zipkin:*", LTTNG_LOGLEVEL_DEBUG);
}

static struct lttng_handle *open_handle(const char *name)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};

	return lttng_create_handle(name, &domain);
}

static int fill(const struct config *config, uint64_t level)
{
	struct lttng_handle *handle = open_handle(config->session_name);
	int code;

	if (!handle)
		return -LTTNG_ERR_NOMEM;
	code = enable_channel(config, handle);
	if (code == 0)
		code = enable_events(level, handle);
	lttng_destroy_handle(handle);
	return code;
}

void session_settings(const struct config *config, char *settings, size_t size)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_channel *channel = lttng_channel_create(&domain);

	settings[0] = '\0';
	if (!channel)
		return;
	size_channel(config, &channel->attr);
	snprintf(settings, size,
		"%s %s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " timer %" G_GINT64_FORMAT
		" sub-buffers %" G_GUINT64_FORMAT "*%" G_GUINT64_FORMAT " files %" G_GUINT64_FORMAT
		"*%" G_GUINT64_FORMAT,
		config->session_name, config->relay_host, config->relay_control_port, config->relay_data_port,
		config->live_timer, channel->attr.num_subbuf, channel->attr.subbuf_size,
		channel->attr.tracefile_count, channel->attr.tracefile_size);
	lttng_channel_destroy(channel);
}

static void prepare(const struct config *config)
{
	if (&lttng_opt_quiet)
		lttng_opt_quiet = 1;
	lttng_set_tracing_group(*config->tracing_group ? config->tracing_group : "-");
}

/* Finds a session in the daemon's list; 0, or a negative code. */
static int look_up(const char *name, uint64_t *created, bool *active)
{
	struct lttng_session *sessions = NULL;
	int count = lttng_list_sessions(&sessions), code = -LTTNG_ERR_SESS_NOT_FOUND;

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

static enum session_status find(const struct config *config, const char *name, uint64_t *created,
	bool *active, char *error, size_t error_size)
{
	int code = -LTTNG_ERR_NO_SESSIOND;

	prepare(config);
	if (lttng_session_daemon_alive() == 1)
		code = look_up(name, created, active);
	if (code == -LTTNG_ERR_SESS_NOT_FOUND)
		return SESSION_NONE;
	return code == 0 ? SESSION_OK : fail(code, error, error_size, "list the LTTng sessions");
}

enum session_status session_find(
	const struct config *config, const char *name, uint64_t *created, char *error, size_t error_size)
{
	LOCK_LIBRARY;
	bool active;

	return find(config, name, created, &active, error, error_size);
}

/* Whether the session has our channel, or none: an agent was killed before there was one, and nothing is
 * recorded. */
static bool has_our_channel(const char *name)
{
	struct lttng_handle *handle = open_handle(name);
	struct lttng_channel *channels = NULL;
	int count = handle ? lttng_list_channels(handle, &channels) : -LTTNG_ERR_NOMEM;
	bool found = count == 0 || count == -LTTNG_ERR_UST_CHAN_NOT_FOUND;

	for (int i = 0; i < count; i++)
		found |= !strcmp(channels[i].name, CHANNEL);
	free(channels);
	if (handle)
		lttng_destroy_handle(handle);
	return found;
}

/* Whether an agent with this configuration may have made @session, or begun to. */
static bool is_agents(const struct config *config, const struct lttng_session *session)
{
	g_autofree char *control = g_strdup_printf(":%" G_GUINT64_FORMAT "/", config->relay_control_port);
	g_autofree char *data = g_strdup_printf("[data: %" G_GUINT64_FORMAT "]", config->relay_data_port);
	struct lttng_domain *domains = NULL;
	int count;
	bool ours = true;

	if (!session->live_timer_interval || !strstr(session->path, control) || !strstr(session->path, data))
		return false;
	count = lttng_list_domains(session->name, &domains);
	for (int i = 0; i < count; i++)
		ours &= domains[i].type == LTTNG_DOMAIN_UST && has_our_channel(session->name);
	free(domains);
	return count >= 0 && ours;
}

enum session_status session_check(const struct config *config, char *error, size_t error_size)
{
	LOCK_LIBRARY;
	struct lttng_session *sessions = NULL;
	int count;
	bool other = false;

	prepare(config);
	count = lttng_list_sessions(&sessions);
	for (int i = 0; i < count; i++)
		other |= !strcmp(sessions[i].name, config->session_name) && !is_agents(config, &sessions[i]);
	free(sessions);
	if (count < 0)
		return fail(count, error, error_size, "list the LTTng sessions");
	if (!other)
		return SESSION_OK;
	snprintf(error, error_size,
		"an LTTng session `%s` is there that is not an agent's, and is left alone: destroy it (lttng "
		"destroy %s), or set another `name` in [session]",
		config->session_name, config->session_name);
	return SESSION_FAILED;
}

enum session_status session_create(const struct config *config, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size)
{
	LOCK_LIBRARY;
	bool active;
	int code;

	prepare(config);
	code = create_live(config, config->session_name);
	if (code == -LTTNG_ERR_EXIST_SESS) {
		snprintf(error, error_size, "an LTTng session `%s` is there already", config->session_name);
		return SESSION_FAILED;
	}
	if (code == 0)
		code = fill(config, level);
	if (code == 0)
		code = look_up(config->session_name, &identity->created, &active);
	if (code != 0) {
		lttng_destroy_session_no_wait(config->session_name);
		return fail(code, error, error_size, "create the LTTng session");
	}
	g_strlcpy(identity->name, config->session_name, sizeof(identity->name));
	session_settings(config, identity->settings, sizeof(identity->settings));
	return SESSION_OK;
}

struct session *session_adopt(const struct config *config, const char *name)
{
	struct session *session = g_new0(struct session, 1);
	char host[256] = "";

	gethostname(host, sizeof(host) - 1);
	session->name = g_strdup(name);
	session->url = g_strdup_printf("net://%s:%" G_GUINT64_FORMAT "/host/%s/%s", config->relay_host,
		config->relay_live_port, host, name);
	return session;
}

enum session_status session_start(struct session *session, char *error, size_t error_size)
{
	LOCK_LIBRARY;
	int code = lttng_start_tracing(session->name);

	return code == 0 || code == -LTTNG_ERR_TRACE_ALREADY_STARTED
		       ? SESSION_OK
		       : fail(code, error, error_size, "start the LTTng session");
}

/* Mending */

static int mend_channel(const struct config *config, struct lttng_handle *handle, const char **mended)
{
	struct lttng_channel *channels = NULL;
	int count = lttng_list_channels(handle, &channels);
	bool enabled = false;

	for (int i = 0; i < count; i++)
		enabled |= !strcmp(channels[i].name, CHANNEL) && channels[i].enabled;
	free(channels);
	if (count < 0 || enabled)
		return MIN(count, 0);
	*mended = "its channel was disabled";
	return enable_channel(config, handle);
}

/* Sets @enabled[i] for each of @patterns that is; returns 0 or LTTng's code. */
static int list_enabled(
	struct lttng_handle *handle, const char *const *patterns, size_t pattern_count, bool *enabled)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, CHANNEL, &events);

	for (size_t i = 0; i < pattern_count; i++)
		enabled[i] = false;
	for (int i = 0; i < count; i++)
		for (size_t k = 0; k < pattern_count; k++)
			enabled[k] |= events[i].enabled && !strcmp(events[i].name, patterns[k]);
	free(events);
	return MIN(count, 0);
}

static int mend_events(uint64_t level, struct lttng_handle *handle, const char **mended)
{
	const char *const patterns[] = {span_patterns[0], span_patterns[1], "zipkin:*"};
	bool enabled[G_N_ELEMENTS(patterns)];
	int code = list_enabled(handle, patterns, G_N_ELEMENTS(patterns), enabled);

	if (code != 0 || ((enabled[0] || enabled[1]) && enabled[2]))
		return code;
	*mended = "its events were disabled";
	return enable_events(level, handle);
}

static int set_level(struct lttng_handle *handle, uint64_t level)
{
	bool on[G_N_ELEMENTS(span_patterns)];
	int code = list_enabled(handle, span_patterns, G_N_ELEMENTS(span_patterns), on), next;

	/* both: an agent was killed on its way from one to the other */
	if (code == 0 && on[0] && on[1])
		code = lttng_disable_event(handle, span_patterns[1], CHANNEL);
	if (code != 0)
		return code;
	next = on[0] ? 1 : 0;
	code = enable_event(handle, span_patterns[next], lttng_levels[level]);
	if (code == 0 && on[!next])
		code = lttng_disable_event(handle, span_patterns[!next], CHANNEL);
	return code;
}

/* Sees to it that spans of @level are recorded, and those that matter more; sets @changed if they were
 * others. */
static int mend_level(struct lttng_handle *handle, uint64_t level, bool *changed)
{
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, CHANNEL, &events), right = 0, wrong = 0;

	for (int i = 0; i < count; i++) {
		if (!events[i].enabled || (strcmp(events[i].name, span_patterns[0]) != 0 &&
						  strcmp(events[i].name, span_patterns[1]) != 0))
			continue;
		if (events[i].loglevel == lttng_levels[level])
			right++;
		else
			wrong++;
	}
	free(events);
	if (count < 0 || (right == 1 && wrong == 0))
		return MIN(count, 0);
	*changed = true;
	return set_level(handle, level);
}

static int mend_start(const char *name, bool active, const char **mended)
{
	if (active)
		return 0;
	*mended = "it was stopped";
	return lttng_start_tracing(name);
}

enum session_status session_mend(const struct config *config, const char *name, uint64_t created,
	uint64_t level, struct session_mended *mended, char *error, size_t error_size)
{
	LOCK_LIBRARY;
	uint64_t found = 0;
	bool active = false;
	enum session_status status = find(config, name, &found, &active, error, error_size);
	struct lttng_handle *handle;
	int code;

	*mended = (struct session_mended){0};
	if (status != SESSION_OK || found != created)
		return status == SESSION_OK ? SESSION_NONE : status;
	handle = open_handle(name);
	code = handle ? mend_channel(config, handle, &mended->what) : -LTTNG_ERR_NOMEM;
	if (code == 0)
		code = mend_events(level, handle, &mended->what);
	if (code == 0)
		code = mend_level(handle, level, &mended->level);
	if (code == 0)
		code = mend_start(name, active, &mended->what);
	if (handle)
		lttng_destroy_handle(handle);
	return code == 0 ? SESSION_OK : fail(code, error, error_size, "set the LTTng session right again");
}

const char *session_url(const struct session *session)
{
	return session->url;
}

void session_stop(struct session *session, int64_t timeout_ns)
{
	LOCK_LIBRARY;
	int64_t deadline = clock_monotonic() + timeout_ns;

	lttng_stop_tracing_no_wait(session->name);
	while (lttng_data_pending(session->name) == 1 && clock_monotonic() < deadline)
		g_usleep(PENDING_POLL_US);
}

void session_destroy(struct session *session)
{
	LOCK_LIBRARY;

	lttng_destroy_session_no_wait(session->name);
}

void session_free(struct session *session)
{
	g_free(session->url);
	g_free(session->name);
	g_free(session);
}
