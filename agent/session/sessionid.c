/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sessionid.h"

#include <stdio.h>
#include <unistd.h>

#include <glib.h>

#include "config/config.h"

void session_name(const struct config *config, unsigned number, char *name, size_t size)
{
	if (number)
		snprintf(name, size, "%.240s-%u", config->session_name, number + 1);
	else
		snprintf(name, size, "%.255s", config->session_name);
}

static void host_now(char *host, size_t size)
{
	memset(host, 0, size);
	gethostname(host, size - 1);
}

void session_host(const struct session_identity *session, char *host, size_t size)
{
	if (*session->host)
		g_strlcpy(host, session->host, size);
	else
		host_now(host, size);
}

/* The host is behind the settings, which are one line: they are read by agents that do not know of it, too.
 */
void session_identity_save(const struct session_identity *session, struct buffer *out)
{
	g_autofree char *settings = g_strdup_printf("%s\n%s", session->settings, session->host);

	pack_text(out, session->name);
	pack_u64(out, session->created);
	pack_text(out, *session->host ? settings : session->settings);
}

bool session_identity_load(struct unpacker *from, struct session_identity *session)
{
	char settings[sizeof(session->settings) + sizeof(session->host)];
	char *host;

	unpack_text(from, session->name, sizeof(session->name));
	session->created = unpack_u64(from);
	unpack_text(from, settings, sizeof(settings));
	host = strchr(settings, '\n');
	if (host)
		*host++ = '\0';
	if (g_strlcpy(session->settings, settings, sizeof(session->settings)) >= sizeof(session->settings) ||
		g_strlcpy(session->host, host ? host : "", sizeof(session->host)) >= sizeof(session->host))
		from->failed = true;
	if (!host)
		host_now(session->host, sizeof(session->host));
	return !from->failed;
}
