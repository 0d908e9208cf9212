/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating the session: session.h. */
#include "session/session.h"

#include <stdio.h>
#include <string.h>

#include "session/beside.h"
#include "session/channelsize.h"
#include "session/newer.h"
#include "session/relayport.h"
#include "session/tracing.h"

/* Sessions that are made before one that takes another's place. */
#define BETWEEN 2

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
	newer_write_ctf_1(descriptor);
	code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	return code == LTTNG_OK ? 0 : -(int)code;
}

static int fill(const struct config *config, const char *name, uint64_t level)
{
	static const bool none[TRACING_EVENTS];
	struct lttng_handle *handle = tracing_open(name);
	int code;

	if (!handle)
		return -LTTNG_ERR_NOMEM;
	code = tracing_enable_channel(config, handle, CHANNEL);
	if (code == 0)
		code = tracing_set_events(handle, level, none);
	lttng_destroy_handle(handle);
	return code;
}

static void write_settings(
	const struct config *config, const struct beside_made *made, char *settings, size_t size)
{
	struct lttng_domain domain = {.type = LTTNG_DOMAIN_UST, .buf_type = LTTNG_BUFFER_PER_UID};
	struct lttng_channel *channel = lttng_channel_create(&domain);
	g_autofree char *beside = beside_settings(config, made);

	settings[0] = '\0';
	if (!channel)
		return;
	channelsize_of(config, CHANNEL, &channel->attr);
	snprintf(settings, size,
		"%s %s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " timer %" G_GINT64_FORMAT
		" sub-buffers %" G_GUINT64_FORMAT "*%" G_GUINT64_FORMAT " files %" G_GUINT64_FORMAT
		"*%" G_GUINT64_FORMAT " events %d%s",
		config->session_name, config->relay_host, config->relay_control_port, config->relay_data_port,
		config->live_timer, channel->attr.num_subbuf, channel->attr.subbuf_size,
		channel->attr.tracefile_count, channel->attr.tracefile_size, TRACING_EVENTS, beside);
	/* another `memory` is meant to take effect also where these have grown to its size */
	if (channelsize_memory(config) > config->memory)
		snprintf(settings + strlen(settings), size - strlen(settings),
			" grown from %" G_GUINT64_FORMAT, config->memory);
	lttng_channel_destroy(channel);
}

bool session_has_settings(const struct config *config, const struct session_identity *session)
{
	LOCK_TRACING;
	char settings[sizeof(session->settings)];
	struct beside_made possible;

	tracing_prepare(config);
	possible = beside_possible(config, session->settings);
	write_settings(config, &possible, settings, sizeof(settings));
	return strcmp(settings, session->settings) == 0;
}

bool session_has_kernel(const struct session_identity *session)
{
	return beside_has_kernel(session->settings);
}

bool session_waits_for_kernel(const struct config *config, const struct session_identity *session)
{
	return beside_waits_for_kernel(config, session->settings);
}

/* Takes back what was begun, unless another session has taken its name meanwhile. */
static void undo(const char *name, uint64_t created)
{
	uint64_t found;
	bool active;

	if (tracing_find_session(name, &found, &active) == 0 && found == created)
		lttng_destroy_session_no_wait(name);
}

/* Makes the session @name, which is not started; 0, or a negative code, and then nothing is left of it. */
static int make(const struct config *config, const char *name, uint64_t level, struct beside_made *made,
	struct session_identity *identity)
{
	bool active;
	int code = create_live(config, name);

	if (code != 0)
		return code;
	code = tracing_find_session(name, &identity->created, &active);
	if (code != 0)
		return code;
	code = fill(config, name, level);
	if (code != 0) {
		undo(name, identity->created);
		return code;
	}
	*made = beside_create(config, name);
	g_strlcpy(identity->name, name, sizeof(identity->name));
	session_host(identity, identity->host, sizeof(identity->host));
	write_settings(config, made, identity->settings, sizeof(identity->settings));
	return 0;
}

static enum session_status explain(const struct config *config, int code, char *error, size_t error_size)
{
	/* which LTTng tells in one way or another, and not always as such */
	if (code != -LTTNG_ERR_NO_SESSIOND && relayport_missing(config))
		code = -LTTNG_ERR_RELAYD_CONNECT_FAIL;
	return tracing_failure(code, error, error_size, "create the LTTng session");
}

enum session_status session_create(const struct config *config, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size)
{
	LOCK_TRACING;
	struct beside_made made = {false, false};
	int code;

	tracing_prepare(config);
	code = make(config, config->session_name, level, &made, identity);
	if (code == -LTTNG_ERR_EXIST_SESS) {
		snprintf(error, error_size, "an LTTng session `%s` is there already", config->session_name);
		return SESSION_FAILED;
	}
	return code == 0 ? SESSION_OK : explain(config, code, error, error_size);
}

/* Beside another session */

/*
 * An old session of which a stream is stuck ends only thanks to a fault of lttng-relayd before 2.16. Asked
 * whether it is done with the session, it looks for the one that has, in the session daemon, the number that
 * the old one has in lttng-relayd. If it finds itself it waits for the stuck stream, and if it finds another
 * for that one's end, for ever. The daemons count from their start, one from 0 and the other from 1. Sessions
 * in between, which go at once, take numbers of the session daemon's, so that it finds none.
 */
static void take_numbers(const char *name)
{
	g_autofree char *between = g_strdup_printf("%.240s-between", name);

	for (int i = 0; i < BETWEEN; i++) {
		struct lttng_session_descriptor *descriptor = lttng_session_descriptor_create(between);

		if (descriptor && lttng_create_session_ext(descriptor) == LTTNG_OK)
			lttng_destroy_session_no_wait(between);
		lttng_session_descriptor_destroy(descriptor);
	}
}

enum session_status session_create_beside(const struct config *config, const char *name, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size)
{
	LOCK_TRACING;
	struct beside_made made = {false, false};
	int code;

	tracing_prepare(config);
	take_numbers(name);
	code = make(config, name, level, &made, identity);
	return code == 0 ? SESSION_OK : explain(config, code, error, error_size);
}

enum session_status session_start_mute(
	const struct config *config, const char *name, char *error, size_t error_size)
{
	LOCK_TRACING;
	uint64_t created;
	bool active = false;
	int code;

	tracing_prepare(config);
	code = tracing_find_session(name, &created, &active);
	if (code == 0 && active)
		return SESSION_OK; /* since before, and programs may record in it alone */
	if (code == 0)
		code = tracing_enable_channels(config, name, false);
	if (code == 0)
		code = tracing_start(name);
	return code == 0 ? SESSION_OK : tracing_failure(code, error, error_size, "start the LTTng session");
}

enum session_status session_unmute(
	const struct config *config, const char *name, char *error, size_t error_size)
{
	LOCK_TRACING;
	int code;

	tracing_prepare(config);
	code = tracing_enable_channels(config, name, true);
	return code == 0 ? SESSION_OK
			 : tracing_failure(code, error, error_size, "enable the LTTng session's channels");
}

bool session_take_down(const struct config *config, const struct session_identity *session, bool cleared)
{
	LOCK_TRACING;
	uint64_t created;
	bool active;

	tracing_prepare(config);
	if (tracing_find_session(session->name, &created, &active) != 0 || created != session->created)
		return true;
	if (cleared)
		lttng_destroy_session_no_wait(session->name);
	else
		lttng_clear_session(session->name, NULL);
	return false;
}
