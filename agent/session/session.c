/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/session.h"

#include <stdio.h>

#include "base/clock.h"
#include "session/tracing.h"

/* Between two looks whether the relay has all data. */
#define PENDING_POLL_US 5000

struct session {
	char *name;
	char *url;
};

enum session_status session_find(
	const struct config *config, const char *name, uint64_t *created, char *error, size_t error_size)
{
	LOCK_TRACING;
	bool active;
	int code;

	tracing_prepare(config);
	code = tracing_find_session(name, created, &active);
	if (code == -LTTNG_ERR_SESS_NOT_FOUND)
		return SESSION_NONE;
	return code == 0 ? SESSION_OK : tracing_failure(code, error, error_size, "list the LTTng sessions");
}

struct session *session_adopt(const struct config *config, const struct session_identity *identity)
{
	struct session *session = g_new0(struct session, 1);
	char host[sizeof(identity->host)];

	session_host(identity, host, sizeof(host));
	session->name = g_strdup(identity->name);
	session->url = g_strdup_printf("net://%s:%" G_GUINT64_FORMAT "/host/%s/%s", config->relay_host,
		config->relay_live_port, host, identity->name);
	return session;
}

enum session_status session_start(struct session *session, char *error, size_t error_size)
{
	LOCK_TRACING;
	int code = tracing_start(session->name);

	return code == 0 ? SESSION_OK : tracing_failure(code, error, error_size, "start the LTTng session");
}

const char *session_url(const struct session *session)
{
	return session->url;
}

bool session_stop(struct session *session, bool other_records, int64_t timeout_ns)
{
	LOCK_TRACING;
	int64_t begun = clock_monotonic(), deadline = begun + timeout_ns;
	int pending;

	lttng_stop_tracing_no_wait(session->name);
	if (other_records)
		tracing_count_lost(begun);
	while ((pending = lttng_data_pending(session->name)) == 1 && clock_monotonic() < deadline)
		g_usleep(PENDING_POLL_US);
	return pending != 1;
}

void session_destroy(struct session *session)
{
	LOCK_TRACING;

	lttng_destroy_session_no_wait(session->name);
}

void session_free(struct session *session)
{
	g_free(session->url);
	g_free(session->name);
	g_free(session);
}
