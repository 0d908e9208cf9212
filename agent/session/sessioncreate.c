/* SPDX-License-Identifier: BSD-2-Clause */
/* Creating the session: session.h. */
#include "session/session.h"

#include <stdio.h>

#include "session/beside.h"
#include "session/relayport.h"
#include "session/tracing.h"

/*
 * LTTng writes CTF 2 from 2.15 on unless it is told otherwise, and babeltrace2 reads that only from 2.1 on.
 * An older liblttng-ctl has no such call, nor does its header declare it; hence the name of our own for it.
 */
#define TRACE_FORMAT_CTF_1_8 1
extern int set_trace_format(struct lttng_session_descriptor *descriptor, unsigned format) __asm__(
	"lttng_session_descriptor_set_trace_format") __attribute__((weak));

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
	if (&set_trace_format)
		set_trace_format(descriptor, TRACE_FORMAT_CTF_1_8);
	code = lttng_create_session_ext(descriptor);
	lttng_session_descriptor_destroy(descriptor);
	return code == LTTNG_OK ? 0 : -(int)code;
}

static int fill(const struct config *config, uint64_t level)
{
	static const bool none[TRACING_EVENTS];
	struct lttng_handle *handle = tracing_open(config->session_name);
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
	tracing_size_channel(config, CHANNEL, &channel->attr);
	snprintf(settings, size,
		"%s %s:%" G_GUINT64_FORMAT ":%" G_GUINT64_FORMAT " timer %" G_GINT64_FORMAT
		" sub-buffers %" G_GUINT64_FORMAT "*%" G_GUINT64_FORMAT " files %" G_GUINT64_FORMAT
		"*%" G_GUINT64_FORMAT " events %d%s",
		config->session_name, config->relay_host, config->relay_control_port, config->relay_data_port,
		config->live_timer, channel->attr.num_subbuf, channel->attr.subbuf_size,
		channel->attr.tracefile_count, channel->attr.tracefile_size, TRACING_EVENTS, beside);
	lttng_channel_destroy(channel);
}

void session_settings(const struct config *config, char *settings, size_t size)
{
	LOCK_TRACING;
	struct beside_made possible;

	tracing_prepare(config);
	possible = beside_possible(config);
	write_settings(config, &possible, settings, size);
}

enum session_status session_create(const struct config *config, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size)
{
	LOCK_TRACING;
	struct beside_made made = {false, false};
	bool active;
	int code;

	tracing_prepare(config);
	code = create_live(config, config->session_name);
	if (code == -LTTNG_ERR_EXIST_SESS) {
		snprintf(error, error_size, "an LTTng session `%s` is there already", config->session_name);
		return SESSION_FAILED;
	}
	if (code == 0)
		code = fill(config, level);
	if (code == 0) {
		made = beside_create(config, config->session_name);
		code = tracing_find_session(config->session_name, &identity->created, &active);
	}
	if (code != 0) {
		lttng_destroy_session_no_wait(config->session_name);
		/* which LTTng tells in one way or another, and not always as such */
		if (code != -LTTNG_ERR_NO_SESSIOND && relayport_missing(config))
			code = -LTTNG_ERR_RELAYD_CONNECT_FAIL;
		return tracing_failure(code, error, error_size, "create the LTTng session");
	}
	g_strlcpy(identity->name, config->session_name, sizeof(identity->name));
	write_settings(config, &made, identity->settings, sizeof(identity->settings));
	return SESSION_OK;
}
