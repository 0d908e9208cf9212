/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/protocol.h"

#include <limits.h>

#include <glib.h>

#include "base/sanitize.h"

void protocol_put_session(struct buffer *out, const struct protocol_session *session)
{
	buffer_printf(out, "session %s\ntracing-group %s\nprotocol %d\nagent %s\n", session->name,
		session->tracing_group, session->protocol, session->agent);
}

static bool get_number(const char *text, int *number)
{
	guint64 value;

	if (!g_ascii_string_to_unsigned(text, 10, 0, INT_MAX, &value, NULL))
		return false;
	*number = (int)value;
	return true;
}

static bool get_text(const char *text, char *to, size_t size)
{
	return g_strlcpy(to, text, size) < size;
}

/* Takes a line "key value" of the answer. Lines of other keys are a later version's. */
static bool get_line(const char *key, const char *value, struct protocol_session *session)
{
	if (g_str_equal(key, "session"))
		return *value && get_text(value, session->name, sizeof(session->name));
	if (g_str_equal(key, "tracing-group"))
		return get_text(value, session->tracing_group, sizeof(session->tracing_group));
	if (g_str_equal(key, "protocol"))
		return get_number(value, &session->protocol);
	if (g_str_equal(key, "agent")) {
		words_copy(session->agent, sizeof(session->agent), (const uint8_t *)value, strlen(value));
		return true;
	}
	return true;
}

bool protocol_get_session(const char *text, struct protocol_session *session)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	memset(session, 0, sizeof(*session));
	for (char **line = lines; *line; line++) {
		char *value = strchr(*line, ' ');

		if (!value)
			continue;
		*value = '\0';
		if (!get_line(*line, value + 1, session))
			return false;
	}
	return *session->name;
}
