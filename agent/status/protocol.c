/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/protocol.h"

#include <limits.h>
#include <stddef.h>

#include <glib.h>

#include "base/sanitize.h"

static const char malformed[] = "the question is malformed";
static const char other_version[] =
	"blkin-agent " BLKIN_VERSION
	" does not understand this question, which is of another version: use the "
	"`blkin` of version " BLKIN_VERSION ", or restart the agent if it was upgraded";

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

/* The census, field by field; one that is zero is left out. */
static const struct field {
	const char *key;
	enum { FLAG, NUMBER, TEXT } kind;
	size_t at, size; /* a text's size */
} fields[] = {
	{"counted", FLAG, offsetof(struct census, known)},
	{"programs", NUMBER, offsetof(struct census, programs)},
	{"blkin", NUMBER, offsetof(struct census, blkin)},
	{"other", TEXT, offsetof(struct census, other), sizeof((struct census){0}.other)},
	{"stopped", NUMBER, offsetof(struct census, stopped)},
	{"stopped-names", TEXT, offsetof(struct census, stopped_names),
		sizeof((struct census){0}.stopped_names)},
	{"unrecorded", NUMBER, offsetof(struct census, unrecorded)},
	{"unrecorded-names", TEXT, offsetof(struct census, unrecorded_names),
		sizeof((struct census){0}.unrecorded_names)},
	{"holders", NUMBER, offsetof(struct census, holders)},
	{"holder-names", TEXT, offsetof(struct census, holder_names),
		sizeof((struct census){0}.holder_names)},
	{"strangers", NUMBER, offsetof(struct census, strangers)},
	{"stranger", TEXT, offsetof(struct census, stranger), sizeof((struct census){0}.stranger)},
	{"stranger-interface", NUMBER, offsetof(struct census, stranger_interface)},
	{"interface", NUMBER, offsetof(struct census, interface)},
	{"events-off", FLAG, offsetof(struct census, events_off)},
	{"sampling-off", FLAG, offsetof(struct census, sampling_off)},
};

static void put_text(struct buffer *query, const char *key, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1),
			*escaped = g_uri_escape_string(valid, NULL, FALSE);

	if (*text)
		buffer_printf(query, "&%s=%s", key, escaped);
}

void protocol_put_census(struct buffer *query, const struct census *census)
{
	buffer_printf(query, "protocol=%d", PROTOCOL_VERSION);
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		const void *value = (const char *)census + fields[i].at;

		if (fields[i].kind == TEXT)
			put_text(query, fields[i].key, value);
		else if (fields[i].kind == NUMBER && *(const int *)value)
			buffer_printf(query, "&%s=%d", fields[i].key, *(const int *)value);
		else if (fields[i].kind == FLAG && *(const bool *)value)
			buffer_printf(query, "&%s=1", fields[i].key);
	}
}

static bool get_field(const char *key, const char *text, struct census *census)
{
	for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
		void *value = (char *)census + fields[i].at;

		if (!g_str_equal(key, fields[i].key))
			continue;
		switch (fields[i].kind) {
		case FLAG:
			return *(bool *)value = g_str_equal(text, "1");
		case NUMBER:
			return get_number(text, value);
		case TEXT:
			words_copy(value, fields[i].size, (const uint8_t *)text, strlen(text));
			return true;
		}
	}
	return false;
}

const char *protocol_get_census(const char *query, struct census *census)
{
	g_autoptr(GHashTable) parameters = g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL);
	gpointer key, value;
	GHashTableIter at;
	int version = 0;

	memset(census, 0, sizeof(*census));
	if (!parameters)
		return malformed;
	value = g_hash_table_lookup(parameters, "protocol");
	if (value && !get_number(value, &version))
		return malformed;
	if (version != PROTOCOL_VERSION)
		return other_version;
	g_hash_table_remove(parameters, "protocol");
	g_hash_table_iter_init(&at, parameters);
	while (g_hash_table_iter_next(&at, &key, &value)) {
		if (get_field(key, value, census))
			continue;
		memset(census, 0, sizeof(*census));
		return malformed;
	}
	return NULL;
}
